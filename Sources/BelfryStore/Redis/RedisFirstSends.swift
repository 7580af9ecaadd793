package import BelfryModel
import BelfryRedis

extension RedisStore {
  package func firstSends(of sends: [RepeatedSend]) async throws(StoreError) -> [FirstSend] {
    var found = [FirstSend](repeating: .unknown, count: sends.count)
    let places = Dictionary(grouping: sends.indices) { partitions.holding(sends[$0].space) }
    // A function takes the fields of a call in one call of Redis, as `commit` does.
    let calls = places.flatMap { partition, places in
      stride(from: 0, to: places.count, by: RedisCommits.commitsPerCall).map { first in
        (partition, places[first..<min(first + RedisCommits.commitsPerCall, places.count)])
      }
    }
    let replies = try await call(
      calls.map { partition, places in
        var command = layout.call(.firstSends, in: partition)
        command.append(limits.dedupeWindowMilliseconds)
        for place in places {
          command.append(DedupeField(sends[place].dedupe, in: sends[place].space))
          command.append(SendFingerprint(sends[place].content.text).text)
        }
        return command
      }, isAwaited: true, at: "first sends")
    for ((_, places), reply) in zip(calls, replies) {
      let answers = try reading(at: "first sends") { () throws(RedisError) in
        try reply.array(count: places.count).map { answer throws(RedisError) in try FirstSend(answer) }
      }
      for (place, answer) in zip(places, answers) { found[place] = answer }
    }
    return found
  }
}

extension FirstSend {
  fileprivate init(_ reply: RedisReply) throws(RedisError) {
    switch try reply.string() {
    case "": self = .unknown
    case "different": self = .different
    case let text:
      guard case .duplicate(let id, let appendedAt)? = CommitOutcome(Array(text.utf8)[...]) else {
        throw RedisError(.unexpectedReply, cause: "expected a first send, got \(text)", place: "reply")
      }
      self = .same(id, appendedAt: appendedAt)
    }
  }
}
