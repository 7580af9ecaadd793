import BelfryFeed
import BelfryLive
import BelfryLoop
import BelfryModel
import BelfryStore
import ModelSamples
import StreamClients
import Testing

/// An account that comes back after retention is told that something sent to it by name is gone.
@Suite struct BeyondRetentionTests {
  @Test(arguments: [SpaceID.personal("bob"), .direct(77)])
  func whatWasSentByNameIsTold(space: SpaceID) async throws {
    try await withLoop { loop, scope in
      let memory = MemoryStore(limits: Limits())
      let live = SlowLiveFeed(memory, on: loop)
      let hub = Hub(loop: loop, scope: scope, store: memory, live: live, limits: Limits())
      let client = Client("bob")
      defer { client.cut() }
      try client.open(hub)
      let seen = try write(to: .personal("bob"), memory)
      try await settle(client, loop, live) { client.received == [seen] }
      client.cut()
      let cursor = try await hub.feed.page(for: "bob", after: nil, limit: 10).cursor

      memory.clockMilliseconds += 10
      let missed = try write(to: space, memory)
      memory.clockMilliseconds += memory.limits.retentionMilliseconds + 1_000
      for partition in memory.partitions.all { memory.sweep(partition) }
      let page = try await hub.feed.page(for: "bob", after: cursor, limit: 10)
      #expect(page.gap.map { $0.from < missed && missed <= $0.to } == true)
      try client.open(hub)
      try await settle(client, loop, live) { client.gaps == 1 }
      #expect(client.gapRanges.contains { $0.from < missed && missed <= $0.to })
      #expect(client.received == [seen])
    }
  }

  private func write(to space: SpaceID, _ memory: MemoryStore) throws -> MessageID {
    var writing = Transaction(space)
    let content = NotificationContent(type: Catalogue.custom.code, toType: .accounts)
    writing.announcements = [Announcement(content, to: Audience(.named, named: ["bob"]))]
    if space.kind == .direct { writing.indexChanges = [IndexChange(.joined, ["bob"])] }
    guard case .committed(let commit) = try memory.commit([writing])[0].get() else { return .zero }
    relay(memory)
    return commit.ids[0]
  }
}
