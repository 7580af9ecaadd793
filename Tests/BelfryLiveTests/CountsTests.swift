import BelfryFeed
import BelfryLive
import BelfryLoop
import BelfryModel
import BelfryStore
import ModelSamples
import StreamClients
import TestKit
import Testing

/// How much is unread, as clients are told.
@Suite struct CountsTests {
  private static let app = Actor(account: nil, isTrusted: true)

  @Test func beyondTheCapThereIsMore() {
    var counts = UnreadCounts(limit: 3)
    for type in [100, 5, 100] { counts.add(type, in: .server(7), countsInBadge: type == 100) }
    #expect(!counts.isCapped)
    counts.add(100, in: .server(7), countsInBadge: true)
    #expect(counts.isCapped && counts.unread == 3)
    #expect(
      String(decoding: counts.json, as: UTF8.self)
        == #"{"unread":3,"badge":2,"spaces":[{"space":"server:7","unread":3}],"#
        + #""types":[{"type":5,"unread":1},{"type":100,"unread":2}],"isCapped":true}"#)
  }

  /// Entries that arrive are added from the rings: nothing is read again for them.
  @Test func whatArrivesIsCountedWithoutReading() async throws {
    let (told, scans) = try await withLoop { loop, scope in
      let memory = MemoryStore(limits: Limits())
      let live = SlowLiveFeed(memory, on: loop)
      let hub = Hub(loop: loop, scope: scope, store: memory, live: live, limits: Limits())
      hub.countsInterval = .milliseconds(1)
      let client = Client("bob", wantsCounts: true)
      try client.open(hub)
      defer { client.cut() }
      func untilTold(_ unread: Int64) async throws {
        for _ in 0..<2_000 where client.counts?["unread"] != .integer(unread) {
          live.arrive(atMost: 100)
          try client.pull(room: 8_192)
          try await loop.sleep(for: .milliseconds(1))
        }
      }
      try await untilTold(0)
      let before = hub.statistics.scans
      for number in 0..<5 {
        var content = NotificationContent(type: Catalogue.custom.code, toType: .accounts)
        content.toAccids = ["bob"]
        for send in try SendNotification.sends(content, by: Self.app, generatedClientId: "c\(number)") {
          _ = try await OperationRunner(store: memory, limits: Limits()).run(send)
        }
        try await untilTold(Int64(number) + 1)
      }
      return (client.counts, hub.statistics.scans - before)
    }
    #expect(told?["unread"] == 5)
    #expect(scans == 0)
  }

  /// However counts change, streams are told once in an interval: after an arrival was told, the count that a mark leads to
  /// waits, and so does what expires.
  @Test(arguments: [false, true]) func aCountWaitsForItsInterval(expires: Bool) async throws {
    let (told, unread) = try await withLoop { loop, scope in
      let memory = MemoryStore(limits: Limits())
      let live = SlowLiveFeed(memory, on: loop)
      let hub = Hub(loop: loop, scope: scope, store: memory, live: live, limits: Limits())
      hub.countsInterval = .milliseconds(1)
      let client = Client("bob", wantsCounts: true)
      try client.open(hub)
      defer { client.cut() }
      func pull() throws {
        live.arrive(atMost: 100)
        try client.pull(room: 8_192)
      }
      try await eventually {
        try pull()
        return client.counts?["unread"] == 0
      }
      // Nothing else is told before the test is over.
      hub.countsInterval = .seconds(3_600)
      let message = try await send(
        to: "bob", memory, expiresAt: expires ? memory.clockMilliseconds + 1_000 : nil)
      try await eventually {
        try pull()
        return client.counts?["unread"] == 1
      }
      let scans = hub.statistics.scans
      if expires {
        memory.clockMilliseconds += 2_000
      } else {
        _ = memory.markRead(ReadMark(items: [message]), by: "bob")
      }
      try await eventually {
        try pull()
        return hub.statistics.scans > scans
      }
      // Time for what must not come.
      for _ in 0..<50 {
        try pull()
        try await loop.sleep(for: .zero)
      }
      return (client.counts, try await hub.feed.count(for: "bob").counts.unread)
    }
    #expect(told?["unread"] == 1)
    #expect(unread == 0)
  }

  /// A count reads the account's index, too, and learns of a server before the message to the account's streams arrives. The
  /// stream must not show what comes there by a membership that its cursor does not know: it would show it once more.
  @Test func aCountLearnsOfAServerBeforeTheStream() async throws {
    let (received, doubled, entry) = try await withLoop { loop, scope in
      let memory = MemoryStore(limits: Limits())
      let live = SlowLiveFeed(memory, on: loop)
      let hub = Hub(loop: loop, scope: scope, store: memory, live: live, limits: Limits())
      hub.countsInterval = .zero
      let client = Client("bob", wantsCounts: true)
      let runner = OperationRunner(store: memory, limits: Limits())
      func relay() { for partition in memory.partitionsToRelay() { memory.relayOutbox(of: partition) } }
      func pull() throws {
        live.arrive(atMost: 100)
        try client.pull(room: 8_192)
      }
      _ = try await runner.run(
        CreateServer(
          id: Self.server, defaultChannel: 8, owner: "alice", actor: Actor(account: "alice"), name: "s"))
      relay()
      let message = try await send(to: "bob", memory)
      try client.open(hub)
      defer { client.cut() }
      try await eventually {
        try pull()
        return client.counts?["unread"] == 1
      }
      _ = try await runner.run(
        AddMembers(Self.server, actor: Self.app, accounts: ["bob"], requestId: "r"))
      relay()
      live.lose { space, message in space == .personal("bob") && message == .index }
      // A mark leads to a count.
      _ = memory.markRead(ReadMark(items: [message]), by: "bob")
      try await eventually {
        try pull()
        return live.isSubscribed(.server(Self.server))
      }
      for _ in 0..<50 {
        try pull()
        try await loop.sleep(for: .zero)
      }
      var sending = Transaction(.server(Self.server))
      let content = NotificationContent(type: Catalogue.custom.code, toType: .server)
      sending.announcements = [Announcement(content, to: Audience(.all))]
      guard case .committed(let commit) = try await memory.commit(sending) else {
        throw FixtureError("not sent")
      }
      let entry = try #require(commit.ids.first)
      try await eventually {
        try pull()
        return client.received.contains(entry)
      }
      live.onMessage?(.personal("bob"), .index)
      for _ in 0..<200 {
        try pull()
        try await loop.sleep(for: .zero)
      }
      return (client.received, client.doubled, entry)
    }
    #expect(received.contains(entry))
    #expect(doubled == [])
  }

  private static let server: EntityID = 7

  /// A count is due, its timer has run, and before its work begins the account's last stream goes. The session must not be
  /// used after its end: that would end the broker.
  @Test func aStreamThatGoesBeforeItsCountBegins() async throws {
    let told = try await withLoop { loop, scope in
      let memory = MemoryStore(limits: Limits())
      let live = SlowLiveFeed(memory, on: loop)
      let hub = Hub(loop: loop, scope: scope, store: memory, live: live, limits: Limits())
      hub.countsInterval = .zero
      let client = Client("bob", wantsCounts: true)
      var isLeaving = false
      var leaving: LoopTimer?
      // Hooks of this phase run after the hub has told its sessions, so this timer follows the one of the count, and both
      // run before any work.
      let hook = loop.beforeWaiting(.serve) {
        if isLeaving, leaving == nil { leaving = loop.schedule(after: .zero) { client.cut() } }
      }
      defer { hook.cancel() }
      let message = try await send(to: "bob", memory)
      try client.open(hub)
      try await eventually {
        live.arrive(atMost: 100)
        try client.pull(room: 8_192)
        return client.counts?["unread"] == 1
      }
      _ = memory.markRead(ReadMark(items: [message]), by: "bob")
      live.arrive(atMost: 100)
      isLeaving = true
      try await eventually { !client.isOpen }
      isLeaving = false
      // The next one is told by a session of its own.
      try client.open(hub)
      defer { client.cut() }
      try await eventually {
        live.arrive(atMost: 100)
        try client.pull(room: 8_192)
        return client.counts?["unread"] == 0
      }
      return client.counts
    }
    #expect(told?["unread"] == 0)
  }

  private func send(
    to account: AccountID, _ memory: MemoryStore, expiresAt time: Int64? = nil
  ) async throws -> MessageID {
    var content = NotificationContent(type: Catalogue.custom.code, toType: .accounts)
    content.toAccids = [account]
    content.expireAt = time
    let sends = try SendNotification.sends(content, by: Self.app, generatedClientId: "only")
    let done = try await OperationRunner(store: memory, limits: Limits()).run(#require(sends.first))
    return try #require(done.commit?.ids.first)
  }
}
