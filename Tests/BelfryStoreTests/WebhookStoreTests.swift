import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// Copies for webhooks, and who may deliver them.
@Suite struct WebhookStoreTests {
  private let webhook: EntityID = 9
  private var partition: Partition { layout.partition(of: space) }

  private func claim(_ broker: isolated Broker, by owner: String, milliseconds: Int = 60_000) async throws
    -> CopyClaim?
  {
    try await broker.store.claimCopies(
      .webhook(webhook), in: partition, by: owner, milliseconds: milliseconds)
  }

  private func save(
    _ broker: isolated Broker, by owner: String, _ state: CopyReaderState, before: CopyReaderState,
    milliseconds: Int = 60_000
  ) async throws -> Bool {
    try await broker.store.saveCopies(
      .webhook(webhook), in: partition, by: owner, milliseconds: milliseconds, state, before: before)
  }

  @Test func whateverIsAppendedIsCopiedAsItIs() async throws {
    try await withBroker { broker, _ in
      try await broker.makeServer(["bob"])
      try await broker.append("before")
      try await broker.store.putWebhook(webhook, "{}", isNew: true, version: "1")
      var ids = [try await broker.append("one")]
      for result in await broker.store.commit((0..<3).map { .send("of many \($0)") }) {
        ids += try result.get().commit.ids
      }
      try await broker.add(["carol"])
      let copies = try await broker.store.copies(in: partition, after: .zero, limit: 100)
      let log = try await broker.log(after: ids[0].predecessor)
      #expect(copies.map(\.id) == log.map(\.id))
      #expect(copies.map { String(decoding: $0.content, as: UTF8.self) } == log.map(\.contentJSON))
      #expect(copies.allSatisfy { $0.space == space })
      #expect(Set(ids).isSubset(of: copies.map(\.id)))
      #expect(copies.count > ids.count)
      #expect(try await broker.store.removeWebhook(webhook, version: "2"))
      try await broker.append("after")
      #expect(try await broker.store.copies(in: partition, after: .zero, limit: 100).isEmpty)
      #expect(try await broker.store.removeWebhook(webhook, version: "3") == false)
    }
  }

  @Test func oneDeliversAtATimeAndWhoLostTheLeaseWritesNothing() async throws {
    try await withBroker { broker, redis in
      try await broker.makeServer()
      try await broker.store.putWebhook(webhook, "{}", isNew: true, version: "1")
      let id = try await broker.append("one")
      #expect(try await claim(broker, by: "a") != nil)
      #expect(try await claim(broker, by: "b") == nil)
      let first = try #require(try await claim(broker, by: "a"))
      let lease = try #require(try redis.keys("*copies-lease:*").first)
      // It lasts for as long as was asked for. Time passes.
      #expect((1...60_000).contains(Int(try redis.command("PTTL", lease)) ?? 0))
      try redis.command("PEXPIRE", lease, "1")
      try await eventually { try redis.command("PTTL", lease) == "-2" }
      let second = try #require(try await claim(broker, by: "b"))
      #expect(second == first)
      var state = first.state
      state.position = id
      state.behind[space] = WebhookDelay(id: id, attempts: 2, dueAtMilliseconds: 17)
      #expect(try await save(broker, by: "a", state, before: first.state) == false)
      #expect(try await claim(broker, by: "b") == second)
      #expect(try await save(broker, by: "b", state, before: second.state, milliseconds: 0))
      // Given back, with what was written.
      let third = try #require(try await claim(broker, by: "a"))
      #expect(third.state == state)
      var cleared = third.state
      cleared.behind = [:]
      #expect(try await save(broker, by: "a", cleared, before: third.state))
      #expect(try await claim(broker, by: "a")?.state == cleared)
    }
  }

  /// Who delivers hears of a replay at the next write, which does nothing.
  @Test func aReplayGoesBackAndIsNotOverwritten() async throws {
    try await withBroker { broker, _ in
      try await broker.makeServer()
      try await broker.store.putWebhook(webhook, "{}", isNew: true, version: "1")
      var ids: [MessageID] = []
      for number in 0..<4 { ids.append(try await broker.append("\(number)")) }
      let first = try #require(try await claim(broker, by: "a"))
      var state = first.state
      state.position = ids[3]
      state.count = 4
      #expect(try await save(broker, by: "a", state, before: first.state))
      try await broker.store.replayWebhook(webhook, from: ids[1], version: "2")
      #expect(try await broker.store.webhooksVersion() == "2")
      var late = state
      late.count = 5
      #expect(try await save(broker, by: "a", late, before: state) == false)
      let again = try #require(try await claim(broker, by: "a"))
      #expect(again.state.count == nil)
      let copies = try await broker.store.copies(
        in: partition, after: again.state.position, limit: 100)
      #expect(copies.map(\.id) == Array(ids[1...]))
      // Forward it does not go.
      try await broker.store.replayWebhook(webhook, from: ids[3], version: "3")
      #expect(try await claim(broker, by: "a")?.state.position == again.state.position)
    }
  }

  @Test func whatFellOutIsCounted() async throws {
    try await withBroker { broker, redis in
      try await broker.makeServer()
      try await broker.store.putWebhook(webhook, "{}", isNew: true, version: "1")
      for number in 0..<10 { try await broker.append("\(number)") }
      try redis.command("XTRIM", layout.copies(partition), "MAXLEN", "=", "3")
      let claim = try #require(try await claim(broker, by: "a"))
      #expect(claim.added - claim.length - (claim.state.count ?? -1) == 7)
    }
  }

  /// Copies do not outlive what they are copies of.
  @Test func copiesAreHeldToRetention() async throws {
    var limits = Limits()
    limits.retentionMilliseconds = 10_000
    try await withBroker(limits) { broker, redis in
      try await broker.makeServer()
      try await broker.store.putWebhook(webhook, "{}", isNew: true, version: "1")
      let now = try await broker.store.nowMilliseconds()
      for number in 0..<300 {
        let old = MessageID(unixMilliseconds: now - 60_000, partition: partition, sequence: Int64(number))
        try redis.command(
          "XADD", layout.copies(partition), old.streamForm, "space", space.key, "notification", "{}")
      }
      try await broker.append("new")
      #expect(Int(try redis.command("XLEN", layout.copies(partition))) ?? 300 < 200)
    }
  }
}
