import BelfryFeed
import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// The facts of `explain` about an account that joined after notifications had been sent.
@Suite struct ExplanationTests {
  private static let bob: AccountID = "bob"
  private static let server: EntityID = 14
  private static let space = SpaceID.server(server)
  private static let app = Actor(account: nil, isTrusted: true)

  /// The last entry before is older than the membership.
  @Test func theTimeOfJoiningIsThatOfTheCommit() async throws {
    try await withRedisServer { redis in
      try await withReader(of: redis.url) { reader, store in
        let early = try await send(by: store)
        let from = try milliseconds(of: redis)
        try await join(store)
        let through = try milliseconds(of: redis)
        let late = try await send(by: store)
        for id in [early, late] {
          let facts = try await reader.explain(id, account: Self.bob).facts
          let since = try #require(facts.memberSince)
          #expect(from <= since && since <= through, "\(from)...\(through), not \(since)")
        }
        try await run(KickMembers(Self.server, actor: Self.app, accounts: [Self.bob]), store)
        let left = try await reader.explain(late, account: Self.bob)
        #expect(left.visible && left.facts.memberSince == nil && left.facts.memberUntil != nil)
      }
    }
  }

  /// After a restart of Redis ids are ahead of the clock.
  @Test func theTimeOfJoiningIsNoLaterThanWhatWasSentAfterIt() async throws {
    try await withRedisServer { redis in
      try await withReader(of: redis.url) { reader, store in
        let early = try await send(by: store)
        let ahead = try milliseconds(of: redis) + 3_600_000
        for space in [Self.space, .personal(Self.bob)] {
          let partition = store.partitions.holding(space)
          try redis.setLastID(MessageID(unixMilliseconds: ahead, partition: partition, sequence: 0))
        }
        try await join(store)
        let late = try await send(by: store)
        let facts = try await reader.explain(late, account: Self.bob).facts
        #expect(try #require(facts.memberSince) <= facts.sentAt)
        let since = try #require(try await reader.explain(early, account: Self.bob).facts.memberSince)
        #expect(try await store.nowMilliseconds() >= since)
      }
    }
  }

  @Test func aMarkOfEverythingIsNoMarkOfWhatWasNotForTheAccount() async throws {
    try await withRedisServer { redis in
      try await withReader(of: redis.url) { reader, store in
        let early = try await send(by: store)
        try await join(store)
        let late = try await send(by: store)
        _ = try await reader.markRead(account: Self.bob, device: nil, upTo: late)
        #expect(try await store.readState(of: Self.bob, among: [early]).contains(early, in: Self.space))
        let before = try await reader.explain(early, account: Self.bob)
        #expect(before.reason == "joinedAfter" && before.facts.read == nil)
        let after = try await reader.explain(late, account: Self.bob)
        #expect(after.reason == "read" && after.facts.read == true)

        // No log holds it any more.
        try redis.command("XDEL", store.layout.log(Self.space).text, early.streamForm)
        let gone = try await reader.explain(early, account: Self.bob)
        #expect(gone.reason == "joinedAfter" && !gone.visible)
        #expect(gone.detail.contains("does not see notifications that were sent there before"))
        #expect(gone.facts.read == nil && gone.facts.memberSince != nil && gone.facts.space == nil)
      }
    }
  }

  /// Gives the times between which bob joined, which are later than all ids before.
  /// Joins long after the last entry.
  private func join(_ store: RedisStore) async throws {
    let before = try await store.nowMilliseconds()
    try await eventually { try await store.nowMilliseconds() > before + 100 }
    try await run(AddMembers(Self.server, actor: Self.app, accounts: [Self.bob], requestId: "r"), store)
  }

  /// The clock by which ids are allotted. A store only estimates it, to a millisecond.
  private func milliseconds(of redis: RedisServer) throws -> Int64 {
    let parts = try redis.command("TIME").split(whereSeparator: \.isNewline).compactMap { Int64($0) }
    try #require(parts.count == 2)
    return parts[0] * 1_000 + parts[1] / 1_000
  }

  private func send(by store: RedisStore) async throws -> MessageID {
    if try await store.records([.settings(Self.space)]).text(.settings(Self.space)) == nil {
      let create = CreateServer(
        id: Self.server, defaultChannel: 1_000, owner: "olivia", actor: Self.app, name: "s")
      try await run(create, store)
    }
    var content = NotificationContent(type: Catalogue.custom.code, toType: .server)
    content.serverId = Self.server
    content.body = "ding"
    let sends = try SendNotification.sends(
      content, by: Self.app, generatedClientId: "c\(try await store.nowMilliseconds())")
    let ids = try await run(try #require(sends.first), store)
    return try #require(ids.first)
  }

  @discardableResult
  private func run<Op: Operation>(_ operation: Op, _ store: RedisStore) async throws -> [MessageID] {
    let done = try await OperationRunner(store: store, limits: Limits()).run(operation)
    for partition in try await store.partitionsToRelay() { try await store.relayOutbox(of: partition) }
    return done.commit?.ids ?? []
  }
}
