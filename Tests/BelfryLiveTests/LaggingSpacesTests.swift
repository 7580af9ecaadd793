import BelfryLive
import BelfryLoop
import BelfryModel
import BelfryStore
import ModelSamples
import StreamClients
import Testing

/// A client comes back after its account's index has learned of more spaces than a cursor has room for. So several catch-ups
/// take them into account, and each notification is shown by one of these.
@Suite struct LaggingSpacesTests {
  /// The client was cut off while it was shown again what its account still wants to hear. Then all of its spaces are new to
  /// its cursor.
  @Test func aStreamThatStartsOverIsShownEachOnce() async throws {
    try await withLaggingStage { stage in
      for server in stage.servers { try await stage.join(server, runner: stage.runner) }
      try await stage.openAndSettle { $0.held.count >= stage.servers.count }
      let shown = stage.client.held
      #expect(shown.count > FeedCursor.laggingLimit)
      let preference = Preference(
        space: .server(stage.known), types: [Catalogue.custom.code], level: .none)
      _ = try await stage.runner.run(SetPreferences([preference], of: "bob", actor: Actor(account: "bob")))
      try await stage.cutOffWhenToldToBeginAgain()
      try await stage.openAndSettle { $0.resets == 2 && $0.held == shown }
      #expect(stage.client.doubled.isEmpty)
      #expect(stage.client.held == shown)
    }
  }

  /// The client drops everything up to the mark, also what it was never shown.
  @Test func whoIsToldOfAMarkIsShownEachOnce() async throws {
    try await withLaggingStage { stage in
      let sent = try await stage.missJoining()
      let last = try stage.send(to: stage.known)
      try await stage.openAndSettle { $0.held.contains(last) }
      stage.client.cut()
      _ = try await stage.hub.feed.markRead(account: "bob", device: nil, upTo: last)
      relay(stage.memory)
      try await stage.openAndSettle { $0.held.isSuperset(of: sent) }
      #expect(stage.client.doubled.isEmpty)
      #expect(stage.client.held.isSuperset(of: sent))
      #expect(!stage.client.held.contains(last))
    }
  }

  /// Everything is marked before the index learns of the servers. The message of that mark arrives after a second device was
  /// shown what is not read there, and devices drop everything up to the mark.
  @Test func aMarkThatArrivesLateTakesNothingAway() async throws {
    try await withLaggingStage { stage in
      let (sent, last) = try await stage.markBeforeTheIndexLearns()
      let second = Client("bob")
      defer { second.cut() }
      try second.open(stage.hub)
      try await stage.settleWithoutMessages(second) { $0.held.isSuperset(of: sent) }
      try #require(second.held.isSuperset(of: sent))
      try await stage.settle { $0.held.isSuperset(of: sent) }
      try await stage.settleWithoutMessages(second) { $0.knowsRead(last) && $0.held.isSuperset(of: sent) }
      for client in [stage.client, second] {
        #expect(client.held.isSuperset(of: sent))
        #expect(client.knowsRead(last) && !client.held.contains(last))
        #expect(client.doubled.isEmpty)
      }
    }
  }

  /// The same where the message arrives while the account's first snapshot is taken, which has the mark.
  @Test func aMarkThatArrivesDuringTheSnapshotTakesNothingAway() async throws {
    try await withLoop { loop, scope in
      let stage = try await LaggingStage(loop, scope)
      let (memory, live, feed) = (stage.memory, stage.live, stage.hub.feed)
      let store = EventfulStore(memory, Chance(seed: 1), on: loop)
      let hub = Hub(loop: loop, scope: scope, store: store, live: live, limits: Limits())
      let sent = try await stage.missJoining()
      let last = try stage.send(to: stage.known)
      memory.clockMilliseconds += 10
      store.onEnds = [
        {
          _ = try? await feed.markRead(account: "bob", device: nil, upTo: last)
          relay(memory)
        },
        { live.arrive(atMost: 1) },
      ]
      defer { stage.client.cut() }
      try stage.client.open(hub)
      try await stage.settleWithoutMessages(stage.client) { $0.held.isSuperset(of: sent) }
      #expect(store.onEnds.isEmpty)
      #expect(stage.client.knowsRead(last))
      try await stage.settle { $0.held.isSuperset(of: sent) }
      #expect(stage.client.held.isSuperset(of: sent))
      #expect(stage.client.doubled.isEmpty)
    }
  }

  /// The message of a mark says that a server lags no more. It arrives during a snapshot that has the mark, and by which the
  /// server lags again.
  @Test func aMarkThatArrivesDuringTheSnapshotLeavesUnreadWhatLagsSince() async throws {
    try await withLoop { loop, scope in
      let stage = try await LaggingStage(loop, scope)
      let server = stage.servers[0]
      try await stage.missJoining()
      try await stage.markAll()
      relay(stage.memory)
      let store = EventfulStore(stage.memory, Chance(seed: 1), on: loop)
      let hub = Hub(loop: loop, scope: scope, store: store, live: stage.live, limits: Limits())
      var missed = MessageID.zero
      store.onEnds = [
        {
          try? await stage.markAll()
          try? await stage.leave(server)
          relay(stage.memory)
          missed = (try? await stage.missJoining([server]).first) ?? .zero
          try? await stage.markAll()
          relay(stage.memory)
          stage.live.arrive(atMost: 1)
        }
      ]
      defer { stage.client.cut() }
      try stage.client.open(hub)
      try await stage.settleWithoutMessages(stage.client) { $0.held.contains(missed) }
      #expect(stage.client.held.contains(missed))
      try await stage.settle { $0.held.contains(missed) }
      #expect(stage.client.held.contains(missed))
      #expect(stage.client.doubled.isEmpty)
    }
  }

  /// As above, where nothing of the new server's partition was marked before: then the server has no position of its own.
  @Test func aMarkThatArrivesLateTakesNothingAwayOfANewPartition() async throws {
    try await withLaggingStage { stage in
      try stage.client.open(stage.hub)
      try await stage.join(stage.elsewhere, runner: stage.lateRunner)
      let sent = try stage.send(to: stage.elsewhere)
      stage.memory.clockMilliseconds += 1
      let last = try stage.send(to: stage.known)
      try await stage.settle { $0.held.contains(last) }
      stage.memory.clockMilliseconds += 10
      _ = try await stage.hub.feed.markRead(account: "bob", device: nil, upTo: last)
      relay(stage.memory)
      let second = Client("bob")
      defer { second.cut() }
      try second.open(stage.hub)
      try await stage.settleWithoutMessages(second) { $0.held.contains(sent) }
      try await stage.settle { $0.held.contains(sent) && $0.knowsRead(last) }
      try await stage.settleWithoutMessages(second) { $0.knowsRead(last) && $0.held.contains(sent) }
      for client in [stage.client, second] {
        #expect(client.held.contains(sent) && client.knowsRead(last))
        #expect(!client.held.contains(last) && client.doubled.isEmpty)
      }
    }
  }

  /// A mark below the watermark was decided with the space, and nobody has to be shown the rest of it again.
  @Test func aMarkInALaggingSpaceShowsNothingAgain() async throws {
    try await withLaggingStage { stage in
      let (sent, _) = try await stage.markBeforeTheIndexLearns()
      try await stage.settle { $0.held.isSuperset(of: sent) }
      let received = stage.client.received.count
      let some = sent.sorted()[2]
      #expect(try await stage.hub.feed.markRead(account: "bob", device: nil, upTo: some) > 0)
      try await stage.settle { $0.knowsRead(some) }
      #expect(stage.client.received.count == received)
      #expect(stage.client.held.isSuperset(of: sent.filter { $0 > some }))
    }
  }

  /// In more spaces than the cursor has room for, the cursor has passed an entry whose live message was missed.
  @Test(arguments: [false, true]) func whatWasMissedIsShownOnce(isShownAgain: Bool) async throws {
    try await withLaggingStage { stage in
      for server in stage.servers { try await stage.join(server, runner: stage.runner) }
      try await stage.openAndSettle { $0.held.count >= stage.servers.count }
      var sent = try stage.servers.map(stage.send)
      stage.live.lose { [known = stage.known] space, _ in space != .server(known) }
      sent.append(try stage.send(to: stage.known))
      try await stage.settle { [last = sent[sent.count - 1]] in $0.held.contains(last) }
      #expect(stage.client.held.isDisjoint(with: sent.dropLast()))
      if isShownAgain {
        let preference = Preference(space: .server(stage.known), types: [1], level: .none)
        _ = try await stage.runner.run(
          SetPreferences([preference], of: "bob", actor: Actor(account: "bob")))
      }
      stage.live.onMessage?(.personal("bob"), .index)
      try await stage.settle { [sent] in $0.held.isSuperset(of: sent) }
      #expect(stage.client.held.isSuperset(of: sent))
      // The rings break off now, since they have not heard what was missed.
      sent += try stage.servers.map(stage.send)
      try await stage.settle { [sent] in $0.held.isSuperset(of: sent) }
      #expect(stage.client.held.isSuperset(of: sent))
      #expect(stage.client.doubled.isEmpty)
      #expect(stage.client.resets == (isShownAgain ? 1 : 0))
    }
  }

  /// So many live messages were missed that the position of the partition goes back, and with it what the client was shown since.
  /// Some of that was recalled meanwhile. The client starts over, also if it is cut off in between.
  @Test(arguments: [false, true]) func whoseSpacesAreManyStartsOver(isCutOff: Bool) async throws {
    try await withLaggingStage { stage in
      for server in stage.servers { try await stage.join(server, runner: stage.runner) }
      try await stage.openAndSettle { $0.held.count >= stage.servers.count }
      let missed = try stage.servers.map(stage.send)
      stage.live.lose { _, _ in true }
      let shown = [try stage.send(to: stage.known), try stage.send(to: stage.known)]
      try await stage.settle { $0.held.isSuperset(of: shown) }
      // The rings break off now, all before the consumer catches up.
      let sent = try stage.servers.map(stage.send)
      try await stage.recall(shown[0])
      stage.live.arrive(atMost: .max)
      if isCutOff {
        try await stage.cutOff(whenShown: missed[0])
        try stage.client.open(stage.hub)
      }
      let unread = Set(missed + sent + [shown[1]])
      try await stage.settle { $0.held.isSuperset(of: unread) }
      #expect(stage.client.held.isSuperset(of: unread))
      #expect(stage.client.resets == 1)
      #expect(stage.client.doubled.isEmpty)
      #expect(!stage.client.held.contains(shown[0]))
    }
  }

  /// The cursor has passed a lost entry by an entry of another space, before the index had learned of the space.
  @Test func whatWasLostInALaggingSpaceIsTold() async throws {
    try await withLaggingStage { stage in
      let missed = try #require(try await stage.missJoining([stage.servers[0]]).first)
      let last = try stage.send(to: stage.known)
      try await stage.openAndSettle { $0.held.contains(last) }
      stage.client.cut()
      relay(stage.memory)
      stage.memory.clockMilliseconds += Limits().retentionMilliseconds + 1_000
      stage.memory.sweep(SpaceID.server(stage.known).partition)
      try await stage.openAndSettle { $0.gaps > 0 }
      #expect(stage.client.gapRanges.contains { $0.from < missed && missed <= $0.to })
    }
  }

  /// There is no room left for a direct message whose second entry the index has learned of.
  @Test func theSecondEntryOfADirectMessageIsShownOnce() async throws {
    try await withLaggingStage { stage in
      let first = try stage.write()
      relay(stage.memory)
      let sent = try await stage.missJoining()
      let last = try stage.send(to: stage.known)
      try await stage.openAndSettle { $0.held.isSuperset(of: [first, last]) }
      stage.client.cut()
      relay(stage.memory)
      let second = try stage.write()
      relay(stage.memory)
      try await stage.openAndSettle { $0.held.isSuperset(of: sent + [second]) }
      #expect(stage.client.doubled.isEmpty)
      #expect(stage.client.held.isSuperset(of: sent + [first, second, last]))
    }
  }

  private func withLaggingStage(
    _ body: @escaping @Sendable (LaggingStage) async throws -> Void
  ) async throws {
    try await withLoop { loop, scope in
      let stage = try await LaggingStage(loop, scope)
      defer { stage.client.cut() }
      try await body(stage)
    }
  }
}

/// Something happens while the ends of logs are asked for.
private final class EventfulStore: SlowStore {
  /// For each question, in order.
  var onEnds: [() async -> Void] = []

  override func ends(of spaces: [SpaceID]) async throws(StoreError) -> [LogEnd] {
    if !onEnds.isEmpty {
      let happens = onEnds.removeFirst()
      await happens()
    }
    return try await super.ends(of: spaces)
  }
}

/// Bob with a client, and servers of one partition.
private final class LaggingStage {
  let client = Client("bob")
  let memory = MemoryStore(limits: Limits())
  let live: SlowLiveFeed
  let hub: Hub
  let runner: OperationRunner
  /// Bob is in this one from the beginning.
  let known: EntityID
  let servers: [EntityID]
  /// In a partition in which bob has nothing.
  let elsewhere: EntityID = 2
  /// Carries out operations that no index is told of.
  let lateRunner: OperationRunner
  private let loop: EventLoop

  init(_ loop: EventLoop, _ scope: LoopScope) async throws {
    self.loop = loop
    live = SlowLiveFeed(memory, on: loop)
    hub = Hub(loop: loop, scope: scope, store: memory, live: live, limits: Limits())
    runner = OperationRunner(store: memory, limits: Limits())
    let store = SlowStore(memory, Chance(seed: 1), on: loop)
    store.relayFailurePercent = 100
    lateRunner = OperationRunner(store: store, limits: Limits())
    let all = Array(SpaceID.server(1).partition.servers.prefix(FeedCursor.laggingLimit + 3))
    (known, servers) = (all[0], Array(all[1...]))
    let apart: [SpaceID] = [.server(known), .personal("bob"), .server(elsewhere)]
    try #require(Set(apart.map(\.partition)).count == 3)
    for (number, id) in (all + [elsewhere]).enumerated() {
      let channel = try #require(EntityID(Int64(100_000 + number)))
      let owner: AccountID = id == known ? "bob" : "owner"
      _ = try await runner.run(
        CreateServer(id: id, defaultChannel: channel, owner: owner, actor: Actor(account: owner), name: "s"))
    }
    relay(memory)
  }

  func join(_ server: EntityID, runner: OperationRunner) async throws {
    let app = Actor(account: nil, isTrusted: true)
    _ = try await runner.run(AddMembers(server, actor: app, accounts: ["bob"], requestId: "r"))
  }

  func leave(_ server: EntityID) async throws {
    let app = Actor(account: nil, isTrusted: true)
    _ = try await runner.run(KickMembers(server, actor: app, accounts: ["bob"]))
  }

  /// Marks everything up to an entry that is sent now.
  func markAll() async throws {
    let last = try send(to: known)
    // Entries of the very millisecond are marked one by one.
    memory.clockMilliseconds += 10
    _ = try await hub.feed.markRead(account: "bob", device: nil, upTo: last)
  }

  /// Bob joins servers, and nobody tells his index. In each, something is sent.
  /// - Parameter some: nil: all.
  @discardableResult
  func missJoining(_ some: [EntityID]? = nil) async throws -> [MessageID] {
    let servers = some ?? servers
    for server in servers { try await join(server, runner: lateRunner) }
    return try servers.map(send)
  }

  /// Everything that bob's client holds is marked, and his index learns only then of the servers that he has joined.
  /// - Returns: the entries that are not read, and the last one that is.
  func markBeforeTheIndexLearns() async throws -> (sent: [MessageID], last: MessageID) {
    try client.open(hub)
    let sent = try await missJoining()
    let last = try send(to: known)
    try await settle { $0.held.contains(last) }
    // Entries of the very millisecond are marked one by one.
    memory.clockMilliseconds += 10
    _ = try await hub.feed.markRead(account: "bob", device: nil, upTo: last)
    relay(memory)
    return (sent, last)
  }

  func send(to server: EntityID) throws -> MessageID {
    try commit(in: .server(server), to: Audience(.all), [])
  }

  /// Recalls what was sent to the server that bob is in from the beginning.
  func recall(_ id: MessageID) async throws {
    let space = SpaceID.server(known)
    let request = LogRequest(space, after: id.predecessor, through: id, limit: 1)
    let entry = try #require(try memory.entries([request])[0].first)
    _ = try await runner.run(RecallNotification(entry, in: space, by: Actor(account: nil, isTrusted: true)))
  }

  /// Writes an entry of a direct message.
  func write() throws -> MessageID {
    try commit(
      in: .direct(77), to: Audience(.named, named: ["bob"]), [IndexChange(.joined, ["bob"])])
  }

  private func commit(
    in space: SpaceID, to audience: Audience, _ changes: [IndexChange]
  ) throws -> MessageID {
    var sending = Transaction(space)
    let content = NotificationContent(type: Catalogue.custom.code, toType: .server)
    sending.announcements = [Announcement(content, to: audience)]
    sending.indexChanges = changes
    guard case .committed(let commit) = memory.commit(sending) else { return .zero }
    return try #require(commit.ids.first)
  }

  func openAndSettle(until isDone: (Client) -> Bool) async throws {
    try client.open(hub)
    try await settle(until: isDone)
  }

  func settle(until isDone: (Client) -> Bool) async throws {
    try await BelfryLiveTests.settle(client, loop, live) { isDone(client) }
    try await BelfryLiveTests.settle(client, loop, live)
  }

  /// Live messages stay under way.
  func settleWithoutMessages(_ client: Client, until isDone: (Client) -> Bool) async throws {
    try await BelfryLiveTests.settle(client, loop) { isDone(client) }
  }

  func cutOffWhenToldToBeginAgain() async throws { try await cutOff { client.resets == 1 } }

  func cutOff(whenShown id: MessageID) async throws { try await cutOff { client.received.contains(id) } }

  /// The client takes little at a time, so that it is cut off before it is shown anything else.
  private func cutOff(when holds: () -> Bool) async throws {
    for _ in 0..<5_000 where !holds() {
      live.arrive(atMost: .max)
      try await loop.sleep(for: .milliseconds(1))
      try client.pull(room: 64)
    }
    try #require(holds())
    client.cut()
  }
}
