import BelfryModel
import BelfryRedis

/// A space as the hash of its partition lists it.
struct PartitionSpace {
  var space: SpaceID
  /// Zero for an account whose personal space has no entry yet.
  var last: MessageID
}

extension RedisStore {
  /// Spaces looked at in one step. The sweep makes two or three calls for each.
  private static let spacesPerStep = 100

  /// Gives `body` every space and account of a partition, some of them perhaps twice.
  func scanSpaces(
    of partition: Partition, _ body: ([PartitionSpace]) async throws(StoreError) -> Void
  ) async throws(StoreError) {
    let place = "partition \(partition.number)"
    var cursor = "0"
    repeat {
      let scan = RedisCommand("HSCAN", layout.partitionHash(partition), cursor, "COUNT", Self.spacesPerStep)
      let reply = try await pipeline([scan], at: place)[0]
      let (next, fields) = try reading(at: place) { () throws(RedisError) in try reply.scanned() }
      cursor = next
      try await body(
        fields.compactMap { name, value in
          // Its other fields, `last` and so on, are no spaces.
          SpaceID(key: name).map { PartitionSpace(space: $0, last: Self.last(value)) }
        })
    } while cursor != "0"
  }

  private static func last(_ value: String) -> MessageID {
    MessageID(streamForm: value.prefix { $0 != " " }) ?? .zero
  }
}

extension RedisReply {
  /// The reply of HSCAN: where to go on, and pairs of field and value.
  func scanned() throws(RedisError) -> (next: String, fields: [(String, String)]) {
    let parts = try array(count: 2)
    let items = try parts[1].array()
    var fields: [(String, String)] = []
    for index in stride(from: 0, to: items.count - 1, by: 2) {
      fields.append((try items[index].string(), try items[index + 1].string()))
    }
    return (try parts[0].string(), fields)
  }
}
