import BelfryLive
import BelfryLoop
import BelfryModel
import BelfryStore
import ModelSamples
import StreamClients
import Testing

/// An account changes faster than its client takes what it is shown again.
@Suite struct ShownAgainTests {
  /// A change of the index has nothing shown again.
  @Test func aChangeOfTheIndexDoesNotStartOver() async throws {
    try await withStage { stage in
      try await stage.prefer()
      try await stage.settle(whenTaken: { stage.changeIndex() }) {
        $0.resets > 0 && $0.held.isSuperset(of: stage.sent)
      }
      try await stage.settle { _ in true }
      #expect(stage.client.resets == 1)
      #expect(stage.client.doubled.isEmpty)
    }
  }

  /// A change of the preferences has all shown again, which does not keep new notifications from the client.
  @Test func whatIsNewIsShownInSpiteOfChangesOfThePreferences() async throws {
    try await withStage { stage in
      try await stage.prefer()
      // It has been told to start over, and all is yet to be shown again.
      try await stage.settle(whenTaken: {}) { $0.resets == 1 }
      try #require(stage.client.held.count < stage.sent.count)
      let new = try stage.send()
      try await stage.settle(whenTaken: { try await stage.prefer() }) { $0.received.contains(new) }
      try await stage.settle { $0.held.isSuperset(of: stage.sent + [new]) }
      #expect(stage.client.doubled.isEmpty)
    }
  }

  /// The mark comes after the read state of the snapshot by which all is shown again, and the client is told of it before it is
  /// told to drop all.
  @Test func whatIsMarkedMeanwhileIsNotShownAgain() async throws {
    try await withStage { stage in
      let marked = try #require(stage.sent.dropFirst(40).first)
      stage.beforeEnds { await stage.mark(marked) }
      try await stage.prefer()
      let unread = stage.sent.filter { $0 != marked }
      try await stage.settle { $0.resets == 1 && $0.held.isSuperset(of: unread) }
      #expect(stage.client.knowsRead(marked))
      #expect(!stage.client.held.contains(marked))
    }
  }

  /// The account's index changes while entries are read. One of them is shown only while its account is inside, so it is judged by
  /// a later snapshot. Those before it are shown all the same.
  @Test func anEntryThatHasToWaitTakesNoneWithIt() async throws {
    try await withStage { stage in
      stage.client.cut()
      let before = try stage.send()
      try stage.send(Audience(.all, isMomentary: true))
      let after = try stage.send()
      stage.whileEntriesAreRead { stage.changeIndex() }
      try stage.client.open(stage.hub)
      try await stage.settle { $0.held.contains(after) }
      #expect(stage.client.held.contains(before))
      #expect(stage.client.doubled.isEmpty)
    }
  }

  private func withStage(_ body: @escaping @Sendable (Stage) async throws -> Void) async throws {
    try await withLoop { loop, scope in
      let stage = Stage(loop, scope)
      defer { stage.client.cut() }
      try await stage.begin()
      try await body(stage)
    }
  }
}

/// Bob, who is in a server and holds more notifications than are shown again at once.
private final class Stage {
  let client = Client("bob")
  private(set) var sent: [MessageID] = []
  private let memory = MemoryStore(limits: Limits())
  private let live: SlowLiveFeed
  let hub: Hub
  private let store: InterruptedStore
  private let loop: EventLoop
  private let space = SpaceID.server(14)
  private var preferred = 0

  init(_ loop: EventLoop, _ scope: LoopScope) {
    self.loop = loop
    live = SlowLiveFeed(memory, on: loop)
    store = InterruptedStore(memory, Chance(seed: 1), on: loop)
    hub = Hub(loop: loop, scope: scope, store: store, live: live, limits: Limits())
    var joining = Transaction(space)
    joining.changes[.member("bob", of: space)] = .some("m 0-0")
    joining.indexChanges = [IndexChange(.joined, ["bob"])]
    _ = memory.commit(joining)
    relay(memory)
  }

  func begin() async throws {
    sent = try (0..<100).map { _ in try send() }
    try client.open(hub)
    try await settle { $0.held.isSuperset(of: sent) }
  }

  @discardableResult
  func send(_ audience: Audience = Audience(.all)) throws -> MessageID {
    var sending = Transaction(space)
    let content = NotificationContent(type: Catalogue.custom.code, toType: .server)
    sending.announcements = [Announcement(content, to: audience)]
    guard case .committed(let commit) = memory.commit(sending) else { return .zero }
    return try #require(commit.ids.first)
  }

  /// Does something once, after the next snapshot has read what is read, and before it reads how far the logs go.
  func beforeEnds(_ act: @escaping () async -> Void) { store.beforeEnds = act }

  /// Does something once, when entries are next read.
  func whileEntriesAreRead(_ act: @escaping () -> Void) { store.whileEntriesAreRead = act }

  /// Its message arrives at once.
  func mark(_ id: MessageID) async {
    let count = try? await hub.feed.markRead(account: "bob", device: nil, items: [id])
    #expect(count == 1)
    live.arrive(atMost: .max)
  }

  func changeIndex() { live.onMessage?(.personal("bob"), .index) }

  /// Each time it is another preference. None of them hides anything that was sent.
  func prefer() async throws {
    preferred += 1
    let one = Preference(types: [preferred.isMultiple(of: 2) ? 1 : 5], level: .none)
    _ = try await OperationRunner(store: memory, limits: Limits()).run(
      SetPreferences([one], of: "bob", actor: Actor(account: "bob")))
  }

  /// - Parameter act: called each time that the client has taken some notifications. It takes few at a time.
  func settle(whenTaken act: () async throws -> Void, until isDone: (Client) -> Bool) async throws {
    for _ in 0..<5_000 where !isDone(client) {
      live.arrive(atMost: .max)
      try await loop.sleep(for: .milliseconds(1))
      let count = client.received.count
      try client.pull(room: 1_024)
      if client.received.count > count { try await act() }
    }
    #expect(isDone(client))
  }

  func settle(until isDone: (Client) -> Bool) async throws {
    try await BelfryLiveTests.settle(client, loop, live) { isDone(client) }
    #expect(isDone(client))
  }
}

private final class InterruptedStore: SlowStore {
  var beforeEnds: (() async -> Void)?
  var whileEntriesAreRead: (() -> Void)?

  override func entries(_ requests: [LogRequest]) async throws(StoreError) -> [[LogEntry]] {
    let happens = whileEntriesAreRead
    whileEntriesAreRead = nil
    let entries = try await super.entries(requests)
    happens?()
    return entries
  }

  override func ends(of spaces: [SpaceID]) async throws(StoreError) -> [LogEnd] {
    if spaces.contains(where: { $0.kind == .server }), let act = beforeEnds {
      beforeEnds = nil
      await act()
    }
    return try await super.ends(of: spaces)
  }
}
