import BelfryModel
import ModelSamples
import TestKit
import Testing

/// The invariants of a group after any operations, by any accounts and in any order: facts that are kept
/// twice agree, and nobody is in a place where they may not be.
struct GroupInvariantTests {
  @Test(arguments: 0..<16)
  func holdAfterEveryOperation(round: Int) throws {
    let seed = TestEnvironment.seed &+ UInt64(round)
    // The seed decides the style and not the round, since only the seed is printed.
    let style = GroupStyle.allCases[Int(seed % UInt64(GroupStyle.allCases.count))]
    var world = try GroupWorld(seed: seed, style: style)
    for step in 0..<120 {
      let operation = world.operation()
      do throws(Refusal) { try world.desk.carryOut(operation) } catch {}
      let broken = try world.broken()
      #expect(broken.isEmpty, "step \(step), \(operation), seed \(seed)")
      if !broken.isEmpty { return }
    }
  }

  /// If nearly everything were refused, the invariants would hold without showing anything. Rare operations
  /// (accepting before being let in otherwise) do not happen in every sequence, so this is always the same
  /// one.
  @Test func theSequencesDoEverything() throws {
    var world = try GroupWorld(seed: 1, style: .publicApproval)
    var done: Set<String> = []
    for _ in 0..<2_000 {
      let operation = world.operation()
      do throws(Refusal) {
        if let echo = try world.desk.carryOut(operation)?.echo { done.insert(echo.operation.word) }
      } catch {}
    }
    let words =
      Operations.groups.map { $0.name.word } + [
        "inviteDecline", "applyDecline", "removeAdmin", "disallow", "unblock", "unmute", "unmuteAll",
        "resumeReceiving",
      ]
    #expect(done == Set(words).subtracting(["destroy"]))
  }
}

/// A group of a few accounts of whom anybody tries anything.
private struct GroupWorld {
  static let group = GroupDesk.group
  static let space = GroupDesk.space
  static let accounts: [AccountID] = ["olga", "adam", "abe", "mia", "max", "mo", "ali", "ben", "ivy", "zed"]

  var random: SeededGenerator
  var desk: Desk

  init(seed: UInt64, style: GroupStyle) throws {
    random = SeededGenerator(seed: seed)
    desk = try GroupDesk.desk(style)
  }

  // MARK: The operations that are tried

  mutating func operation() -> any Operation {
    desk.nowMilliseconds += Int64(random.below(120_000))
    switch random.below(3) {
    case 0: return membership()
    case 1: return rights()
    default: return contents()
    }
  }

  /// The owner acts oftener than others would, or little would be allowed.
  private mutating func actor() -> Actor {
    if flag(), let owner = desk.group?.owner { return Actor(account: owner) }
    return Actor(account: random.pick(Self.accounts), isTrusted: random.oneIn(8))
  }

  private mutating func some() -> [AccountID] {
    (0...random.below(2)).map { _ in random.pick(Self.accounts) }
  }
  /// Mostly one of those for whom there is something to be done, or little would be.
  private mutating func one(of accounts: some Collection<AccountID>) -> AccountID {
    accounts.isEmpty || random.oneIn(4) ? random.pick(Self.accounts) : random.pick(accounts.sorted())
  }

  private mutating func one(on list: RecordTable) -> [AccountID] { [one(of: desk.accounts(in: list))] }

  private mutating func one(waitingFor id: (AccountID) -> RequestID) -> AccountID {
    one(of: Self.accounts.filter { desk.texts[.request(id($0), of: Self.space)] != nil })
  }

  private mutating func flag() -> Bool { random.oneIn(2) }

  private mutating func membership() -> any Operation {
    let account = random.pick(Self.accounts)
    switch random.below(12) {
    case 0, 1, 9, 10: return GroupDesk.invite(actor(), some())
    case 2, 3:
      let account = one(waitingFor: GroupDesk.invitation)
      return AnswerGroupInvitation(
        Self.group, actor: Actor(account: account), request: GroupDesk.invitation(account), isAccepted: flag()
      )
    case 4, 5: return GroupDesk.apply(account)
    case 6, 7:
      let account = one(waitingFor: GroupDesk.application)
      return AnswerGroupApplication(
        Self.group, actor: actor(), request: GroupDesk.application(account), isApproved: flag())
    case 8: return GroupDesk.leave(account)
    default: return GroupDesk.remove(actor(), some())
    }
  }

  private mutating func rights() -> any Operation {
    let account = random.pick(Self.accounts)
    switch random.below(11) {
    case 0: return GroupDesk.handOver(actor(), to: account)
    case 1, 2: return GroupDesk.admin(actor(), account, flag())
    case 3: return GroupDesk.allow(actor(), some())
    case 4: return GroupDesk.allow(actor(), one(on: .allowed), false)
    case 5: return GroupDesk.block(actor(), some())
    case 6: return GroupDesk.block(actor(), one(on: .banned), false)
    case 7: return GroupDesk.mute(actor(), some(), Int64(1 + random.below(7_200_000)))
    case 8: return GroupDesk.mute(actor(), one(on: .muted), nil)
    case 9: return GroupDesk.muteAll(actor(), flag())
    default:
      let stopped = Self.accounts.filter { desk.groupMember($0)?.membership.stopped.current != nil }
      return flag() ? GroupDesk.receive(account, false) : GroupDesk.receive(one(of: stopped), true)
    }
  }

  private mutating func contents() -> any Operation {
    switch random.below(6) {
    case 0: return GroupDesk.pin(actor(), flag() ? "at seven" : "at eight")
    case 1: return GroupDesk.addFile(actor(), EntityID(Int64(1 + random.below(5))) ?? 1)
    case 2: return GroupDesk.removeFile(actor(), EntityID(Int64(1 + random.below(5))) ?? 1)
    case 3:
      return UpdateAccount(random.pick(Self.accounts), actor: GroupDesk.app, autoAcceptInvitation: flag())
    case 4: return GroupDesk.attributes(actor(), random.pick(Self.accounts), ["bell": flag() ? "treble" : ""])
    default:
      var update = UpdateGroup(Self.group, actor: actor())
      update.inviteNeedConfirm = random.oneIn(3)
      update.maxMembers = 6 + random.below(5)
      return update
    }
  }

  // MARK: The invariants

  /// In words, what does not hold.
  func broken() throws -> [String] {
    let group = try #require(desk.group)
    let now = desk.nowMilliseconds
    var members: [AccountID: MemberRecord] = [:]
    for account in desk.accounts(in: .roster) { members[account] = desk.groupMember(account) }
    func those(_ isOne: (MemberRecord) -> Bool) -> Set<AccountID> {
      Set(members.filter { isOne($0.value) }.keys)
    }
    let silent = members.filter { $0.value.rights.isMuted(nowMilliseconds: now) }
    let blocked = desk.accounts(in: .banned)
    let rules = [
      "no more members than it holds": members.count <= group.maxMembers,
      "one owner": those { $0.role == .owner } == [group.owner],
      "the admins agree": those { $0.role == .admin } == Set(group.admins),
      "each admin once": group.admins.count == Set(group.admins).count,
      "members belong": those { $0.membership.intervals.current != nil } == Set(members.keys),
      "members are not former": desk.accounts(in: .former).isDisjoint(with: members.keys),
      "who runs it receives": those { $0.membership.stopped.current != nil && $0.role != .member }.isEmpty,
      "the owner is not muted": silent[group.owner] == nil,
      "the muted agree": silent.compactMapValues(\.rights.mutedUntilMilliseconds) == muted(now),
      "the allowed agree": those { $0.rights.isAllowListed } == desk.accounts(in: .allowed),
      "nobody blocked is in": blocked.isDisjoint(with: members.keys),
      "profiles are members'": desk.accounts(in: .profiles).isSubset(of: members.keys),
      "nobody waits in vain": blocked.union(members.keys).allSatisfy { account in
        [GroupDesk.invitation(account), GroupDesk.application(account)].allSatisfy {
          desk.texts[.request($0, of: Self.space)] == nil
        }
      },
    ]
    return rules.filter { !$0.value }.map(\.key).sorted()
  }

  /// Until when the muted are muted, as the table has it.
  private func muted(_ now: Int64) -> [AccountID: Int64] {
    var muted: [AccountID: Int64] = [:]
    for account in desk.accounts(in: .muted) {
      let until = desk.texts[.muted(account, in: Self.space)].flatMap { Int64($0) }
      muted[account] = until.flatMap { $0 > now ? $0 : nil }
    }
    return muted
  }
}
