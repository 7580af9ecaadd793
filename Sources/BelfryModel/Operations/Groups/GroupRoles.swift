/// The owner makes a member the owner and becomes an ordinary member.
package struct HandOverGroup: SpaceOperation {
  package static let name = OperationName(.group, "assignOwner")
  package static let access = Access.owner

  package var space: SpaceID
  package var actor: Actor
  /// The new owner.
  package var account: AccountID

  package init(_ id: EntityID, actor: Actor, to account: AccountID) {
    space = .group(id)
    self.actor = actor
    self.account = account
  }

  package var accounts: [AccountID] { [account] }
  package var concerns: [RecordAddress] { [.member(account, of: space)] }

  /// The record of the owner, who is not the actor if a trusted caller acts.
  package func further(_ records: Records) -> [RecordAddress] {
    records.text(.settings(space)).flatMap { RecordJSON.value(GroupRecord.self, $0) }
      .map { [.member($0.owner, of: space)] } ?? []
  }

  package func carryOut(_ draft: inout Draft<GroupRecord>) throws(Refusal) {
    _ = try draft.knownMember(account, field: "accid")
    let owner = draft.settings.owner
    guard account != owner else { return }
    _ = try draft.give(.member, to: owner)
    _ = try draft.give(.owner, to: account)
    draft.announce(
      Catalogue.groupOwnerChanged,
      attach: ["oldOwner": .string(owner.text), "newOwner": .string(account.text)])
  }
}

/// The owner makes a member an admin, or an ordinary member again.
package struct SetGroupAdmin: SpaceOperation {
  package static let name = OperationName(.group, "addAdmin")
  package static let removing = OperationName(.group, "removeAdmin")
  package static let names = [name, removing]
  package static let access = Access.owner

  package var space: SpaceID
  package var actor: Actor
  package var account: AccountID
  package var isAdmin: Bool

  package init(_ id: EntityID, actor: Actor, account: AccountID, isAdmin: Bool) {
    space = .group(id)
    self.actor = actor
    self.account = account
    self.isAdmin = isAdmin
  }

  package var echoName: OperationName { isAdmin ? Self.name : Self.removing }
  package var accounts: [AccountID] { [account] }
  package var concerns: [RecordAddress] { [.member(account, of: space)] }

  package func carryOut(_ draft: inout Draft<GroupRecord>) throws(Refusal) {
    try draft.requireNotOwner(account)
    guard try draft.give(isAdmin ? .admin : .member, to: account) else { return }
    draft.announce(
      isAdmin ? Catalogue.groupAdminAdded : Catalogue.groupAdminRemoved,
      attach: ["accid": .string(account.text)], parties: [account])
  }
}

extension Draft<GroupRecord> {
  /// Gives a member the role. True if the role was another before. The owner and the admins hear everything
  /// in the group, and nobody may mute its owner.
  fileprivate mutating func give(_ role: MemberRole, to account: AccountID) throws(Refusal) -> Bool {
    guard try assign(role, to: account) else { return false }
    let before = try knownMember(account, field: "accid")
    var member = before
    if role != .member {
      try set(
        &member.membership.stopped, to: false, "\(account) has stopped receiving from group \(space.name)")
    }
    if role == .owner, member.rights.mutedUntilMilliseconds != nil {
      member.rights.mutedUntilMilliseconds = nil
      change(.muted(account, in: space), to: nil)
    }
    set(member, for: account, seesOtherwise: member.membership != before.membership)
    return true
  }
}
