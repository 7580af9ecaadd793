import BelfryLive
import BelfryLoop
import BelfryModel
import BelfryStore
import ModelSamples
import StreamClients
import Testing

/// Events of an account while its stream is not quite live: none is lost, and none is told twice.
@Suite struct LivePathTests {
  /// An account that joins or leaves a server catches up. Events that are in no log still reach it, each
  /// once.
  @Test(arguments: UInt64(1)...3) func whatIsNoEntryReachesWhoJoinsAndLeaves(seed: UInt64) async throws {
    let rounds = 30
    let (client, marked, updated) = try await onStage(seed) { stage in
      var marked: [MessageID] = []
      var updated: [MessageID] = []
      for round in 0..<rounds {
        let id = try await stage.tellBob("\(round)")
        marked.append(id)
        updated.append(try await stage.send(to: 0))
        try await stage.settle()
        try await stage.changeMembership(round)
        await stage.pause()
        stage.mark(id)
        stage.echo(round)
        try await stage.update(updated[round], 0, to: "new \(round)")
        try await stage.tellBob("ephemeral \(round)", isStored: false)
        await stage.pause()
        try await stage.settle()
      }
      try await stage.settle { $0.echoes.count >= rounds && $0.updates.count >= rounds }
      return (stage.report, marked, updated)
    }
    #expect(marked.allSatisfy { client.read.contains($0) })
    #expect(client.echoes == (0..<rounds).map { .integer(Int64($0)) })
    #expect(client.ephemeral == (0..<rounds).map { "ephemeral \($0)" })
    #expect(client.updates == updated)
    for (round, id) in updated.enumerated() { #expect(client.bodies[id] == "new \(round)") }
    #expect(Set(client.received) == Set(marked + updated))
    #expect(client.received.count == 2 * rounds)
  }

  /// A client that holds a notification and is away while it is updated is told when it comes back, until its
  /// cursor is past the update. A client that comes with no cursor is shown the notification as it is now,
  /// and told nothing.
  @Test func anUpdateIsToldToWhoWasAway() async throws {
    let (times, body, newcomer) = try await onStage(1) { stage in
      let id = try await stage.send(to: 0)
      try await stage.settle { $0.sent == [id] }
      stage.client.cut()
      try await stage.update(id, 0, to: "once")
      try await stage.update(id, 0, to: "twice")
      var times: [Int] = []
      for _ in 0..<3 {
        try stage.client.open(stage.hub)
        try await stage.settle { $0.bodies[id] == "twice" }
        times.append(stage.client.updates.count)
        stage.client.cut()
      }
      let newcomer = Client("bob")
      try newcomer.open(stage.hub)
      defer { newcomer.cut() }
      try await BelfryLiveTests.settle(newcomer, stage.loop, stage.live) { newcomer.sent == [id] }
      return (times, stage.client.bodies[id], (newcomer.updates, newcomer.bodies[id]))
    }
    #expect(times == [2, 2, 2])
    #expect(body == "twice")
    #expect(newcomer.0 == [] && newcomer.1 == "twice")
  }

  /// An entry that says that a notification has changed is no notification: no page has it, no mark counts
  /// it, nothing finds it.
  @Test func anUpdateIsNoNotification() async throws {
    let (page, read, code) = try await onStage(1) { stage in
      let id = try await stage.send(to: 0)
      let before = try await stage.hub.feed.page(for: "bob", after: nil, limit: 100)
      try await stage.update(id, 0, to: "new")
      let page = try await stage.hub.feed.page(for: "bob", after: before.cursor, limit: 100)
      let update = try #require(stage.lastEntry(in: 0))
      var code: Refusal.Code?
      do throws(Refusal) { _ = try await stage.hub.feed.find(update, for: "bob") } catch {
        code = error.code
      }
      let marked = try await stage.hub.feed.markRead(account: "bob", device: nil, items: [update])
      let read = try await stage.hub.feed.markRead(account: "bob", device: nil, upTo: .last)
      #expect(before.notifications.count == read && marked == 0)
      return (page.notifications, read, code)
    }
    #expect(page == [])
    #expect(read > 0)
    #expect(code == .notFound)
  }

  /// A ring forgets. A consumer that comes too late for a mark is told of all that is read.
  @Test func whoFallsBehindItsOwnRingIsToldWhatIsRead() async throws {
    let (client, id) = try await onStage(1) { stage in
      let id = try await stage.tellBob("read me")
      try await stage.settle { $0.sent == [id] }
      stage.mark(id)
      for number in 0..<600 { stage.echo(number) }
      stage.live.arrive(atMost: .max)
      let last = try await stage.tellBob("last")
      try await stage.settle { $0.sent.last == last }
      return (stage.report, id)
    }
    #expect(client.read.contains(id))
    #expect(client.received.count == 2)
  }

  /// The same when the channels were lost, and marks with them.
  @Test func whoseChannelsWereLostIsToldWhatIsReadAndUpdated() async throws {
    let (client, id) = try await onStage(1) { stage in
      let id = try await stage.tellBob("read me")
      let updated = try await stage.send(to: 1)
      try await stage.settle { $0.sent.count == 2 }
      stage.mark(id)
      try await stage.update(updated, 1, to: "new")
      stage.live.breakOff()
      let last = try await stage.tellBob("last")
      try await stage.settle { $0.sent.last == last }
      return (stage.report, id)
    }
    #expect(client.read.contains(id))
    #expect(client.updates.count == 1)
  }

  /// A broker of another version says something: what it was is in the log, before what a neighbour of the same
  /// partition said next.
  @Test func whatCannotBeReadIsFoundInTheLog() async throws {
    let (client, sent, gaps) = try await onStage(1) { stage in
      try await stage.settle()
      let first = try await stage.send(to: 0)
      stage.live.garble(from: 0)
      let second = try await stage.send(to: 1)
      try await stage.settle { $0.sent.count >= 2 }
      return (stage.report, [first, second], stage.hub.statistics.gapsSeen)
    }
    #expect(client.received == sent)
    #expect(gaps == 1)
  }

  /// A message is not heard, and nobody knows, until the next one of that server says what came before it. A
  /// neighbour of the same partition has spoken since, so every cursor is past it.
  /// - Parameter isFirst: nothing had come through that ring before.
  @Test(arguments: [false, true]) func whatWasNotHeardIsFoundInTheLog(isFirst: Bool) async throws {
    let (client, sent, gaps) = try await onStage(1) { stage in
      try await stage.settle()
      var sent: [MessageID] = []
      if !isFirst {
        sent.append(try await stage.send(to: 0))
        try await stage.settle { $0.sent.count == 1 }
      }
      sent.append(try await stage.send(to: 0))
      stage.live.lose { space, _ in space == stage.space(0) }
      sent.append(try await stage.send(to: 1))
      try await stage.settle { $0.sent.count >= sent.count - 1 }
      sent.append(try await stage.send(to: 0))
      try await stage.settle { $0.sent.count >= sent.count }
      return (stage.report, sent, stage.hub.statistics.gapsSeen)
    }
    #expect(client.received.sorted() == sent)
    #expect(gaps == 1)
  }

  /// Channels return one after the other. An entry that is heard in one must not be passed while another, of
  /// the same partition, has missed an earlier one.
  @Test func nothingIsHeardBeforeAllChannelsAreBack() async throws {
    let (client, sent) = try await onStage(1) { stage in
      try await stage.settle()
      stage.live.onHearingChange?(false, Partitions.standard.all)
      let first = try await stage.send(to: 0)
      stage.live.lose { space, _ in space == stage.space(0) }
      let second = try await stage.send(to: 1)
      try await stage.settle()
      stage.live.onHearingChange?(true, Partitions.standard.all)
      try await stage.settle { $0.sent.count >= 2 }
      return (stage.report, [first, second])
    }
    #expect(client.received == sent)
  }

  /// A server in which nobody can read a word for a while, and something is always said: its members are sent what
  /// is in the log all the same.
  @Test func whoReadsNothingGetsOn() async throws {
    let (client, sent) = try await onStage(3) { stage in
      try await stage.settle()
      var sent: [MessageID] = []
      for round in 0..<2_000 where round < 200 || stage.client.sent.count < 100 {
        sent.append(try await stage.send(to: round % 2))
        stage.live.garble(from: 0, count: .max)
        stage.live.arrive(atMost: .max)
        try await stage.loop.sleep(for: .zero)
        try stage.client.pull(room: 8_192)
      }
      #expect(stage.client.sent.count >= 100)
      try await stage.settle { $0.sent.count >= sent.count }
      return (stage.report, sent)
    }
    #expect(client.received == sent)
  }

  private func onStage<Value: Sendable>(
    _ seed: UInt64, _ work: @escaping @Sendable (Stage) async throws -> Value
  ) async throws -> Value {
    try await withLoop { loop, scope in
      let stage = try await Stage(loop: loop, scope: scope, seed: seed)
      defer { stage.client.cut() }
      return try await work(stage)
    }
  }
}

/// Bob, who is in two servers of one partition and has a stream.
private final class Stage {
  /// The events that bob's stream was sent, without the announcements of operations.
  struct Report: Sendable {
    var received: [MessageID]
    var read: [MessageID]
    var updates: [MessageID]
    var bodies: [MessageID: String]
    var echoes: [JSONValue]
    var ephemeral: [String]
  }

  let loop: EventLoop
  let live: SlowLiveFeed
  let hub: Hub
  let client: Client
  private let memory: MemoryStore
  private let chance: Chance
  private let runner: OperationRunner
  private let servers: [EntityID]
  private let bob: AccountID = "bob"
  private let app = Actor(account: nil, isTrusted: true)
  private var sends = 0

  init(loop: EventLoop, scope: LoopScope, seed: UInt64) async throws {
    self.loop = loop
    chance = Chance(seed: seed)
    memory = MemoryStore(limits: Limits())
    live = SlowLiveFeed(memory, on: loop)
    hub = Hub(
      loop: loop, scope: scope, store: SlowStore(memory, chance, on: loop), live: live, limits: Limits())
    runner = OperationRunner(store: memory, limits: Limits())
    client = Client(bob)
    servers = Array(SpaceID.server(14).partition.servers.prefix(2)) + [5]
    let owner: AccountID = "owner"
    for (number, server) in servers.enumerated() {
      _ = try await runner.run(
        CreateServer(
          id: server, defaultChannel: EntityID(bits: 100_000 + UInt64(number)), owner: owner,
          actor: Actor(account: owner), name: "s"))
    }
    for server in servers.prefix(2) { try await add(to: server) }
    try client.open(hub)
  }

  var report: Report {
    Report(
      received: client.sent, read: client.sent.filter(client.knowsRead), updates: client.updates,
      bodies: client.bodies, echoes: client.echoes, ephemeral: client.ephemeral)
  }

  func space(_ server: Int) -> SpaceID { .server(servers[server]) }

  /// As long as a catch-up from memory takes, and, where there is something to wait for, as long as that takes.
  func settle(until isDone: (Client) -> Bool = { _ in true }) async throws {
    try await BelfryLiveTests.settle(client, loop, live) { isDone(client) }
  }

  /// Others get to run for a while, and some of what is under way arrives.
  func pause() async {
    for _ in 0..<chance.below(12) {
      live.arrive(atMost: chance.below(2))
      await loop.letOthersRun()
    }
  }

  /// Bob joins a server, or leaves it.
  func changeMembership(_ round: Int) async throws {
    if round.isMultiple(of: 2) {
      try await add(to: servers[2])
    } else {
      _ = try await runner.run(KickMembers(servers[2], actor: app, accounts: [bob]))
      relay(memory)
    }
  }

  private func add(to server: EntityID) async throws {
    _ = try await runner.run(AddMembers(server, actor: app, accounts: [bob], requestId: "r"))
    relay(memory)
  }

  func update(_ id: MessageID, _ server: Int, to body: String) async throws {
    let entry = try #require(
      try memory.entries([LogRequest(space(server), after: id.predecessor, through: id, limit: 1)])[0].first)
    _ = try await runner.run(
      UpdateNotification(entry, in: space(server), by: app, body: body, ext: nil, status: nil))
  }

  func lastEntry(in server: Int) -> MessageID? {
    try? memory.entries([LogRequest(space(server), after: .zero, limit: .max)])[0].last?.id
  }

  func mark(_ id: MessageID) { _ = memory.markRead(ReadMark(items: [id]), by: bob) }

  /// Something that bob does on none of his devices.
  func echo(_ number: Int) {
    var transaction = Transaction(.server(servers[0]))
    transaction.echo = DeviceEcho(
      account: bob, device: nil, operation: OperationName(.server, "update"), target: .integer(Int64(number)))
    _ = memory.commit(transaction)
  }

  @discardableResult func tellBob(_ body: String, isStored: Bool = true) async throws -> MessageID {
    var content = NotificationContent(type: Catalogue.custom.code, toType: .accounts)
    content.toAccids = [bob]
    content.setting.persistEnable = isStored
    return try await send(content, body)
  }

  func send(to server: Int) async throws -> MessageID {
    var content = NotificationContent(type: Catalogue.custom.code, toType: .server)
    content.serverId = servers[server]
    return try await send(content, "to a server")
  }

  private func send(_ content: NotificationContent, _ body: String) async throws -> MessageID {
    sends += 1
    var content = content
    content.body = body
    var ids: [MessageID] = []
    for send in try SendNotification.sends(content, by: app, generatedClientId: "c\(sends)") {
      ids += try await runner.run(send).commit?.ids ?? []
    }
    return try #require(ids.first)
  }
}
