import BelfryFeed
import BelfryLive
import BelfryLoop
import BelfryModel
import BelfryRedis
import BelfryStore
import ModelSamples
import StreamClients
import TestKit

/// Accounts that send, join, leave, mark and read streams, all at the same time and at any of some brokers. Several brokers
/// die now and then, and others take their places. In the end a broker that has seen nothing of it says what each account has
/// to see.
actor BrokersStage {
  private static let redis = RedisEndpoint.tcp("10.0.0.1")
  private static let serverIDs: [EntityID] = {
    let first: EntityID = 1
    // Two of one partition: a cursor has one place for both.
    return Array(SpaceID.server(first).partition.servers.prefix(2)) + [2]
  }()
  /// Calls under way at the same time: as many as there are accounts, and some more.
  private static let callsMost = 8
  /// Sends are repeated so often if their outcome is unknown.
  private static let triesMost = 20

  nonisolated let loop: EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  private var chance: SeededGenerator
  private let limits: Limits
  private let app = Actor(account: nil, isTrusted: true)
  /// The first is in all servers all the time, subscribes to them and marks nothing.
  private let accounts: [AccountID]
  private let clients: [Client]
  private let brokerCount: Int
  private var brokers: [SimulatedBroker] = []
  /// The number of the broker that each client was at last.
  private var places: [Int]
  private var calls = 0
  /// The acknowledged sends to all members of a server, and all that the first account was sent.
  private var acknowledged: Set<MessageID> = []
  private var bodies: [MessageID: String] = [:]
  private var spaces: [MessageID: SpaceID] = [:]
  private var marked: [AccountID: Set<MessageID>] = [:]
  /// The servers that each account may have left at some time. Nobody tells a client to drop what it shows of them.
  private var left: [AccountID: Set<SpaceID>] = [:]

  init(on loop: EventLoop, brokers brokerCount: Int, seed: UInt64) {
    (self.loop, self.brokerCount) = (loop, brokerCount)
    chance = SeededGenerator(seed: seed)
    accounts = (0..<6).compactMap { AccountID("a\($0)") }
    clients = (accounts + accounts).map { Client($0) }
    places = clients.map { _ in 0 }
    var limits = Limits()
    limits.subscriptionThreshold = 4
    self.limits = limits
  }

  /// Plays so many steps, and notes each fault.
  func play(steps: Int, _ notes: Notes) async {
    let scope = LoopScope(on: loop)
    scope.start { [self] in
      do {
        for failure in try await perform(steps, in: scope) { notes.add(failure) }
      } catch {
        notes.add("\(error)")
      }
      scope.close()
    }
    await scope.run()
    notes.end()
  }

  private func perform(_ steps: Int, in scope: LoopScope) async throws -> [String] {
    brokers = (0..<brokerCount).map { _ in makeBroker(in: scope) }
    defer { for broker in brokers { broker.close() } }
    try await createServers()
    for step in 0..<steps {
      if calls < Self.callsMost { scope.start { [self] in await act(step) } }
      if brokerCount > 1, chance.oneIn(50) { replaceBroker(chance.below(brokerCount), in: scope) }
      for client in clients where chance.oneIn(3) { try client.pull(room: 64 + chance.below(1_500)) }
      try await loop.sleep(for: .milliseconds(chance.below(50)))
    }
    while calls > 0 { try await loop.sleep(for: .milliseconds(100)) }
    guard acknowledged.count > steps / 10 else { return ["only \(acknowledged) was acknowledged"] }
    return try await settle(in: scope)
  }

  private func makeBroker(in scope: LoopScope) -> SimulatedBroker {
    SimulatedBroker(on: loop, in: scope, redis: Self.redis, limits)
  }

  /// A broker dies with its streams, and another one starts.
  private func replaceBroker(_ number: Int, in scope: LoopScope) {
    for (client, place) in zip(clients, places) where place == number { client.cut() }
    brokers[number].close()
    brokers[number] = makeBroker(in: scope)
  }

  private func createServers() async throws {
    for (number, id) in Self.serverIDs.enumerated() {
      guard let channel = EntityID(Int64(100_000 + number)) else { continue }
      let create = CreateServer(
        id: id, defaultChannel: channel, owner: accounts[0], actor: Actor(account: accounts[0]), name: "s")
      try await insist { broker throws(Refusal) in _ = try await broker.runner.run(create) }
      let subscribe = SetSubscription(
        id, channel: nil, actor: Actor(account: accounts[0]), isSubscribed: true)
      try await insist { broker throws(Refusal) in _ = try await broker.runner.run(subscribe) }
    }
  }

  // MARK: Steps

  private func act(_ step: Int) async {
    calls += 1
    defer { calls -= 1 }
    let account = chance.pick(accounts)
    let server = chance.pick(Self.serverIDs)
    do throws(Refusal) {
      switch chance.below(100) {
      case 0..<40: try await send(step, server, account)
      case 40..<70: try await change(account, server, at: chance.pick(brokers))
      case 70..<75: open(chance.below(clients.count))
      case 75..<85: chance.pick(clients).cut()
      default: openAll()
      }
    } catch {
      // Refusals are answers like any other: the owner cannot be kicked, and while Redis is away nothing is done.
    }
  }

  /// Opens a stream of the client, unless it has one.
  private func open(_ number: Int) {
    guard !clients[number].isOpen else { return }
    places[number] = chance.below(brokers.count)
    try? clients[number].open(brokers[places[number]].hub)
  }

  private func openAll() { for number in clients.indices { open(number) } }

  private func send(_ step: Int, _ server: EntityID, _ account: AccountID) async throws(Refusal) {
    var content = NotificationContent(type: 100, toType: .server)
    content.body = "\(step)"
    let isForAll = !chance.oneIn(3)
    if isForAll { content.serverId = server } else { content.toAccids = [account] }
    for send in try SendNotification.sends(content, by: app, generatedClientId: "c\(step)") {
      let done = try await insist { broker throws(Refusal) in try await broker.runner.run(send) }
      guard let id = done.commit?.ids.first ?? done.duplicateOf else { continue }
      bodies[id] = content.body
      if isForAll { spaces[id] = .server(server) }
      if isForAll || account == accounts[0] { acknowledged.insert(id) }
    }
  }

  private func change(
    _ account: AccountID, _ server: EntityID, at broker: SimulatedBroker
  ) async throws(Refusal) {
    guard account != accounts[0] else { return }
    let runner = broker.runner
    switch chance.below(30) {
    case 0..<8:
      _ = try await runner.run(AddMembers(server, actor: app, accounts: [account], requestId: "r"))
    case 8..<13:
      left[account, default: []].insert(.server(server))
      _ = try await runner.run(KickMembers(server, actor: app, accounts: [account]))
    case 13..<17:
      let subscription = SetSubscription(
        server, channel: nil, actor: Actor(account: account), isSubscribed: !chance.oneIn(3))
      _ = try await runner.run(subscription)
    case 17..<19: try await prefer(account, server, at: broker)
    case 19..<20: try await mark(upTo: account, at: broker)
    case 20..<21: await broker.sweep(SpaceID.server(server).partition)
    default: try await markSome(of: account, at: broker)
    }
  }

  private func prefer(
    _ account: AccountID, _ server: EntityID, at broker: SimulatedBroker
  ) async throws(Refusal) {
    let space: SpaceID? = chance.oneIn(2) ? .server(server) : nil
    let one = Preference(
      space: space, types: chance.oneIn(3) ? [100] : nil, level: chance.pick([.all, .parties, .none]))
    let all = chance.oneIn(3) ? [] : [one]
    _ = try await broker.runner.run(SetPreferences(all, of: account, actor: Actor(account: account)))
  }

  private func held(by account: AccountID) -> [MessageID] {
    Set(clients.filter { $0.account == account }.flatMap(\.held)).sorted()
  }

  private func mark(upTo account: AccountID, at broker: SimulatedBroker) async throws(Refusal) {
    guard let last = held(by: account).last else { return }
    _ = try await broker.hub.feed.markRead(account: account, device: nil, upTo: last)
  }

  private func markSome(of account: AccountID, at broker: SimulatedBroker) async throws(Refusal) {
    let held = held(by: account)
    guard !held.isEmpty else { return }
    let id = chance.pick(held)
    if try await broker.hub.feed.markRead(account: account, device: nil, items: [id]) == 1 {
      marked[account, default: []].insert(id)
    }
  }

  /// Does it again while Redis is away, or as long as its outcome is unknown: each time at any broker.
  private func insist<Value>(
    _ work: (SimulatedBroker) async throws(Refusal) -> Value
  ) async throws(Refusal) -> Value {
    for _ in 1..<Self.triesMost {
      do throws(Refusal) {
        return try await work(chance.pick(brokers))
      } catch  where [.unavailable, .unknownOutcome, .busy].contains(error.code) {
        try? await loop.sleep(for: .milliseconds(500))
      }
    }
    return try await work(chance.pick(brokers))
  }

  // MARK: The end

  private func settle(in scope: LoopScope) async throws -> [String] {
    let other = makeBroker(in: scope)
    defer { other.close() }
    var failures = ["it has not begun to settle"]
    for _ in 0..<60 where !failures.isEmpty {
      let fresh = accounts.map { Client($0) }
      openAll()
      for client in fresh { try? client.open(other.hub) }
      for _ in 0..<100 {
        for client in clients + fresh { try client.pull(room: 8_192) }
        try await loop.sleep(for: .milliseconds(20))
      }
      failures = faults(by: fresh)
      for client in fresh { client.cut() }
    }
    for client in clients { client.cut() }
    return failures
  }

  private func faults(by fresh: [Client]) -> [String] {
    var faults: [String] = []
    let expected = Dictionary(uniqueKeysWithValues: fresh.map { ($0.account, $0.held) })
    for (number, client) in clients.enumerated() {
      let who = "client \(number) of \(client.account)"
      let wanted = expected[client.account, default: []]
      let missing = wanted.subtracting(client.held)
      let left = left[client.account, default: []]
      let kept = client.held.subtracting(wanted).filter { spaces[$0].map { !left.contains($0) } ?? false }
      if !missing.isEmpty { faults.append("\(who) misses \(missing.sorted())") }
      if !kept.isEmpty { faults.append("\(who) still shows \(kept.sorted())") }
      if !client.doubled.isEmpty { faults.append("\(who) was shown \(client.doubled) twice") }
      if client.gaps > 0 { faults.append("\(who) was told of gaps: \(client.gapRanges)") }
    }
    for (account, ids) in marked {
      let shown = ids.intersection(expected[account, default: []])
      if !shown.isEmpty { faults.append("\(account) has marked \(shown.sorted()), which is shown") }
    }
    let first = expected[accounts[0], default: []]
    let lost = acknowledged.subtracting(first)
    if !lost.isEmpty { faults.append("\(lost.sorted()) was acknowledged, and is lost") }
    let texts = first.compactMap { bodies[$0] }
    if Set(texts).count < texts.count { faults.append("a send that was repeated is there twice") }
    return faults
  }
}
