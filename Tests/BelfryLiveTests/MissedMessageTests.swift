import BelfryLive
import BelfryLoop
import BelfryModel
import BelfryStore
import ModelSamples
import StreamClients
import TestKit
import Testing

/// A live message is missed of an entry that the store has served already. Nothing is missing, so nothing is shown again.
@Suite struct MissedMessageTests {
  /// The ring breaks off while a catch-up takes its snapshot, so the catch-up cannot join it.
  @Test func theRingBrokeOffDuringTheSnapshot() async throws {
    try await withMissedStage { stage in
      var sent = [stage.send(to: .first)]
      try await stage.waitUntilShown(sent)
      sent += (0..<4).map { _ in stage.send(to: .first) }
      stage.store.onEnds = { [live = stage.live] in live.onUnreadable?(MissedStage.space(.first)) }
      stage.catchUp()
      try await stage.waitUntilShownByStore(sent)
      // The first of the late messages is heard, and the next is not.
      stage.live.garble(from: 1)
      try await stage.waitUntilShown(sent)
      sent.append(stage.send(to: .first))
      try await stage.waitUntilShown(sent)
      #expect(stage.shown(of: sent) == sent)
    }
  }

  /// The cursor stands beyond the last entry of the space, by an entry of another space of the same partition.
  @Test func theCursorStoodBeyondTheRing() async throws {
    try await withMissedStage { stage in
      var sent = [stage.send(to: .first), stage.send(to: .second)]
      try await stage.waitUntilShown(sent)
      stage.catchUp()
      try await stage.settle()
      sent.append(stage.send(to: .first))
      stage.catchUp()
      try await stage.waitUntilShownByStore(sent)
      stage.live.garble(from: 0)
      try await stage.waitUntilShown(sent)
      sent.append(stage.send(to: .first))
      try await stage.waitUntilShown(sent)
      #expect(stage.shown(of: sent) == sent)
    }
  }

  /// The cursor has gone on by the rings since the last catch-up, so it stands beyond what the store has served and beyond the
  /// ring of the space. The store is serving an entry of the space when the message of that entry is missed.
  @Test func theEntryWasBeingShown() async throws {
    try await withMissedStage { stage in
      var sent = [stage.send(to: .first), stage.send(to: .second)]
      try await stage.waitUntilShown(sent)
      stage.catchUp()
      try await stage.settle()
      sent.append(stage.send(to: .second))
      try await stage.waitUntilShown(sent)
      sent.append(stage.send(to: .first))
      stage.catchUp()
      // The client takes nothing meanwhile, so the scan stays under way.
      for _ in 0..<200 { await stage.loop.letOthersRun() }
      stage.live.garble(from: 0)
      try await stage.waitUntilShown(sent)
      sent.append(stage.send(to: .first))
      try await stage.waitUntilShown(sent)
      #expect(stage.shown(of: sent) == sent)
    }
  }

  /// The store is serving entries that the ring has not heard. Another account read the log before them, and joins the ring only
  /// now. So the ring ends before them, and breaks off with the next message.
  @Test func anotherAccountJoinedTheRingWithAnEarlierEnd() async throws {
    try await withMissedStage { stage in
      try await stage.addMember("carol", to: .first)
      let carol = Client("carol")
      try carol.open(stage.hub)
      defer { carol.cut() }
      let first = stage.send(to: .first)
      try await stage.waitUntilShown([first])
      try await stage.wait(showing: carol) { carol.received.contains(first) }
      stage.client.cut()
      stage.store.holdsNextEnds = true
      stage.live.onUnreadable?(MissedStage.space(.first))
      try await stage.wait(showing: carol) { stage.store.isHolding }
      var sent = [stage.send(to: .first), stage.send(to: .first)]
      stage.live.lose { space, _ in space == MissedStage.space(.first) }
      try stage.client.open(stage.hub)
      // The client takes nothing meanwhile, so the scan stays under way.
      for _ in 0..<2_000 { await stage.loop.letOthersRun() }
      stage.store.isHolding = false
      for _ in 0..<2_000 { await stage.loop.letOthersRun() }
      sent.append(stage.send(to: .first))
      try await stage.waitUntilShown(sent)
      sent.append(stage.send(to: .first))
      try await stage.waitUntilShown(sent)
      #expect(stage.shown(of: sent) == sent)
    }
  }

  /// Another account read the log before an entry, and joins a new ring only when the entry has arrived there. For those who
  /// joined before, the entry was in the log.
  @Test func anotherAccountJoinsTheRingBeforeAnEntryThatHasArrived() async throws {
    try await withMissedStage { stage in
      for place in [MissedStage.Place.first, .second] { try await stage.addMember("carol", to: place) }
      let carol = Client("carol")
      try carol.open(stage.hub)
      defer { carol.cut() }
      let first = stage.send(to: .first)
      try await stage.wait(showing: carol, { stage.live.arrive(atMost: 1) }) {
        carol.received.contains(first)
      }
      stage.client.cut()
      stage.store.holdsNextEnds = true
      stage.live.onUnreadable?(MissedStage.space(.first))
      try await stage.wait(showing: carol) { stage.store.isHolding }
      let missed = stage.send(to: .first)
      try stage.client.open(stage.hub)
      try await stage.waitUntilShownByStore([missed])
      stage.live.arrive(atMost: .max)
      stage.store.isHolding = false
      // Her cursor passes it by an entry of the partition's other space.
      let next = stage.send(to: .second)
      try await stage.wait(showing: carol, { stage.live.arrive(atMost: 1) }) { carol.received.contains(next) }
      try await stage.wait(showing: carol) { carol.received.contains(missed) }
      #expect(carol.doubled.isEmpty && stage.client.doubled.isEmpty)
    }
  }

  /// The message of an entry is missed, and nothing has told so yet. Then all is shown again by other preferences.
  @Test func aMissedEntryIsShownOnceIfAllIsShownAgain() async throws {
    try await withMissedStage { stage in
      var sent = [stage.send(to: .first), stage.send(to: .second)]
      try await stage.waitUntilShown(sent)
      stage.catchUp()
      try await stage.settle()
      let missed = stage.send(to: .first)
      stage.live.lose { space, _ in space == MissedStage.space(.first) }
      sent.append(stage.send(to: .second))
      try await stage.waitUntilShown(sent)
      #expect(stage.shown(of: [missed]) == [])
      try await stage.prefer()
      try await stage.waitUntilShown([missed])
      #expect(stage.client.resets == 1 && stage.client.held.isSuperset(of: sent))
      #expect(stage.shown(of: [missed]) == [missed])
    }
  }

  /// An entry that the store has not served is shown, if its message is missed.
  @Test func anEntryThatWasNotServedIsShown() async throws {
    try await withMissedStage { stage in
      var sent = [stage.send(to: .first), stage.send(to: .second)]
      try await stage.waitUntilShown(sent)
      stage.catchUp()
      try await stage.settle()
      // The message of the first one is missed, and the cursor passes it by the second one.
      sent.append(stage.send(to: .first))
      stage.live.lose { space, _ in space == MissedStage.space(.first) }
      sent.append(stage.send(to: .second))
      try await stage.waitUntilShown([sent[3]])
      sent.append(stage.send(to: .first))
      try await stage.waitUntilShown(sent)
      #expect(stage.shown(of: sent).sorted() == sent)
    }
  }

  /// The store has lost its last writes, and its clock is behind: the new entries have smaller ids than those that were lost.
  @Test(arguments: [false, true]) func newEntriesWithSmallerIDsAreShown(isBetween: Bool) async throws {
    try await withMissedStage { stage in
      var sent = [stage.send(to: .first)]
      try await stage.waitUntilShown(sent)
      let lost = try await stage.loseAnHour { [stage.send(to: .first), stage.send(to: .first)] }
      if isBetween {
        // Just after a catch-up has read where the log ends.
        stage.store.onEnds = {
          sent.append(stage.send(to: .first)); stage.live.arrive(atMost: 10)
        }
        try await stage.comeBack()
      } else {
        try await stage.comeBack()
        sent.append(stage.send(to: .first))
      }
      try await stage.waitUntilShown(sent)
      #expect(try #require(sent.last) < lost[0])
      #expect(stage.shown(of: sent) == sent)
    }
  }

  private func withMissedStage(
    _ body: @escaping @Sendable (MissedStage) async throws -> Void
  ) async throws {
    try await withLoop { loop, scope in
      let stage = try await MissedStage(loop, scope)
      try stage.client.open(stage.hub)
      defer { stage.client.cut() }
      try await stage.settle()
      try await body(stage)
    }
  }
}

/// Bob with a stream, and two servers of one partition.
private final class MissedStage {
  enum Place: Int { case first, second }

  private static let servers: [EntityID] = Array(SpaceID.server(1).partition.servers.prefix(2))
  static func space(_ place: Place) -> SpaceID { .server(servers[place.rawValue]) }

  let client = Client("bob")
  let live: SlowLiveFeed
  let hub: Hub
  let store: InterruptedStore
  let loop: EventLoop
  private let memory: MemoryStore

  init(_ loop: EventLoop, _ scope: LoopScope) async throws {
    self.loop = loop
    memory = MemoryStore(limits: Limits())
    live = SlowLiveFeed(memory, on: loop)
    store = InterruptedStore(memory, Chance(seed: 1), on: loop)
    hub = Hub(loop: loop, scope: scope, store: store, live: live, limits: Limits())
    let runner = OperationRunner(store: memory, limits: Limits())
    for (number, id) in Self.servers.enumerated() {
      let channel = try #require(EntityID(Int64(100_000 + number)))
      _ = try await runner.run(
        CreateServer(id: id, defaultChannel: channel, owner: "bob", actor: Actor(account: "bob"), name: "s"))
    }
    for partition in memory.partitionsToRelay() { memory.relayOutbox(of: partition) }
  }

  func send(to place: Place) -> MessageID {
    var sending = Transaction(Self.space(place))
    let content = NotificationContent(type: Catalogue.custom.code, toType: .server)
    sending.announcements = [Announcement(content, to: Audience(.all))]
    memory.clockMilliseconds += 10
    guard case .committed(let commit) = memory.commit(sending), let id = commit.ids.first else {
      return .zero
    }
    return id
  }

  /// Those that were shown, as often and in the order in which they were. The servers' own notifications came before.
  func shown(of sent: [MessageID]) -> [MessageID] { client.received.filter { sent.contains($0) } }

  /// Has the messages of entries heard, and then has the store forget them, with its clock set back.
  func loseAnHour(_ act: () -> [MessageID]) async throws -> [MessageID] {
    let checkpoint = memory.checkpoint()
    let now = memory.clockMilliseconds
    memory.clockMilliseconds += 3_600_000
    let lost = act()
    try await waitUntilShown(lost)
    memory.clockMilliseconds = now + 1
    memory.restore(checkpoint)
    return lost
  }

  /// The live channels are lost with the store, and are heard again.
  func comeBack() async throws {
    live.breakOff()
    try await settle()
    try await wait(until: { [hub] in hub.isHearing(Self.space(.first)) })
    try await settle()
  }

  /// Changes the preferences of the account, so that its clients are shown all again.
  func prefer() async throws {
    let one = Preference(space: Self.space(.second), types: nil, level: .all)
    let runner = OperationRunner(store: memory, limits: Limits())
    _ = try await runner.run(SetPreferences([one], of: "bob", actor: Actor(account: "bob")))
  }

  func addMember(_ account: AccountID, to place: Place) async throws {
    let runner = OperationRunner(store: memory, limits: Limits())
    let app = Actor(account: nil, isTrusted: true)
    _ = try await runner.run(
      AddMembers(Self.servers[place.rawValue], actor: app, accounts: [account], requestId: "r"))
    for partition in memory.partitionsToRelay() { memory.relayOutbox(of: partition) }
    try await settle()
  }

  /// As when the account's index has changed.
  func catchUp() { live.onMessage?(.personal("bob"), .index) }

  func waitUntilShown(_ sent: [MessageID]) async throws {
    try await wait(for: sent) { [live] in live.arrive(atMost: 1) }
    try await settle()
  }

  /// While the live messages stay on their way.
  func waitUntilShownByStore(_ sent: [MessageID]) async throws { try await wait(for: sent) {} }

  /// Time for all that happens by itself.
  func settle() async throws {
    for _ in 0..<200 {
      live.arrive(atMost: 1)
      try client.pull(room: 8_192)
      await loop.letOthersRun()
    }
  }

  private func wait(for sent: [MessageID], _ act: () -> Void) async throws {
    try await wait(act) { [client] in Set(client.received).isSuperset(of: sent) }
  }

  func wait(
    showing other: Client? = nil, _ act: () -> Void = {}, until holds: () -> Bool
  ) async throws {
    try await eventually(every: .zero) {
      act()
      for one in [client, other] { try one?.pull(room: 8_192) }
      return holds()
    }
  }
}

/// Something happens when it is next asked for the ends of logs.
private final class InterruptedStore: SlowStore {
  var onEnds: (() -> Void)?
  /// The next answer about the ends of servers' logs waits until ``isHolding`` is false again.
  var holdsNextEnds = false
  var isHolding = false

  override func ends(of spaces: [SpaceID]) async throws(StoreError) -> [LogEnd] {
    let happens = onEnds
    onEnds = nil
    let isHeld = holdsNextEnds && spaces.contains(MissedStage.space(.first))
    if isHeld { holdsNextEnds = false }
    let ends = try await super.ends(of: spaces)
    happens?()
    if isHeld { isHolding = true }
    while isHeld, isHolding { await loop.letOthersRun() }
    return ends
  }
}
