import BelfryLive
import BelfryLoop
import BelfryModel
import BelfryStore
import ModelSamples
import StreamClients
import TestKit
import Testing

/// A partition is away, as while one master of a cluster is started again: accounts have spaces there and elsewhere.
@Suite struct PartitionAwayTests {
  /// A Redis that has just started lets a loop subscribe before it serves anything.
  @Test func whatComesElsewhereIsShownMeanwhile() async throws {
    let (received, sent) = try await withStage { stage in
      try stage.client.open(stage.hub)
      var sent = [try await stage.send("here", to: .here), try await stage.send("there", to: .there)]
      try await stage.waitUntilShown(sent)
      stage.goAway()
      stage.subscribeAgain()
      try await eventually { stage.store.refusals > 0 }
      for number in 0..<3 { sent.append(try await stage.send("here \(number)", to: .here)) }
      try await stage.waitUntilShown(sent)
      sent.append(try await stage.send("missed", to: .there))
      sent.append(try await stage.send("with it", to: .here))
      stage.comeBack()
      try await stage.waitUntilShown(sent)
      sent.append(try await stage.send("last", to: .there))
      try await stage.waitUntilShown(sent)
      return (stage.client.sent, sent)
    }
    #expect(received.count == sent.count)
    #expect(Set(received) == Set(sent))
  }

  /// The pause after a question that was not answered would take an hour.
  @Test func aStreamThatWaitsForItNoticesAtOnceThatItIsBack() async throws {
    let (received, sent) = try await withStage { stage in
      stage.hub.storePauses = Duration.seconds(3_600)...(.seconds(3_600))
      let sent = [try await stage.send("here", to: .here), try await stage.send("there", to: .there)]
      stage.goAway()
      try stage.client.open(stage.hub)
      try await eventually { stage.store.refusals > 0 }
      stage.comeBack()
      stage.subscribeAgain()
      try await stage.waitUntilShown(sent)
      return (stage.client.sent, sent)
    }
    #expect(received.count == sent.count)
    #expect(Set(received) == Set(sent))
  }

  /// Lost once more before it has answered: what is said then is missed, and no later message may pass it.
  @Test func whatIsLostAgainIsNotTakenByAnEarlierQuestion() async throws {
    let (received, sent) = try await withStage { stage in
      try stage.client.open(stage.hub)
      var sent = [try await stage.send("there", to: .there)]
      try await stage.waitUntilShown(sent)
      stage.goAway()
      stage.subscribeAgain()
      try await eventually { stage.store.refusals > 0 }
      stage.goAway()
      stage.comeBack()
      sent.append(try await stage.send("missed", to: .there))
      stage.live.lose { space, _ in space == stage.space(.there) }
      sent.append(try await stage.send("heard", to: .there))
      stage.live.arrive(atMost: .max)
      stage.subscribeAgain()
      try await stage.waitUntilShown(sent)
      return (stage.client.sent, sent)
    }
    #expect(received == sent)
  }

  private func withStage<Value: Sendable>(
    _ body: @escaping @Sendable (Stage) async throws -> Value
  ) async throws -> Value {
    try await withLoop { loop, scope in
      let stage = try await Stage(loop, scope)
      defer { stage.client.cut() }
      return try await body(stage)
    }
  }
}

/// Bob, who is in a server of each of two partitions, and somebody who sends to these.
private final class Stage {
  enum Place: Int { case here, there }

  let client = Client("bob")
  let live: SlowLiveFeed
  let store: PartlyAwayStore
  let hub: Hub
  private let memory: MemoryStore
  private let runner: OperationRunner
  private let app = Actor(account: nil, isTrusted: true)
  private let servers: [EntityID]

  private let loop: EventLoop

  init(_ loop: EventLoop, _ scope: LoopScope) async throws {
    self.loop = loop
    let memory = MemoryStore(limits: Limits())
    self.memory = memory
    runner = OperationRunner(store: memory, limits: Limits())
    live = SlowLiveFeed(memory, on: loop)
    store = PartlyAwayStore(memory, Chance(seed: 1), on: loop)
    hub = Hub(loop: loop, scope: scope, store: store, live: live, limits: Limits())
    // In the partition of neither the account nor the other server.
    let home = memory.partitions.holding(.personal("bob"))
    let here = EntityID(bits: 1)
    let others = [home, memory.partitions.holding(.server(here))]
    let there = (UInt64(2)...).lazy.map { EntityID(bits: $0) }
      .first { !others.contains(memory.partitions.holding(.server($0))) }
    servers = [here, try #require(there)]
    for server in servers {
      let create = CreateServer(
        id: server, defaultChannel: EntityID(bits: 200_000 + UInt64(server.number)), owner: "owner",
        actor: Actor(account: "owner"), name: "s")
      _ = try await runner.run(create)
      _ = try await runner.run(AddMembers(server, actor: app, accounts: ["bob"], requestId: "r"))
    }
    relay(memory)
  }

  func space(_ place: Place) -> SpaceID { .server(servers[place.rawValue]) }
  private var partition: Partition { memory.partitions.holding(space(.there)) }

  /// Nothing is heard of the partition there, and it does not answer.
  func goAway() {
    store.away = [partition]
    live.onHearingChange?(false, [partition])
  }

  func subscribeAgain() { live.onHearingChange?(true, [partition]) }

  func comeBack() { store.away = [] }

  func send(_ body: String, to place: Place) async throws -> MessageID {
    var content = NotificationContent(type: Catalogue.custom.code, toType: .server)
    content.serverId = servers[place.rawValue]
    content.body = body
    let sends = try SendNotification.sends(content, by: app, generatedClientId: body)
    let send = try #require(sends.first)
    return try #require(try await runner.run(send).commit?.ids.first)
  }

  func waitUntilShown(_ sent: [MessageID]) async throws {
    try await eventually("not all was shown") {
      live.arrive(atMost: 100)
      try client.pull(room: 8_192)
      return Set(client.sent).isSuperset(of: sent)
    }
    // Time for what must not come.
    for _ in 0..<50 {
      live.arrive(atMost: 100)
      try client.pull(room: 8_192)
      await loop.letOthersRun()
    }
  }
}

/// Some partitions of it do not answer.
private final class PartlyAwayStore: SlowStore {
  var away: Set<Partition> = []
  private(set) var refusals = 0

  private func ask(_ asked: [Partition]) throws(StoreError) {
    guard !away.isDisjoint(with: asked) else { return }
    refusals += 1
    throw StoreError(.unavailable, "it is away", at: "a test")
  }

  override func lastIDs(of partitions: [Partition]) async throws(StoreError) -> [MessageID] {
    try ask(partitions)
    return try await super.lastIDs(of: partitions)
  }

  override func ends(of spaces: [SpaceID]) async throws(StoreError) -> [LogEnd] {
    try ask(spaces.map { partitions.holding($0) })
    return try await super.ends(of: spaces)
  }

  override func entries(_ requests: [LogRequest]) async throws(StoreError) -> [[LogEntry]] {
    try ask(requests.map { partitions.holding($0.space) })
    return try await super.entries(requests)
  }
}
