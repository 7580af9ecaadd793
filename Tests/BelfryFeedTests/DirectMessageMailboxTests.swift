import BelfryFeed
import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// A direct message that nobody can read any more leaves the mailbox with the next mark of everything.
@Suite struct DirectMessageMailboxTests {
  private static let bob: AccountID = "bob"
  private static let app = Actor(account: nil, isTrusted: true)

  /// Why nobody can read it any more.
  enum End: CaseIterable { case expired, recalled, trimmed }

  @Test(arguments: End.allCases) func whatIsOverLeavesTheIndex(end: End) async throws {
    try await withRedisServer { redis in
      try await withReader(of: redis.url) { reader, store in
        let (id, space) = try await send("over", expiresSoon: end == .expired, by: store)
        try await finish(id, in: space, end, reader, store, redis)
        #expect(try await reader.count(for: Self.bob).counts.unread == 0)
        #expect(try await directMessages(store) == 1)
        let (later, _) = try await send("later", by: store)
        #expect(try await reader.markRead(account: Self.bob, device: nil, upTo: id) == 0)
        #expect(try await directMessages(store) == 1, "the later one waits")
        #expect(
          try await reader.page(for: Self.bob, after: nil, limit: 10).notifications.map(\.id) == [later])
        #expect(try await reader.markRead(account: Self.bob, device: nil, upTo: later) == 1)
        #expect(try await directMessages(store) == 0)
        #expect(try await store.index(of: Self.bob).isEmpty)
      }
    }
  }

  @Test func itsReceiverIsNoMemberOfIt() async throws {
    try await withRedisServer { redis in
      try await withReader(of: redis.url) { reader, store in
        let (id, _) = try await send("hello", by: store)
        let found = try await reader.explain(id, account: Self.bob)
        #expect(found.visible && found.facts.named == true)
        #expect(found.facts.memberSince == nil && found.facts.memberUntil == nil)
      }
    }
  }

  private func directMessages(_ store: RedisStore) async throws -> Int {
    try await store.mailboxes(of: [Self.bob], writtenToBy: nil)[0].directMessages
  }

  private func finish(
    _ id: MessageID, in space: SpaceID, _ end: End, _ reader: FeedReader, _ store: RedisStore,
    _ redis: RedisServer
  ) async throws {
    switch end {
    case .expired:
      try await eventually {
        try await reader.page(for: Self.bob, after: nil, limit: 10).notifications.isEmpty
      }
    case .recalled:
      let entry = try #require(try await store.entries([LogRequest(space, after: .zero, limit: 1)])[0].first)
      let recall = RecallNotification(entry, in: space, by: Self.app)
      _ = try await OperationRunner(store: store, limits: Limits()).run(recall)
    case .trimmed:
      try redis.command("DEL", store.layout.log(space).text)
      try redis.command("HDEL", store.layout.partitionHash(store.layout.partition(of: space)), space.key)
    }
  }

  private func send(
    _ name: String, expiresSoon: Bool = false, by store: RedisStore
  ) async throws -> (id: MessageID, space: SpaceID) {
    var content = NotificationContent(type: Catalogue.custom.code, toType: .accounts)
    content.toAccids = [Self.bob, "eve"]
    if expiresSoon { content.expireAt = try await store.nowMilliseconds() + 2_000 }
    let sends = try SendNotification.sends(content, by: Self.app, generatedClientId: name)
    let send = try #require(sends.first)
    let done = try await OperationRunner(store: store, limits: Limits()).run(send)
    for partition in try await store.partitionsToRelay() { try await store.relayOutbox(of: partition) }
    return (try #require(done.commit?.ids.first), send.space)
  }
}
