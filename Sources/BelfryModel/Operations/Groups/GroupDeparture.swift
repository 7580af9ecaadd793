/// Any member but the owner may leave.
package struct LeaveGroup: SpaceOperation {
  package static let name = OperationName(.group, "leave")
  package static let access = Access.members

  package var space: SpaceID
  package var actor: Actor

  package init(_ id: EntityID, actor: Actor) {
    space = .group(id)
    self.actor = actor
  }

  package func carryOut(_ draft: inout Draft<GroupRecord>) throws(Refusal) {
    let account = try draft.actingAccount()
    let member = try draft.requireMember()
    guard member.role != .owner else {
      throw Refusal(.forbidden, "the owner cannot leave; hand the group over or delete it")
    }
    draft.remove(account, member)
    draft.announceLeft([account])
  }
}

/// The owner and the admins remove members, who may join again. Nobody removes the owner, and only the owner an admin.
package struct RemoveGroupMembers: SpaceOperation {
  package static let name = OperationName(.group, "kick")
  package static let access = Access.administrators

  package var space: SpaceID
  package var actor: Actor
  package var accounts: [AccountID]

  package init(_ id: EntityID, actor: Actor, accounts: [AccountID]) {
    space = .group(id)
    self.actor = actor
    self.accounts = accounts.withoutRepeats
  }

  package var concerns: [RecordAddress] { accounts.map { .member($0, of: space) } }

  package func carryOut(_ draft: inout Draft<GroupRecord>) throws(Refusal) {
    try draft.requireSome(accounts)
    for account in accounts {
      let member = try draft.knownMember(account)
      try draft.requireRankAbove(member)
      draft.remove(account, member)
    }
    draft.announceRemoved(accounts, reason: .removed)
  }
}
