import BelfryModel
import ModelSamples
import TestKit
import Testing

/// The invariants of channels after any operations, by any accounts and in any order: facts that are kept
/// twice agree, nobody is in a place where they may not be, and everybody has been told of exactly the
/// channels that they see.
struct ChannelInvariantTests {
  @Test(arguments: 0..<8)
  func holdAfterEveryOperation(round: Int) throws {
    let seed = TestEnvironment.seed &+ UInt64(round)
    var world = try ChannelWorld(seed: seed)
    for step in 0..<100 {
      let operation = world.operation()
      try world.carryOut(operation, "step \(step), \(operation), seed \(seed)")
    }
  }

  /// If nearly everything were refused, the invariants would hold without showing anything. Rare operations
  /// do not happen in every sequence, so this is always the same one.
  @Test func theSequencesDoEverything() throws {
    var world = try ChannelWorld(seed: 1)
    let words =
      Operations.channels.map { $0.name.word } + [
        "invitationDeclined", "addAllowed", "removeAllowed", "addBlocked", "removeBlocked",
      ]
    let expected = Set(words).subtracting(["changeList"])
    for step in 0..<3_000 where world.done != expected {
      try world.carryOut(world.operation(), "step \(step)")
    }
    #expect(world.done == expected)
  }
}

/// A server of a few accounts of whom anybody tries anything.
private struct ChannelWorld {
  static let server = ServerDesk.server
  static let space = ServerDesk.space
  static let accounts: [AccountID] = ["olivia", "adam", "mia", "max", "cleo", "ann", "ben", "sue"]

  var random: SeededGenerator
  var desk: Desk
  /// The words of what was not refused and changed something.
  var done: Set<String> = []
  /// For each member of the server the channels that it was told of.
  var told: [AccountID: Set<EntityID>] = [:]
  var nextChannel: Int64 = 20

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    desk = try ServerDesk().desk
    desk.limits.channelsPerServer = 8
    _ = try desk.carryOut(RefusalTests.add(ServerDesk.app, ["cleo", "ann", "ben"]))
    for account in Self.accounts { told[account] = seen(by: account) }
  }

  // MARK: The operations that are tried

  mutating func operation() -> any Operation {
    desk.nowMilliseconds += Int64(random.below(30_000))
    switch random.below(6) {
    case 0: return server()
    case 1: return lives()
    case 2, 3: return roster()
    default: return listing()
    }
  }

  private mutating func server() -> any Operation {
    switch random.below(6) {
    case 0, 1: return RefusalTests.add(ServerDesk.app, Self.accounts)
    case 2: return RefusalTests.leave(account())
    case 3: return RefusalTests.kick(actor(), some())
    case 4: return SetSubscription(Self.server, channel: channel(), actor: user(), isSubscribed: flag())
    default:
      return SetAdmin(Self.server, actor: ServerDesk.olivia, account: account(), isAdmin: flag())
    }
  }

  private mutating func lives() -> any Operation {
    switch random.below(4) {
    case 0: return ChannelDesk.close(channel(), actor())
    case 1:
      var update = UpdateChannel(Self.server, id: channel(), actor: actor())
      update.description = flag() ? "high up" : "far down"
      return update
    default:
      nextChannel += 1
      return RefusalTests.open(
        actor(), id: EntityID(nextChannel) ?? 1, type: flag() ? .private : .public,
        membership: random.oneIn(4) ? .everyone : .roster, members: some())
    }
  }

  private mutating func roster() -> any Operation {
    let id = channel()
    switch random.below(9) {
    case 0, 1:
      return JoinChannel(
        Self.server, id: id, actor: Actor(account: account(), isTrusted: random.oneIn(4)))
    case 2, 3: return ChannelDesk.leave(id, one(in: .channelRoster(id)))
    case 4: return ChannelDesk.remove(id, actor(), [one(in: .channelRoster(id))])
    case 5, 6: return ChannelDesk.invite(id, one(in: .channelRoster(id)), some())
    default: return answer(id)
    }
  }

  private mutating func answer(_ id: EntityID) -> any Operation {
    let invited = Self.accounts.filter {
      desk.texts[.request(ChannelDesk.request(id, $0), of: Self.space)] != nil
    }
    let account = invited.isEmpty ? account() : random.pick(invited)
    return ChannelDesk.answer(id, account, accepts: flag())
  }

  private mutating func listing() -> any Operation {
    let id = channel()
    let list = random.pick(ChangeChannelList.List.allCases)
    switch random.below(9) {
    case 0, 1: return ChannelDesk.list(id, actor(), list, some())
    case 2, 3: return ChannelDesk.list(id, actor(), list, adds: false, [one(in: list.table(of: id))])
    case 4, 5, 6:
      let accounts = [one(in: .channelRoster(id))]
      return ChannelDesk.mute(id, actor(), accounts, milliseconds: Int64(1 + random.below(7_200_000)))
    default: return ChannelDesk.unmute(id, actor(), [one(in: .channelMuted(id))])
    }
  }

  /// The owner acts oftener than others would, or little would be allowed.
  private mutating func actor() -> Actor {
    if flag() { return ServerDesk.olivia }
    return Actor(account: account(), isTrusted: random.oneIn(8))
  }
  private mutating func user() -> Actor { Actor(account: account()) }
  private mutating func account() -> AccountID { random.pick(Self.accounts) }
  private mutating func some() -> [AccountID] { (0...random.below(2)).map { _ in account() } }
  private mutating func flag() -> Bool { random.oneIn(2) }

  /// Mostly one of those for whom there is something to be done, or little would be.
  private mutating func one(in table: RecordTable) -> AccountID {
    let accounts = accounts(in: table)
    return accounts.isEmpty || random.oneIn(4) ? account() : random.pick(accounts.sorted())
  }

  private mutating func channel() -> EntityID { random.pick(channels.keys.sorted()) }

  // MARK: The effects of an operation

  mutating func carryOut(_ operation: any Operation, _ place: String) throws {
    let before = desk.lastID
    do throws(Refusal) {
      guard let transaction = try desk.carryOut(operation) else { return }
      if let echo = transaction.echo, echo.operation.scene == .channel { done.insert(echo.operation.word) }
      tell(transaction, since: before, place)
      if let role = operation as? SetAdmin { told[role.account] = seen(by: role.account) }
    } catch {}
    try check(place)
  }

  /// Type 31 is the news that a channel is there or no longer; who enters the server looks for themselves.
  private mutating func tell(_ transaction: Transaction, since before: MessageID, _ place: String) {
    for account in transaction.indexChanges.flatMap(\.accounts) { told[account] = seen(by: account) }
    for (index, announcement) in transaction.announcements.enumerated()
    where announcement.content.type == Catalogue.channelVisibilityUpdate.code {
      guard let id = MessageID(before.raw + 10 * Int64(index + 1)),
        let channel = announcement.content.channelId
      else { continue }
      for account in Self.accounts where isFor(account, announcement.audience, at: id) {
        if announcement.content.attach == ["event": 1] {
          #expect(told[account]?.insert(channel).inserted == true, "\(account) saw \(channel), \(place)")
        } else {
          #expect(told[account]?.remove(channel) != nil, "\(account) did not see \(channel), \(place)")
        }
      }
    }
  }

  private func isFor(_ account: AccountID, _ audience: Audience, at id: MessageID) -> Bool {
    guard let member = desk.member(account, of: Self.space) else { return false }
    return Visibility.of(
      id, audience, type: 0, in: .server(1), for: account, membership: member.membership, read: ReadState(),
      preferences: Preferences(), retentionFloor: .zero, nowMilliseconds: 0
    ).isVisible
  }

  // MARK: The records

  private var channels: [EntityID: ChannelRecord] {
    var channels: [EntityID: ChannelRecord] = [:]
    for (address, text) in desk.texts where address.table == .channels {
      if let id = EntityID(address.field) { channels[id] = RecordJSON.value(ChannelRecord.self, text) }
    }
    return channels
  }

  /// The accounts in each table that is keyed by account.
  private var lists: [RecordTable: Set<AccountID>] {
    var lists: [RecordTable: Set<AccountID>] = [:]
    for address in desk.texts.keys {
      if let account = AccountID(address.field) { lists[address.table, default: []].insert(account) }
    }
    return lists
  }
  private func accounts(in table: RecordTable) -> Set<AccountID> { lists[table] ?? [] }

  private func seen(by account: AccountID) -> Set<EntityID>? {
    desk.member(account, of: Self.space).map { member in
      Set(channels.filter { member.sees($0.value, $0.key) }.keys)
    }
  }

  // MARK: The invariants

  private func check(_ place: String) throws {
    var members: [AccountID: MemberRecord] = [:]
    var known: [AccountID: MemberRecord] = [:]
    for account in Self.accounts {
      members[account] = desk.member(account, of: Self.space)
      known[account] = members[account] ?? desk.former(account, of: Self.space)
    }
    let lists = lists
    let channels = channels
    for account in Self.accounts {
      let seen = members[account].map { member in Set(channels.filter { member.sees($0.value, $0.key) }.keys)
      }
      #expect(told[account] == seen, "\(account), \(place)")
    }
    for (id, channel) in channels { check(id, channel, members, known, lists, place) }
    let tables = Set(lists.keys)
    for number in 10...nextChannel {
      guard let id = EntityID(number), channels[id] == nil else { continue }
      #expect(tables.isDisjoint(with: RecordTable.of(id)), "\(place)")
    }
  }

  private func check(
    _ id: EntityID, _ channel: ChannelRecord, _ members: [AccountID: MemberRecord],
    _ known: [AccountID: MemberRecord], _ lists: [RecordTable: Set<AccountID>], _ place: String
  ) {
    func those(_ records: [AccountID: MemberRecord], _ isOne: (MemberRecord) -> Bool) -> Set<AccountID> {
      Set(records.filter { isOne($0.value) }.keys)
    }
    let now = desk.nowMilliseconds
    func list(_ table: RecordTable) -> Set<AccountID> { lists[table] ?? [] }
    let roster = list(.channelRoster(id))
    let blocked = list(.channelBlocked(id))
    #expect(roster == those(members) { $0.isIn(id) }, "\(id), \(place)")
    #expect(roster.isEmpty || channel.hasRoster, "\(id), \(place)")
    #expect(list(.channelAllowed(id)) == those(members) { $0.isAllowed(in: id) }, "\(id), \(place)")
    #expect(blocked == those(known) { $0.isBlocked(from: id) }, "\(id), \(place)")
    #expect(blocked.isDisjoint(with: roster), "\(id), \(place)")
    #expect(blocked.isEmpty || id != 10, "\(id), \(place)")
    #expect(blocked.isDisjoint(with: those(members) { $0.role != .member }), "\(id), \(place)")
    #expect(
      those(members) { $0.belongs(to: channel, id) && !$0.sees(channel, id) }.isEmpty, "\(id), \(place)")

    let silent = known.filter { $0.value.isMuted(in: id, nowMilliseconds: now) }
    var muted: [AccountID: Int64] = [:]
    for account in list(.channelMuted(id)) {
      let text = desk.texts[RecordAddress(Self.space, .channelMuted(id), account.text)]
      muted[account] = text.flatMap { Int64($0) }.flatMap { $0 > now ? $0 : nil }
    }
    #expect(silent.compactMapValues { $0.channelMutes[id] } == muted, "\(id), \(place)")

    for account in roster.union(blocked) {
      #expect(
        desk.texts[.request(ChannelDesk.request(id, account), of: Self.space)] == nil, "\(id), \(place)")
    }
  }
}
