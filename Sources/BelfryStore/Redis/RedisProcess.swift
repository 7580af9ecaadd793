import BelfryModel
import BelfryRedis

extension RedisStore {
  /// The mark of the Redis process that answers for a partition. The order of HSCAN depends on a number drawn
  /// when the process starts, so a cursor of another process would silently leave records out. The mark is
  /// the beginning of Redis's `run_id`, long enough to tell processes apart. The functions also name the
  /// history of the data by it (`Functions/ids.lua`).
  func scanMark(of partition: Partition) -> String {
    String(redis.process(of: layout.slot(of: partition)).prefix(8))
  }

  /// Makes a step of a scan. The mark is that of the process that answered. It is nil if that is uncertain,
  /// since the partition has moved or Redis was started again meanwhile.
  func scanStep(
    _ command: RedisCommand, in partition: Partition, at place: String
  ) async throws(StoreError) -> (reply: RedisReply, mark: String?) {
    let slot = layout.slot(of: partition)
    let (before, elsewhere) = (scanMark(of: partition), redis.answersElsewhere(of: slot))
    let reply =
      command.name.hasPrefix("FCALL")
      ? try await call(command, at: place) : try await pipeline([command], at: place)[0]
    let isOfOwner = redis.answersElsewhere(of: slot) == elsewhere
    return (reply, isOfOwner && scanMark(of: partition) == before ? before : nil)
  }
}

/// A scan of a hash, valid only if one process of Redis answered all of its steps.
struct HashScan {
  private(set) var cursor = "0"
  private var mark: String?

  /// Takes the cursor that a step ended with, and the mark of the process that answered, nil if that is not
  /// certain.
  /// - Returns: false if another process answered the steps before. They are void then, and the scan starts
  ///   again.
  mutating func take(_ next: String, of mark: String?) -> Bool {
    guard let mark, self.mark == nil || self.mark == mark else {
      self = HashScan()
      return false
    }
    self.mark = mark
    cursor = next
    return true
  }
}
