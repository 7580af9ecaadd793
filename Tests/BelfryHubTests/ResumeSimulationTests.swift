import BelfryHub
import BelfryLoop
import BelfryModel
import BelfryStore
import Foundation
import ModelSamples
import Testing

/// Random people in random servers with streams that are cut at random, while everything that takes time
/// takes a random while. Each must be shown what is theirs exactly once, in order.
@Suite struct ResumeSimulationTests {
  @Test(arguments: 0..<10) func everyEntryOnceInOrder(run: Int) async throws {
    let seed =
      ProcessInfo.processInfo.environment["BELFRY_SEED"].flatMap { UInt64($0) } ?? .random(in: 0 ... .max)
    let failures = try await failures(seed: seed, steps: 250)
    #expect(failures.isEmpty, "BELFRY_SEED=\(seed): \(failures.prefix(3).joined(separator: "; "))")
  }

  /// An error is one of them, so that its seed is printed, too.
  private func failures(seed: UInt64, steps: Int) async throws -> [String] {
    try await withLoop { loop, scope in
      do {
        let stage = try Stage(loop: loop, scope: scope, seed: seed)
        try await stage.play(steps: steps)
        return stage.failures()
      } catch {
        return ["\(error)"]
      }
    }
  }
}

/// The people, the servers, and what happens.
private final class Stage {
  private let chance: Chance
  private let memory: MemoryStore
  private let store: SlowStore
  private let live: SlowLiveFeed
  private let loop: EventLoop
  private let hub: Hub
  private let runner: OperationRunner
  private let accounts: [AccountID]
  private let clients: [Client]
  private var servers: [EntityID] = []
  private let app = Actor(account: nil, isTrusted: true)
  /// What each account could see at some time, by what was read when it was last looked at.
  private var everVisible: [AccountID: Set<MessageID>] = [:]
  private var sinceRelay: Int64 = 0

  init(loop: EventLoop, scope: LoopScope, seed: UInt64) throws {
    self.loop = loop
    chance = Chance(seed: seed)
    var limits = Limits()
    limits.subscriptionThreshold = 4
    memory = MemoryStore(limits: limits)
    store = SlowStore(memory, chance)
    live = SlowLiveFeed(memory)
    hub = Hub(loop: loop, scope: scope, store: store, live: live, limits: limits)
    runner = OperationRunner(store: store, limits: limits)
    accounts = (0..<6).compactMap { AccountID("a\($0)") }
    clients = (accounts + accounts).map { Client($0) }
  }

  func play(steps: Int) async throws {
    for (number, id) in Self.serverIDs.enumerated() {
      guard let channel = EntityID(Int64(100_000 + number)) else { continue }
      let owner = chance.pick(accounts)
      _ = try await runner.run(
        CreateServer(id: id, defaultChannel: channel, owner: owner, actor: Actor(account: owner), name: "s"))
      servers.append(id)
    }
    // With many of them people come, go and come back before anybody's index says so.
    store.relayFailurePercent = chance.pick([20, 70])
    for step in 0..<steps {
      try await act(step)
      live.arrive(atMost: chance.below(4))
      for client in clients where chance.happens(percent: 30) {
        try client.pull(room: 64 + chance.below(1_500))
      }
      await Task.yield()
      observe()
    }
    try await settle()
  }

  /// Three of one partition: what is passed by there is not found again by coming back, as a cursor has one place
  /// for all of them.
  private static let serverIDs: [EntityID] = {
    let first: EntityID = 1
    return Array(SpaceID.server(first).partition.servers.prefix(3)) + [2, 3]
  }()

  private func act(_ step: Int) async throws {
    let account = chance.pick(accounts)
    let server = chance.pick(servers)
    do throws(Refusal) {
      switch chance.below(100) {
      case 0..<40: try await send(step, server, account)
      case 40..<48:
        _ = try await runner.run(AddMembers(server, actor: app, accounts: [account], requestId: "r"))
      case 48..<53: _ = try await runner.run(KickMembers(server, actor: app, accounts: [account]))
      case 53..<60:
        _ = try await runner.run(
          SetSubscription(
            server, channel: nil, actor: Actor(account: account), isSubscribed: chance.happens(percent: 70)))
      case 60..<66:
        let seen = Array(everVisible[account] ?? [])
        if !seen.isEmpty {
          _ = try await hub.markRead(account: account, device: nil, items: [chance.pick(seen)])
        }
      case 66..<67:
        if let upTo = everVisible[account]?.max() {
          _ = try await hub.markRead(account: account, device: nil, upTo: upTo)
        }
      case 67..<69: live.breakOff()
      case 69..<75: await moveClock()
      case 75..<85: try? chance.pick(clients).open(hub)
      case 85..<94: for _ in 0..<3 { chance.pick(clients).cut() }
      default: for client in clients { try? client.open(hub) }
      }
    } catch {
      // Refusals are answers like any other here: a stranger cannot subscribe, an owner cannot be kicked.
    }
  }

  private func send(_ step: Int, _ server: EntityID, _ account: AccountID) async throws(Refusal) {
    var content = NotificationContent(type: 100, toType: .server)
    content.body = "\(step)"
    switch chance.below(4) {
    case 0: content.toAccids = [account]
    case 1: content.toAccids = Array(Set([account, chance.pick(accounts)]))
    default: content.serverId = server
    }
    for send in try SendNotification.sends(content, by: app, generatedClientId: "c\(step)") {
      _ = try await runner.run(send)
    }
  }

  /// Relays may be late by as much as the safety window promises, not by more.
  private func moveClock() async {
    let milliseconds = Int64(chance.below(20_000))
    sinceRelay += milliseconds
    if sinceRelay > 40_000 { relay() }
    memory.clockMilliseconds += milliseconds
  }

  private func relay() {
    for partition in memory.partitionsToRelay() { memory.relayOutbox(of: partition) }
    sinceRelay = 0
  }

  private func observe() {
    for account in accounts { everVisible[account, default: []].formUnion(visible(to: account)) }
  }

  private func visible(to account: AccountID) -> Set<MessageID> {
    var ids: Set<MessageID> = []
    for space in memory.index(of: account).map(\.space) + [.personal(account)] {
      let standing: Standing
      if space.kind == .server {
        let records = memory.records([.member(account, of: space), .former(account, of: space)])
        let text = records.text(.member(account, of: space)) ?? records.text(.former(account, of: space))
        standing = text.flatMap { MemberRecord(text: $0)?.standing } ?? .stranger
      } else {
        standing = .owner
      }
      let all = (try? memory.entries([LogRequest(space, after: .zero, limit: 100_000)]))?.first ?? []
      for entry in all
      where Visibility.of(
        entry.id, entry.audience, for: account, standing: standing, read: memory.readState(of: account),
        retentionFloor: .zero
      ).isVisible {
        ids.insert(entry.id)
      }
    }
    return ids
  }

  private func settle() async throws {
    relay()
    for client in clients { try client.open(hub) }
    // Who failed to reach the store waits a while before the next try, so this takes real time.
    let deadline = ContinuousClock.now + .seconds(60)
    var round = 0
    while ContinuousClock.now < deadline {
      live.arrive(atMost: 1_000)
      for client in clients { try client.pull(room: 8_192) }
      for _ in 0..<20 { await Task.yield() }
      round += 1
      if round % 20 == 0 {
        observe()
        if failures().isEmpty { break }
        try await loop.sleep(for: .milliseconds(10))
      }
    }
    observe()
    for client in clients { client.cut() }
  }

  func failures() -> [String] {
    var failures: [String] = []
    for (number, client) in clients.enumerated() {
      let who = "client \(number) of \(client.account)"
      let received = Set(client.received)
      if received.count != client.received.count { failures.append("\(who) was shown something twice") }
      let missing = visible(to: client.account).subtracting(received)
      if !missing.isEmpty { failures.append("\(who) misses \(missing.sorted())") }
      let foreign = received.subtracting(everVisible[client.account] ?? [])
      if !foreign.isEmpty { failures.append("\(who) was shown \(foreign.sorted())") }
    }
    return failures
  }
}
