import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// An old master that nobody has told of the new one gives ids of the same milliseconds.
@Suite struct FirstSequenceTests {
  /// Each Redis process has a random name, and its history is the beginning of that.
  @Test func theIDsOfAMillisecondBeginWithTheNumberOfTheHistory() async throws {
    try await withBroker { broker, redis in
      let digits = try redis.history().prefix(4)
      let first = try #require(Int64(digits, radix: 16)) % 2_048
      var change = Transaction.send("changes")
      change.changes[.request(try #require(RequestID(text: "9")), of: space)] = "5 {}"
      let alone = try await broker.store.commit(.send("alone")).commit.ids[0]
      try await untilAfter(alone, redis)
      let changing = try await broker.store.commit(change).commit.ids[0]
      try await untilAfter(changing, redis)
      let sends = (0..<3).map { Transaction.send("\($0)", clientId: "\($0)") }
      let together = try await broker.store.commit(sends).map { try $0.get().commit.ids[0] }
      #expect([alone, changing, together[0]].map(\.sequence) == [first, first, first])
      #expect(together.map(\.sequence) == [first, first + 1, first + 2])
    }
  }

  private func untilAfter(_ id: MessageID, _ redis: RedisServer) async throws {
    while try redis.milliseconds() <= id.unixMilliseconds { try await Task.sleep(for: .milliseconds(1)) }
  }
}
