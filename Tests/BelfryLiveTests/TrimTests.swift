import BelfryFeed
import BelfryLive
import BelfryLoop
import BelfryModel
import BelfryStore
import ModelSamples
import StreamClients
import Testing

/// Entries that are trimmed while an account reads.
@Suite struct TrimTests {
  private static let bob: AccountID = "bob"
  private static let server: EntityID = 14

  /// The reader takes its time, and the log is trimmed past the place it has come to.
  @Test func aStreamThatTakesItsTimeIsToldWhatWasTrimmedBeforeItCame() async throws {
    try await withStage { loop, memory, live, hub in
      let sent = memory.send(1_000)
      let client = Client(Self.bob)
      defer { client.cut() }
      try client.open(hub)
      while client.received.isEmpty {
        try await loop.sleep(for: .zero)
        try client.pull(room: 1_024)
      }
      let more = memory.send(50)
      for partition in memory.partitions.all { memory.sweep(partition) }
      for _ in 0..<2_000 where client.received.last != more.last {
        try await loop.sleep(for: .zero)
        live.arrive(atMost: 10)
        try client.pull(room: 8_192)
      }
      #expect(client.received.last == more.last)
      let missing = Set(sent + more).subtracting(client.received)
      #expect(!missing.isEmpty && client.gaps == 1)
      #expect(missing.allSatisfy { id in client.gapRanges.contains { $0.from < id && id <= $0.to } })
      #expect(!client.received.contains { id in client.gapRanges.contains { $0.from < id && id <= $0.to } })
    }
  }

  /// Between the look at where logs end and the reading of them.
  @Test func aPageSaysWhatWasTrimmedInBetween() async throws {
    try await withStage { _, memory, _, hub in
      _ = memory.send(1_000)
      let first = try await hub.feed.page(for: Self.bob, after: nil, limit: 10)
      #expect(first.gap == nil && first.notifications.count == 10)
      let slow = try #require(hub.feed.store as? TrimmingStore)
      slow.trimsNow = true
      let next = try await hub.feed.page(for: Self.bob, after: first.cursor, limit: 10)
      let gap = try #require(next.gap)
      #expect(gap.from == first.notifications.last?.id)
      #expect(next.notifications.first.map { $0.id > gap.to } == true)
      let after = try await hub.feed.page(for: Self.bob, after: next.cursor, limit: 10)
      #expect(after.gap == nil && after.notifications.count == 10)
    }
  }

  /// Trimmed before the entries are fetched, and once more before the end is read: the second look at the log does not say
  /// what the first trim took.
  @Test func nothingIsPassedOverThatIsTrimmedTwice() async throws {
    try await withStage { _, memory, _, hub in
      let sent = memory.send(1_000)
      let first = try await hub.feed.page(for: Self.bob, after: nil, limit: 10)
      let slow = try #require(hub.feed.store as? TrimmingStore)
      slow.trimsNow = true
      slow.sendsBeforeTheEnd = 150
      var (shown, cursor, gaps) = (first.notifications.map(\.id), first.cursor, [FeedGap]())
      var page = first
      repeat {
        page = try await hub.feed.page(for: Self.bob, after: cursor, limit: 10)
        shown += page.notifications.map(\.id)
        if let gap = page.gap { gaps.append(gap) }
        cursor = page.cursor
      } while !page.notifications.isEmpty
      let missing = Set(sent).subtracting(shown)
      #expect(!missing.isEmpty)
      #expect(missing.allSatisfy { id in gaps.contains { $0.from < id && id <= $0.to } })
      #expect(shown.count == Set(shown).count)
    }
  }

  private func withStage(
    _ body: @escaping @Sendable (EventLoop, MemoryStore, SlowLiveFeed, Hub) async throws -> Void
  ) async throws {
    try await withLoop { loop, scope in
      var limits = Limits()
      limits.entriesPerSpace = 100
      let memory = MemoryStore(limits: limits)
      let store = TrimmingStore(memory, Chance(seed: 1), on: loop)
      let live = SlowLiveFeed(memory, on: loop)
      let hub = Hub(loop: loop, scope: scope, store: store, live: live, limits: limits)
      let runner = OperationRunner(store: memory, limits: limits)
      _ = try await runner.run(
        CreateServer(
          id: Self.server, defaultChannel: 1_000, owner: Self.bob, actor: Actor(account: Self.bob), name: "s")
      )
      for partition in memory.partitionsToRelay() { memory.relayOutbox(of: partition) }
      try await body(loop, memory, live, hub)
    }
  }
}

/// Is swept when it is next asked for entries, just before it answers.
private final class TrimmingStore: SlowStore {
  var trimsNow = false
  /// When it is next asked for ends after that, so many entries are appended, and the log is trimmed once more.
  var sendsBeforeTheEnd = 0

  override func ends(of spaces: [SpaceID]) async throws(StoreError) -> [LogEnd] {
    if !trimsNow, sendsBeforeTheEnd > 0, spaces.contains(.server(14)) {
      _ = memory.send(sendsBeforeTheEnd)
      sendsBeforeTheEnd = 0
      for partition in memory.partitions.all { memory.sweep(partition) }
    }
    return try await super.ends(of: spaces)
  }

  override func entries(_ requests: [LogRequest]) async throws(StoreError) -> [[LogEntry]] {
    if trimsNow {
      trimsNow = false
      for partition in memory.partitions.all { memory.sweep(partition) }
    }
    return try await super.entries(requests)
  }
}

extension MemoryStore {
  fileprivate func send(_ count: Int) -> [MessageID] {
    var sending = Transaction(.server(14))
    let content = NotificationContent(type: Catalogue.custom.code, toType: .server)
    sending.announcements = [Announcement(content, to: Audience(.all))]
    return (0..<count).flatMap { _ -> [MessageID] in
      clockMilliseconds += 10
      guard case .committed(let commit) = commit(sending) else { return [] }
      return commit.ids
    }
  }
}
