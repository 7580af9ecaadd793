import BelfryRedis

/// Which process of Redis answers. The order of HSCAN depends on a number drawn when the process starts, so a cursor of
/// another process would silently leave records out.
final class RedisProcess {
  /// The beginning of Redis's `run_id`, long enough to tell processes apart. The functions name the history of the data
  /// by it, too (`Functions/ids.lua`).
  private(set) var mark = ""

  private static let markDigits = 8

  /// Takes the reply of INFO, on each new connection before anything else is asked on it.
  func take(_ reply: RedisReply) throws(RedisError) {
    guard let id = try RedisInfo(reply)["run_id"] else {
      throw RedisError(.unexpectedReply, cause: "INFO names no run_id", place: "connection set-up")
    }
    mark = String(id.prefix(Self.markDigits))
  }
}

/// A scan of a hash, valid only if one process of Redis answered all of its steps.
struct HashScan {
  private(set) var cursor = "0"
  private var mark: String?

  /// Takes the cursor that a step ended with, and the mark of the process that answered.
  /// - Returns: false if another process answered the steps before: they are void, and the scan begins anew.
  mutating func take(_ next: String, of mark: String) -> Bool {
    guard self.mark == nil || self.mark == mark else {
      self = HashScan()
      return false
    }
    self.mark = mark
    cursor = next
    return true
  }
}
