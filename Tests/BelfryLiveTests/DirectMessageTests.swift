import BelfryLive
import BelfryLoop
import BelfryModel
import BelfryStore
import ModelSamples
import StreamClients
import Testing

/// A direct message holds one entry, unless its `messageClientId` is used again after the dedupe window: then it holds two.
@Suite struct DirectMessageTests {
  /// Live it is heard before the index learns of it, and found in the log when it has.
  @Test func whoFollowsALetterIsShownItsSecondEntryOnce() async throws {
    try await withDirectMessage { loop, hub, memory, live, first in
      let client = Client("bob")
      defer { client.cut() }
      try client.open(hub)
      try await settle(client, loop, live) { client.received.count >= 1 }
      let second = try write(memory)
      try await settle(client, loop, live)
      relay(memory)
      try await settle(client, loop, live) { client.received.count >= 2 }
      try await settle(client, loop, live)
      #expect(client.received == [first, second])
    }
  }

  /// On one device the first was read before the other device came for the second.
  @Test func readingOneEntryLeavesTheOther() async throws {
    try await withDirectMessage { _, hub, memory, _, first in
      let second = try write(memory)
      relay(memory)
      #expect(try await hub.feed.markRead(account: "bob", device: nil, items: [first]) == 1)
      #expect(try await hub.feed.page(for: "bob", after: nil, limit: 10).notifications.map(\.id) == [second])
      #expect(try await hub.feed.markRead(account: "bob", device: nil, items: [second]) == 1)
      #expect(try await hub.feed.page(for: "bob", after: nil, limit: 10).notifications.isEmpty)
    }
  }

  /// The index knows of the message that it holds.
  private func withDirectMessage(
    _ work: @escaping @Sendable (EventLoop, Hub, MemoryStore, SlowLiveFeed, MessageID) async throws -> Void
  ) async throws {
    try await withLoop { loop, scope in
      let memory = MemoryStore(limits: Limits())
      let live = SlowLiveFeed(memory, on: loop)
      let hub = Hub(loop: loop, scope: scope, store: memory, live: live, limits: Limits())
      let first = try write(memory)
      relay(memory)
      try await work(loop, hub, memory, live, first)
    }
  }

  private func write(_ memory: MemoryStore) throws -> MessageID {
    var writing = Transaction(.direct(77))
    let content = NotificationContent(type: Catalogue.custom.code, toType: .server)
    writing.announcements = [Announcement(content, to: Audience(.named, named: ["bob"]))]
    writing.indexChanges = [IndexChange(.joined, ["bob"])]
    guard case .committed(let commit) = try memory.commit([writing])[0].get() else { return .zero }
    return commit.ids[0]
  }
}
