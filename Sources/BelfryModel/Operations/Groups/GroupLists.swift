/// The owner and the admins put members on the list of those who may send although all are muted, or take
/// them off.
package struct SetGroupAllowList: SpaceOperation {
  package static let name = OperationName(.group, "allow")
  package static let removing = OperationName(.group, "disallow")
  package static let names = [name, removing]
  package static let access = Access.administrators

  package var space: SpaceID
  package var actor: Actor
  package var accounts: [AccountID]
  package var isListed: Bool

  package init(_ id: EntityID, actor: Actor, accounts: [AccountID], isListed: Bool) {
    space = .group(id)
    self.actor = actor
    self.accounts = accounts.withoutRepeats
    self.isListed = isListed
  }

  package var echoName: OperationName { isListed ? Self.name : Self.removing }
  package var concerns: [RecordAddress] { accounts.map { .member($0, of: space) } }

  package func carryOut(_ draft: inout Draft<GroupRecord>) throws(Refusal) {
    try draft.requireSome(accounts)
    let changed = try draft.changeRights(
      of: accounts, in: .allowed, as: isListed ? "\(draft.nowMilliseconds)" : nil
    ) { $0.isAllowListed = isListed }
    if changed.isEmpty { return }
    draft.announce(
      isListed ? Catalogue.groupAllowListAdded : Catalogue.groupAllowListRemoved,
      attach: ["accids": .accids(changed)], parties: changed)
  }
}

/// The owner and the admins block accounts, members or not: they are out and cannot return, be invited or
/// apply before they are unblocked.
package struct SetGroupBlockList: SpaceOperation {
  package static let name = OperationName(.group, "block")
  package static let removing = OperationName(.group, "unblock")
  package static let names = [name, removing]
  package static let access = Access.administrators

  package var space: SpaceID
  package var actor: Actor
  package var accounts: [AccountID]
  package var isBlocked: Bool

  package init(_ id: EntityID, actor: Actor, accounts: [AccountID], isBlocked: Bool) {
    space = .group(id)
    self.actor = actor
    self.accounts = accounts.withoutRepeats
    self.isBlocked = isBlocked
  }

  package var echoName: OperationName { isBlocked ? Self.name : Self.removing }
  package var concerns: [RecordAddress] { accounts.flatMap { GroupRecord.joinNeeds($0, space) } }
  package var counts: [RecordTable] { [.banned] }

  package func carryOut(_ draft: inout Draft<GroupRecord>) throws(Refusal) {
    try draft.requireSome(accounts)
    var out: [AccountID] = []
    for account in accounts {
      let address = RecordAddress.banned(account, from: space)
      guard (draft.records.text(address) != nil) != isBlocked else { continue }
      guard isBlocked else {
        draft.change(address, to: nil)
        continue
      }
      if let member = try draft.member(account) {
        try draft.requireRankAbove(member)
        draft.remove(account, member)
        out.append(account)
      }
      draft.closeRequests(of: account)
      let ban = BanRecord(by: actor.account, since: draft.nowMilliseconds)
      try draft.put(address, try RecordJSON.text(ban), atMost: Limits.bannedPerSpace)
    }
    draft.announceRemoved(out, reason: .blocked)
  }
}
