/// The owner and the admins change the allow list and the block list of a channel.
///
/// An account on the allow list of a private channel sees it and may join it; for a public channel the list has no effect.
/// An account on the block list does not see the channel, is removed from its roster, can neither join nor be invited, and
/// receives nothing of it even where every member belongs to it. The owner and the admins cannot be blocked, and an account
/// that becomes one is unblocked. The default channel has no block list: accounts are banned from the server instead. The
/// block list takes precedence. It outlasts the membership, so that leaving and joining again does not lift it; the allow
/// list ends with the membership.
package struct ChangeChannelList: SpaceOperation {
  /// The `type` of notification 19.
  package enum List: Int, Sendable, CaseIterable {
    case allow = 1
    case block = 2

    package func table(of channel: EntityID) -> RecordTable {
      switch self {
      case .allow: .channelAllowed(channel)
      case .block: .channelBlocked(channel)
      }
    }
  }

  package static let name = OperationName(.channel, "changeList")
  package static let names = List.allCases.flatMap { list in [true, false].map { name(list, adds: $0) } }
  private static func name(_ list: List, adds: Bool) -> OperationName {
    OperationName(.channel, (adds ? "add" : "remove") + (list == .allow ? "Allowed" : "Blocked"))
  }
  package static let access = Access.administrators

  package var space: SpaceID
  package var actor: Actor
  package var id: EntityID
  package var list: List
  /// False: takes the accounts off the list.
  package var adds: Bool
  package var accounts: [AccountID]

  package init(
    _ server: EntityID, id: EntityID, actor: Actor, list: List, adds: Bool, accounts: [AccountID]
  ) {
    space = .server(server)
    self.id = id
    self.actor = actor
    self.list = list
    self.adds = adds
    self.accounts = accounts.withoutRepeats
  }

  package var echoName: OperationName { Self.name(list, adds: adds) }
  package var channelID: EntityID? { id }
  package var concerns: [RecordAddress] {
    accounts.flatMap { [.member($0, of: space), .former($0, of: space), entry(of: $0)] }
  }
  package var counts: [RecordTable] { [list.table(of: id)] }

  private func entry(of account: AccountID) -> RecordAddress {
    RecordAddress(space, list.table(of: id), account.text)
  }

  /// The accounts that were added to the list, or removed from it, and are notified.
  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) -> [AccountID] {
    try draft.requireSome(accounts)
    let channel = try draft.records.channel(id, of: space)
    if list == .block, id == draft.settings.defaultChannelId {
      throw Refusal(
        .forbidden,
        "nobody can be blocked from the default channel; ban the accounts from the server instead",
        field: "channelId")
    }
    if adds { for account in accounts { try requireListable(try draft.knownMember(account)) } }
    let changed = accounts.filter { (draft.records.text(entry(of: $0)) != nil) != adds }
    if changed.isEmpty { return [] }
    var left: [AccountID] = []
    for account in changed {
      try change(account, &draft)
      if blocks, try remove(account, &draft) { left.append(account) }
    }
    draft.announce(
      Catalogue.channelListUpdateMember,
      attach: [
        "channelId": .string(id.text), "type": .integer(Int64(list.rawValue)), "opeType": adds ? 1 : 2,
        "accids": .accids(changed),
      ], parties: changed, channel: channel.scene(id))
    draft.announceLeft(left, id, channel)
    try draft.announceVisibility(of: id, channel, changedFor: changed)
    return changed
  }

  private var blocks: Bool { adds && list == .block }

  private func requireListable(_ member: MemberRecord) throws(Refusal) {
    if list == .block, member.role != .member {
      throw Refusal(.forbidden, "the owner and the admins cannot be blocked", field: "accids")
    }
  }

  private func change(_ account: AccountID, _ draft: inout Draft<ServerRecord>) throws(Refusal) {
    if adds {
      try draft.put(
        entry(of: account), MessageID.beforeThisCommit.streamForm, atMost: Limits.accountsPerList)
    } else {
      draft.change(entry(of: account), to: nil)
    }
    try draft.changeMember(account, seesOtherwise: true) { draft, member throws(Refusal) in
      switch list {
      case .allow:
        if adds { try draft.requireRoom(for: id, in: member, of: account) }
        try draft.set(
          &member.membership.channels[id, default: .init()].allowed, to: adds,
          "\(account) has been on the allow list of channel \(id)")
      case .block: try draft.block(&member, from: id, adds, account)
      }
    }
  }

  /// Whether the account was in the roster.
  private func remove(_ account: AccountID, _ draft: inout Draft<ServerRecord>) throws(Refusal) -> Bool {
    draft.dropInvitation(to: id, of: account)
    guard let member = try draft.member(account), member.isIn(id) else { return false }
    draft.leaveChannel(id, account, member)
    return true
  }
}
