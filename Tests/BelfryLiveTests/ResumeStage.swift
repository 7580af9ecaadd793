import BelfryFeed
import BelfryLive
import BelfryLoop
import BelfryModel
import BelfryStore
import ModelSamples
import StreamClients
import TestKit
import Testing

/// The people, the servers, and what happens.
final class ResumeStage {
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
  /// The entries that each account could see at some time, by its read state when it was last looked at.
  private var everVisible: [AccountID: Set<MessageID>] = [:]
  /// The events that are in no log, and the streams that are to be told of them: as long as they are not cut,
  /// and the connection is not.
  private var moments: [Moment] = []
  private var breaks = 0
  private var isFaulty = false
  /// To go back to.
  private var checkpoint: MemoryStore.Checkpoint?
  /// The faults in the end, while all streams were open.
  private(set) var settled: [String] = []
  /// The accounts that wanted no notifications at some time: events that are not stored may have been lost on
  /// them.
  private var muted: Set<AccountID> = []
  /// The entries that changed for an account when the store lost its last writes: gone, unread again, or as
  /// they were before.
  private var setBack: [AccountID: Set<MessageID>] = [:]

  private struct Moment {
    var client: Int
    var opening: Int
    var breaks: Int
    /// The number of times that a stream was told of it. A stream that was to be told has it once.
    var wasSent: (Client) -> Int
  }

  init(loop: EventLoop, scope: LoopScope, seed: UInt64) throws {
    self.loop = loop
    chance = Chance(seed: seed)
    var limits = Limits()
    limits.subscriptionThreshold = 4
    memory = MemoryStore(limits: limits)
    store = SlowStore(memory, chance, on: loop)
    live = SlowLiveFeed(memory, on: loop)
    hub = Hub(loop: loop, scope: scope, store: store, live: live, limits: limits)
    hub.countsInterval = .milliseconds(1)
    runner = OperationRunner(store: store, limits: limits)
    accounts = (0..<6).compactMap { AccountID("a\($0)") }
    clients = (accounts + accounts).map { Client($0, wantsCounts: true) }
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
    isFaulty = chance.happens(percent: 50)
    for step in 0..<steps {
      try await act(step)
      live.arrive(atMost: chance.below(4))
      for client in clients where chance.happens(percent: 30) {
        try client.pull(room: 64 + chance.below(1_500))
      }
      await loop.letOthersRun()
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
      switch chance.below(105) {
      case 0..<30: try await send(step, server, account)
      case 30..<32: try await update(step, account)
      case 32: try await recall(account)
      case 100..<105: try await prefer(account)
      case 33..<37: echo(step, server, account)
      case 37..<40: try await pass(step, account)
      case 40..<48:
        _ = try await runner.run(AddMembers(server, actor: app, accounts: [account], requestId: "r"))
      case 48..<53: _ = try await runner.run(KickMembers(server, actor: app, accounts: [account]))
      case 53..<60:
        _ = try await runner.run(
          SetSubscription(
            server, channel: nil, actor: Actor(account: account), isSubscribed: chance.happens(percent: 70)))
      case 60..<66:
        let seen = (everVisible[account] ?? []).sorted()
        if !seen.isEmpty {
          _ = try await hub.feed.markRead(account: account, device: nil, items: [chance.pick(seen)])
        }
      case 66..<67:
        if let upTo = everVisible[account]?.max() {
          _ = try await hub.feed.markRead(account: account, device: nil, upTo: upTo)
        }
      case 67: if isFaulty { breakOff() }
      case 68: if isFaulty { garble(server) }
      case 69..<72: await moveClock()
      case 72..<74: checkpoint = memory.checkpoint()
      case 74..<75: if isFaulty { loseTail() }
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
    case 1: content.toAccids = Set([account, chance.pick(accounts)]).sorted()
    default: content.serverId = server
    }
    for send in try SendNotification.sends(content, by: app, generatedClientId: "c\(step)") {
      _ = try await runner.run(send)
    }
  }

  private func breakOff() {
    breaks += 1
    live.breakOff()
  }

  private func garble(_ server: EntityID) {
    breaks += 1
    if chance.happens(percent: 30) {
      live.sayUnreadable(in: .server(server))
    } else {
      live.garble(from: chance.below(3), count: 1 + chance.below(2))
    }
  }

  /// Something that the account does on none of its devices.
  private func echo(_ step: Int, _ server: EntityID, _ account: AccountID) {
    expect(account) { $0.echoes.count { $0 == .integer(Int64(step)) } }
    var transaction = Transaction(.server(server))
    transaction.echo = DeviceEcho(
      account: account, device: nil, operation: OperationName(.server, "update"),
      target: .integer(Int64(step)))
    _ = memory.commit(transaction)
  }

  private func prefer(_ account: AccountID) async throws(Refusal) {
    let one = Preference(
      space: chance.happens(percent: 50) ? .server(chance.pick(servers)) : nil,
      types: chance.happens(percent: 30) ? [100] : nil, level: chance.pick([.all, .parties, .none]))
    let all = chance.happens(percent: 30) ? [] : [one]
    if one.level == .none { muted.insert(account) }
    _ = try await runner.run(SetPreferences(all, of: account, actor: Actor(account: account)))
  }

  private func recall(_ account: AccountID) async throws(Refusal) {
    let seen = visibleEntries(of: account)
    guard !seen.isEmpty else { return }
    let (space, entry) = chance.pick(seen)
    _ = try await runner.run(RecallNotification(entry, in: space, by: app))
  }

  private func update(_ step: Int, _ account: AccountID) async throws(Refusal) {
    let sent = visibleEntries(of: account).filter {
      RecordJSON.value(NotificationContent.self, $0.entry.contentJSON)?.type == Catalogue.custom.code
    }
    guard !sent.isEmpty else { return }
    let (space, entry) = chance.pick(sent)
    _ = try await runner.run(
      UpdateNotification(entry, in: space, by: app, body: "updated \(step)", ext: nil, status: nil))
  }

  /// A notification that is not stored.
  private func pass(_ step: Int, _ account: AccountID) async throws(Refusal) {
    var content = NotificationContent(type: 100, toType: .accounts)
    content.body = "ephemeral \(step)"
    content.toAccids = [account]
    content.setting.persistEnable = false
    let sends = try SendNotification.sends(content, by: app, generatedClientId: "p\(step)")
    let passed = PassedID()
    expect(account) { [memory, unowned self] client in
      let count = client.ephemeral.count { $0 == "ephemeral \(step)" }
      if count == 0, self.muted.contains(account) { return 1 }
      // An account that marks everything up to a later id as read is not shown it any more.
      guard count == 0, let id = passed.id else { return count }
      return memory.readState(of: account).contains(id, in: .personal(account)) ? 1 : 0
    }
    // At once: streams may come and go while a store is asked.
    let runner = OperationRunner(store: memory, limits: Limits())
    for send in sends { passed.id = try await runner.run(send).commit?.ids.first }
  }

  private func expect(_ account: AccountID, _ wasSent: @escaping (Client) -> Int) {
    guard live.isSubscribed(.personal(account)), hub.isHearing(.personal(account)) else { return }
    for (number, client) in clients.enumerated() where client.account == account && client.isOpen {
      moments.append(
        Moment(client: number, opening: client.openings, breaks: breaks, wasSent: wasSent))
    }
  }

  /// It steps, too, by up to an hour either way; and relays are late by however much.
  private func moveClock() async {
    if chance.happens(percent: 10) { relay() }
    memory.clockMilliseconds += Int64(chance.below(20_000))
    guard chance.happens(percent: 30) else { return }
    memory.clockMilliseconds += Int64(chance.below(7_200_000)) - 3_600_000
  }

  /// The store dies, and comes back without its last writes.
  private func loseTail() {
    guard let last = checkpoint else { return }
    checkpoint = nil
    observe()
    let before = accounts.map { (contents: contents(visibleTo: $0), index: memory.index(of: $0)) }
    memory.restore(last)
    // It takes time to come back. Within the same millisecond the same ids would be given again.
    memory.clockMilliseconds += 1
    breakOff()
    for (account, before) in zip(accounts, before) {
      let now = contents(visibleTo: account)
      let ids = everVisible[account, default: []].union(now.keys)
      setBack[account, default: []].formUnion(
        ids.filter { before.contents[$0] == nil || before.contents[$0] != now[$0] })
      // An index that has forgotten a space learns of it again, and the entries that are seen by it are shown
      // again.
      let forgotten = Set(before.index).symmetricDifference(memory.index(of: account)).map(\.space)
      for space in forgotten { setBack[account, default: []].formUnion(allEntries(of: space).map(\.id)) }
    }
  }

  private func contents(visibleTo account: AccountID) -> [MessageID: String] {
    Dictionary(visibleEntries(of: account).map { ($0.entry.id, $0.entry.contentJSON) }) { first, _ in first }
  }

  private func relay() {
    for partition in memory.partitionsToRelay() { memory.relayOutbox(of: partition) }
  }

  private func observe() {
    for account in accounts { everVisible[account, default: []].formUnion(visible(to: account)) }
  }

  private func visible(to account: AccountID) -> Set<MessageID> {
    Set(visibleEntries(of: account).map(\.entry.id))
  }

  private func allEntries(of space: SpaceID) -> [LogEntry] {
    (try? memory.entries([LogRequest(space, after: .zero, limit: 100_000)]))?.first ?? []
  }

  private func visibleEntries(of account: AccountID) -> [(space: SpaceID, entry: LogEntry)] {
    var visible: [(SpaceID, LogEntry)] = []
    for space in memory.index(of: account).map(\.space) + [.personal(account)] {
      let membership: Membership
      if space.kind == .server {
        let records = memory.records([.member(account, of: space), .former(account, of: space)])
        let text = records.text(.member(account, of: space)) ?? records.text(.former(account, of: space))
        membership = text.flatMap { MemberRecord(text: $0)?.membership } ?? .never
      } else {
        membership = .always
      }
      let all = allEntries(of: space)
      let read = memory.readState(of: account)
      let preferences = try? memory.records([.preferences(of: account)]).preferences(of: account)
      for entry in all
      where entry.updates == nil
        && Visibility.of(
          entry.id, entry.audience, type: entry.type, isRecalled: entry.isRecalled, in: space, for: account,
          membership: membership, read: read,
          preferences: preferences ?? Preferences(), retentionFloor: .zero,
          nowMilliseconds: memory.clockMilliseconds
        ).isVisible
      {
        visible.append((space, entry))
      }
    }
    return visible
  }

  /// As everybody who asks is told, from what is visible.
  private func counts(of account: AccountID) -> JSONValue? {
    var counts = UnreadCounts()
    for (space, entry) in visibleEntries(of: account) { counts.add(entry, in: space) }
    return RecordJSON.value(String(decoding: counts.json, as: UTF8.self))
  }

  private func settle() async throws {
    relay()
    for client in clients { try client.open(hub) }
    // A consumer that failed to reach the store waits a while before the next try, so this takes real time.
    let deadline = ContinuousClock.now + .seconds(60)
    var round = 0
    while ContinuousClock.now < deadline {
      live.arrive(atMost: 1_000)
      for client in clients { try client.pull(room: 8_192) }
      for _ in 0..<20 { await loop.letOthersRun() }
      round += 1
      if round % 20 == 0 {
        observe()
        if failures().isEmpty { break }
        try await loop.sleep(for: .milliseconds(10))
      }
    }
    observe()
    let failures = failures()
    for client in clients { client.cut() }
    settled = failures
  }

  func failures() -> [String] {
    var failures: [String] = []
    for (number, client) in clients.enumerated() {
      let who = "client \(number) of \(client.account)"
      let setBack = setBack[client.account] ?? []
      let doubled = Set(client.doubled).subtracting(setBack)
      if !doubled.isEmpty { failures.append("\(who) was shown \(doubled.sorted()) twice") }
      if client.counts != counts(of: client.account) {
        failures.append("\(who) was told that unread is \(client.counts.map(RecordJSON.text) ?? "nothing")")
      }
      let unwanted = client.held.subtracting(visible(to: client.account)).subtracting(setBack)
        .filter { isKept($0, by: client.account) }
      if !unwanted.isEmpty { failures.append("\(who) still shows \(unwanted.sorted())") }
      let missing = visible(to: client.account).subtracting(client.held).subtracting(setBack)
      if !missing.isEmpty { failures.append("\(who) misses \(missing.sorted())") }
      let foreign = Set(client.received).subtracting(everVisible[client.account] ?? [])
      if !foreign.isEmpty { failures.append("\(who) was shown \(foreign.sorted())") }
      let unknown = client.held.subtracting(setBack).filter { isRead($0, by: client.account) }
      for (_, entry) in visibleEntries(of: client.account)
      where client.held.contains(entry.id) && !setBack.contains(entry.id) {
        let body = RecordJSON.value(NotificationContent.self, entry.contentJSON)?.body ?? ""
        if client.bodies[entry.id] != body {
          failures.append("\(who) was not told that \(entry.id) is \(body) now")
        }
      }
      let kept = client.held.subtracting(setBack).filter { isRecalled($0) }
      if !kept.isEmpty { failures.append("\(who) was not told that \(kept.sorted()) is recalled") }
      if !unknown.isEmpty { failures.append("\(who) was not told that it has read \(unknown.sorted())") }
    }
    return failures + momentFailures()
  }

  /// Whether it is there and unread, so that only what the account prefers decides whether it is shown. Not of spaces
  /// that it has left, as an index may not say so yet.
  private func isKept(_ id: MessageID, by account: AccountID) -> Bool {
    guard let space = memory.search(for: id).space, !isRead(id, by: account), !isRecalled(id) else {
      return false
    }
    return memory.index(of: account).contains { $0.space == space && $0.isMember }
      || space == .personal(account)
  }

  private func isRecalled(_ id: MessageID) -> Bool {
    guard let space = memory.search(for: id).space else { return false }
    let entries = try? memory.entries([LogRequest(space, after: id.predecessor, through: id, limit: 1)])
    return entries?[0].first?.isRecalled == true
  }

  private func isRead(_ id: MessageID, by account: AccountID) -> Bool {
    let spaces = memory.index(of: account).map(\.space) + [.personal(account)]
    let holding = spaces.first { space in
      (try? memory.entries([LogRequest(space, after: id.predecessor, through: id, limit: 1)]))?[0].first?.id
        == id
    }
    // Read entries of the account's own log are deleted.
    return memory.readState(of: account).contains(id, in: holding ?? .personal(account))
  }

  private func momentFailures() -> [String] {
    var failures: [String] = []
    for (number, moment) in moments.enumerated() {
      let client = clients[moment.client]
      let told = moment.wasSent(client)
      let who = "client \(moment.client) of \(client.account)"
      if told > 1 { failures.append("\(who) was told moment \(number) \(told) times") }
      if told == 0, client.openings == moment.opening, moment.breaks == breaks {
        failures.append("\(who) was not told moment \(number)")
      }
    }
    return failures
  }
}
