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
    held: [SpaceID: HeldCopies] = [:], milliseconds: Int = 60_000
  ) async throws -> Bool {
    try await broker.store.saveCopies(
      .webhook(webhook), in: partition, by: owner, milliseconds: milliseconds, state, before: before,
      held: held)
  }

  private func add(_ broker: isolated Broker) async throws {
    #expect(try await broker.store.addWebhook(webhook, "{}", countMax: 100, version: "1"))
  }

  private func due(_ broker: isolated Broker, by time: Int64 = 1 << 50, limit: Int = 100) async throws
    -> DueCopies
  {
    try await broker.store.dueCopies(for: .webhook(webhook), in: partition, by: time, limit: limit)
  }

  private func held(
    _ broker: isolated Broker, _ generation: String
  ) async throws -> [SpaceID: HeldCopies]? {
    try await broker.store.heldCopies(
      for: .webhook(webhook), in: partition, of: [space], generation: generation)
  }

  /// A broker ended after it had begun the copies of a webhook, and before it had written the webhook.
  @Test func theSweepEndsReadersWithoutAWebhook() async throws {
    try await withBroker { broker, redis in
      try await add(broker)
      let stray = CopyReader(text: "77")
      _ = try await broker.store.callEverywhere(.beginCopies, stray)
      let readers = { () throws in
        Set(
          try redis.command("SMEMBERS", layout.copyReaders(partition)).split(separator: "\n").map(String.init)
        )
      }
      try await broker.store.sweep(partition)
      // A webhook that is being made looks like this.
      #expect(try readers() == ["9", "77"])
      try await broker.store.sweep(partition)
      #expect(try readers() == ["9"])
      #expect(try await broker.store.removeWebhook(webhook, version: "2"))
      _ = try await broker.store.callEverywhere(.beginCopies, stray)
      for _ in 0..<2 { try await broker.store.sweep(partition) }
      #expect(try readers() == [])
      #expect(try redis.command("HEXISTS", layout.partitionHash(partition), "copies") == "0")
    }
  }

  @Test func whateverIsAppendedIsCopiedAsItIs() async throws {
    try await withBroker { broker, _ in
      try await broker.makeServer(["bob"])
      try await broker.append("before")
      try await add(broker)
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
      try await add(broker)
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
      let held = [space: HeldCopies(ids: [id], attempts: 2, dueAtMilliseconds: 17)]
      #expect(try await save(broker, by: "a", state, before: first.state, held: held) == false)
      #expect(try await claim(broker, by: "b") == second)
      #expect(try await save(broker, by: "b", state, before: second.state, held: held, milliseconds: 0))
      // Given back, with what was written.
      let third = try #require(try await claim(broker, by: "a"))
      #expect(third.state == state)
      #expect(third.behindCount == 1)
      #expect(try await due(broker).spaces.map(\.held) == [held[space]])
      #expect(
        try await save(broker, by: "a", third.state, before: third.state, held: [space: HeldCopies()]))
      #expect(try await claim(broker, by: "a")?.behindCount == 0)
      #expect(try redis.keys("*copies-*:9").map { $0.contains("lease") } == [true])
    }
  }

  /// A broker that delivers hears of a replay at its next write, which does nothing.
  @Test func aReplayGoesBackAndIsNotOverwritten() async throws {
    try await withBroker { broker, _ in
      try await broker.makeServer()
      try await add(broker)
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

  // MARK: Records

  /// Two have read the same record. One writes, and the other is told.
  @Test func aRecordIsWrittenOnlyOverTheOneThatWasRead() async throws {
    try await withBroker { broker, _ in
      let store = broker.store
      try await add(broker)
      #expect(try await store.changeWebhook(webhook, "one", ifStill: "{}", version: "2"))
      #expect(try await store.changeWebhook(webhook, "other", ifStill: "{}", version: "3") == false)
      #expect(try await store.webhooks().map(\.text) == ["one"])
      #expect(try await store.webhooksVersion() == "2")
      // Nor does a removed one come back.
      #expect(try await store.removeWebhook(webhook, version: "4"))
      #expect(try await store.changeWebhook(webhook, "late", ifStill: "one", version: "5") == false)
      #expect(try await store.webhooks().isEmpty)
    }
  }

  @Test func noMoreAreAddedThanThereMayBe() async throws {
    try await withBroker { broker, redis in
      for (id, isToBe) in [(1, true), (2, true), (3, false)] as [(EntityID, Bool)] {
        let isAdded = try await broker.store.addWebhook(id, "{}", countMax: 2, version: "1")
        #expect(isAdded == isToBe)
      }
      #expect(try await broker.store.webhooks().count == 2)
      // Nothing is copied for the one that is none.
      #expect(try redis.keys("*copies:3").isEmpty)
    }
  }

  // MARK: How they fare

  private func fail(_ broker: isolated Broker, at time: Int64) async throws -> Int64 {
    try await broker.store.noteWebhookFailure(
      webhook, "away", nowMilliseconds: time, gapMilliseconds: 1_000)
  }

  @Test func aRunOfFailuresEndsWithASuccessOrWithALongPause() async throws {
    try await withBroker { broker, _ in
      let store = broker.store
      #expect(try await fail(broker, at: 10_000) == 10_000)
      #expect(try await fail(broker, at: 10_900) == 10_000)
      #expect(try await fail(broker, at: 11_900) == 10_000)
      #expect(try await store.webhooksFailingSince([webhook, 8]) == [10_000, nil])
      #expect(try await fail(broker, at: 12_901) == 12_901)
      try await store.endWebhookFailures(webhook)
      #expect(try await fail(broker, at: 13_000) == 13_000)
      let health = try await store.webhookHealths(of: [webhook, 8])
      #expect(
        health == [WebhookHealth(failingSince: 13_000, failedAt: 13_000, failure: "away"), WebhookHealth()])
    }
  }

  // MARK: Spaces that are behind

  private func spaces(_ count: Int) -> [SpaceID] { (1...count).map { .server(EntityID(Int64($0)) ?? 1) } }

  @Test func thoseThatAreDueAreFoundWithoutReadingAll() async throws {
    try await withBroker { broker, redis in
      try await add(broker)
      let state = try #require(try await claim(broker, by: "a")).state
      let all = spaces(1_000)
      let ids = (0..<70).compactMap { MessageID(Int64(1_000_000 + $0)) }
      var held: [SpaceID: HeldCopies] = [:]
      for (index, space) in all.enumerated() {
        held[space] = HeldCopies(ids: [ids[0]], attempts: 1, dueAtMilliseconds: Int64(1_000 + index))
      }
      for id in ids.dropFirst() { held[all[0]]?.hold(id) }
      #expect(try await save(broker, by: "a", state, before: state, held: held))
      #expect(try await claim(broker, by: "a")?.behindCount == 1_000)
      let first = try await due(broker, by: 1_001, limit: 100)
      #expect(first.spaces.map(\.space) == Array(all[..<2]))
      #expect(first.nextAtMilliseconds == 1_002)
      #expect(first.spaces[0].held.ids == Array(ids[..<HeldCopies.idsMax]))
      #expect(first.spaces[0].held.rest == ids[HeldCopies.idsMax])
      #expect(try await due(broker, by: 5_000, limit: 3).nextAtMilliseconds == 1_003)
      let some = try await broker.store.heldCopies(
        for: .webhook(webhook), in: partition, of: [all[7], .server(2_000)], generation: state.generation)
      #expect(some?.keys.map(\.self) == [all[7]])
      // A copy is put behind others, and the space stays due when it was.
      var more = try #require(some?[all[7]])
      more.hold(ids[1])
      #expect(try await save(broker, by: "a", state, before: state, held: [all[7]: more]))
      let later = try await due(broker, by: 1_007, limit: 100).spaces.last
      #expect(later?.held == HeldCopies(ids: [ids[0], ids[1]], attempts: 1, dueAtMilliseconds: 1_007))
      // After an outage all are due, and begin again.
      try await broker.store.hastenWebhook(webhook, version: "7")
      #expect(try await broker.store.webhooksVersion() == "7")
      let hastened = try await due(broker, by: 0, limit: 2_000).spaces
      #expect(hastened.count == 1_000)
      #expect(hastened.allSatisfy { $0.held.attempts == 0 })
      #expect(try await broker.store.removeWebhook(webhook, version: "8"))
      #expect(try redis.keys("*copies*").isEmpty)
    }
  }

  /// Entries after the place are read again, and wait for nothing.
  @Test func aReplayGoesBackInWhatWaits() async throws {
    try await withBroker { broker, _ in
      try await broker.makeServer()
      try await add(broker)
      var ids: [MessageID] = []
      for number in 0..<6 { ids.append(try await broker.append("\(number)")) }
      let first = try #require(try await claim(broker, by: "a"))
      var state = first.state
      state.position = ids[5]
      let (early, late, long) = (spaces(3)[0], spaces(3)[1], spaces(3)[2])
      var full = HeldCopies(ids: [ids[0]], attempts: 3, dueAtMilliseconds: 1 << 40)
      full.rest = ids[4]
      let held = [
        early: HeldCopies(ids: [ids[1], ids[2], ids[3]], attempts: 3, dueAtMilliseconds: 1 << 40),
        late: HeldCopies(ids: [ids[3], ids[5]], attempts: 3, dueAtMilliseconds: 1 << 40), long: full,
      ]
      #expect(try await save(broker, by: "a", state, before: first.state, held: held))
      try await broker.store.replayWebhook(webhook, from: ids[3], version: "2")
      let after = try await due(broker, by: 0).spaces
      let found = Dictionary(after.map { ($0.space, $0.held) }) { $1 }
      #expect(
        found == [
          early: HeldCopies(ids: [ids[1], ids[2]], dueAtMilliseconds: 0),
          long: HeldCopies(ids: [ids[0]], dueAtMilliseconds: 0),
        ])
      #expect(try await broker.store.oldestWaiting(webhook) == ids[0].unixMilliseconds)
    }
  }

  /// Redis does nothing else during a call. No lane may begin before the replay has reached all spaces, and a broker that
  /// dies leaves it to those that claim.
  @Test func aReplayReachesSoManySpacesInOneCall() async throws {
    try await withBroker { broker, _ in
      try await broker.makeServer()
      try await add(broker)
      var ids: [MessageID] = []
      for number in 0..<4 { ids.append(try await broker.append("\(number)")) }
      let state = try #require(try await claim(broker, by: "a")).state
      var held: [SpaceID: HeldCopies] = [:]
      for space in spaces(250) { held[space] = HeldCopies(ids: ids, attempts: 1, dueAtMilliseconds: 1 << 40) }
      #expect(try await save(broker, by: "a", state, before: state, held: held))
      let begun = try await broker.store.callReader(.replayCopies, .webhook(webhook), in: [partition]) { _ in
        ids[2].streamForm
      }
      #expect(try begun.map { try $0.string() } == ["more"])
      #expect(try await due(broker, by: 0, limit: 250).spaces.count == 100)
      #expect(try await claim(broker, by: "a") == nil)
      #expect(try await claim(broker, by: "a")?.behindCount == 250)
      let rewound = try await due(broker, by: 0, limit: 250).spaces
      #expect(rewound.count == 250)
      #expect(rewound.allSatisfy { $0.held.ids == Array(ids[...2]) && $0.held.attempts == 0 })
      // One further back reaches those that the first has reached.
      try await broker.store.replayWebhook(webhook, from: ids[1], version: "2")
      let again = try await due(broker, by: 0, limit: 250).spaces
      #expect(again.count == 250 && again.allSatisfy { $0.held.ids == [ids[0]] })
    }
  }

  /// The replay has removed what waited in the space, to read it again. A lane that has not heard of the replay would take the
  /// space for one that is not behind, and deliver its next copy first.
  @Test func waitingCopiesAreOfTheGenerationOfTheLane() async throws {
    try await withBroker { broker, _ in
      try await broker.makeServer()
      try await add(broker)
      let id = try await broker.append("waits")
      let state = try #require(try await claim(broker, by: "a")).state
      let waiting = HeldCopies(ids: [id], attempts: 1, dueAtMilliseconds: 1 << 40)
      #expect(try await save(broker, by: "a", state, before: state, held: [space: waiting]))
      #expect(try await held(broker, state.generation)?.keys.map(\.self) == [space])
      try await broker.store.replayWebhook(webhook, from: id.predecessor, version: "2")
      #expect(try await held(broker, state.generation) == nil)
      let next = try #require(try await claim(broker, by: "a")).state
      #expect(try await held(broker, next.generation) == [:])
    }
  }

  @Test func copiesAreReadByTheirIDs() async throws {
    try await withBroker { broker, redis in
      try await broker.makeServer()
      try await add(broker)
      let (one, two) = (try await broker.append("one"), try await broker.append("two"))
      try redis.command("XDEL", layout.copies(partition), one.streamForm)
      let copies = try await broker.store.copies(in: partition, ids: [one, two])
      #expect(copies.map { $0?.id } == [nil, two])
    }
  }

  // MARK: Retention

  @Test func whatFellOutIsCounted() async throws {
    try await withBroker { broker, redis in
      try await broker.makeServer()
      try await add(broker)
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
      try await add(broker)
      let now = try await broker.store.nowMilliseconds()
      for number in 0..<300 {
        let old = MessageID(unixMilliseconds: now - 60_000, partition: partition, sequence: Int64(number))
        try redis.command(
          "XADD", layout.copies(partition), old.streamForm, "space", space.key, "notification", "{}")
      }
      try await broker.append("new")
      #expect(try redis.command("XLEN", layout.copies(partition)) == "301", "sends trim nothing")
      try await broker.store.sweep(partition)
      #expect(Int(try redis.command("XLEN", layout.copies(partition))) ?? 300 < 200)
    }
  }
}
