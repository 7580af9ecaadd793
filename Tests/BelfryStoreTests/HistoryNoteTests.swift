import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// A cursor names the history in which ids are given only once every partition has noted it.
@Suite struct HistoryNoteTests {
  @Test func aHistoryThatCannotBeNotedYetIsNotNamed() async throws {
    var durable = RedisServer.Options()
    durable.appendOnly = .always
    try await withBroker(Limits(), durable) { broker, redis in
      try await broker.append("ding")
      let first = broker.store.history
      #expect(first.count == 8)
      await redis.stop()
      // As a replica that was made master, which has none of its own yet.
      try await redis.start(with: ["min-replicas-to-write": "1"])
      try await TestKit.eventually {
        _ = try await broker.command(["PING"])
        return true
      }
      #expect(broker.store.history == "")
      _ = try? await broker.store.compareFormat()
      #expect(broker.store.history == "")
      #expect(try await broker.store.ends(of: [space])[0].history == first, "what is there can be read")
      try redis.command("CONFIG", "SET", "min-replicas-to-write", "0")
      try await broker.store.compareFormat()
      let second = broker.store.history
      #expect(second.count == 8 && second != first)
      let end = try await broker.store.ends(of: [space])[0]
      #expect(end.history == second && end.rewinds.last?.ended == first)
    }
  }
}
