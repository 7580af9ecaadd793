package import BelfryModel
import BelfryRedis

/// How many entries a log has had, and how many of them were trimmed, as of one moment. Both begin at 0 again after all
/// entries were trimmed and the log was dropped.
package struct LogExtent: Sendable, Hashable {
  package var appendedCount: Int64 = 0
  package var trimmedCount: Int64 = 0
}

// For operators, who follow a log itself.
extension RedisStore {
  package func extent(ofLogOf space: SpaceID) async throws(StoreError) -> LogExtent {
    let place = "extent of the log of \(space)"
    let reply = try await pipeline([RedisCommand("XINFO", "STREAM", layout.log(space))], at: place)[0]
    // A log without entries may have no key.
    if case .error(let message) = reply, message.hasPrefix("ERR no such key") { return LogExtent() }
    return try reading(at: place) { () throws(RedisError) in
      let words = try reply.array()
      var (length, appended) = (Int64(0), Int64(0))
      for index in stride(from: 0, to: words.count - 1, by: 2) {
        switch try words[index].string() {
        case "length": length = try words[index + 1].integer()
        case "entries-added": appended = try words[index + 1].integer()
        default: break
        }
      }
      return LogExtent(appendedCount: appended, trimmedCount: max(appended - length, 0))
    }
  }

  /// The id of the entry before the latest ones; zero if the log has no more than these.
  package func place(beforeLast count: Int, inLogOf space: SpaceID) async throws(StoreError) -> MessageID {
    let place = "end of the log of \(space)"
    let command = RedisCommand("XREVRANGE", layout.log(space), "+", "-", "COUNT", count + 1)
    let reply = try await pipeline([command], at: place)[0]
    return try reading(at: place) { () throws(RedisError) in
      let found = try reply.array()
      guard found.count > count else { return .zero }
      // An element that was not written by Belfry may have any id. Then the page begins at the beginning.
      return MessageID(streamForm: try found[count].array(count: 2)[0].string()) ?? .zero
    }
  }
}
