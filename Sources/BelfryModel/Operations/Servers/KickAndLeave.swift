/// The owner and the admins put members out; never the owner, and an admin only by the owner.
package struct KickMembers: SpaceOperation {
  package static let name = OperationName(.server, "kick")
  package static let access = Access.administrators

  package var space: SpaceID
  package var actor: Actor
  package var accounts: [AccountID]

  package init(_ id: EntityID, actor: Actor, accounts: [AccountID]) {
    space = .server(id)
    self.actor = actor
    self.accounts = accounts.withoutRepeats
  }

  package var concerns: [RecordAddress] { accounts.map { .member($0, of: space) } }

  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) {
    try draft.requireSome(accounts)
    for account in accounts {
      let member = try draft.knownMember(account, field: "accid")
      try draft.requireRankAbove(member, to: "kick")
      draft.leave(account, member)
    }
    draft.announceKicked(accounts)
  }
}

/// Any member but the owner may leave, and with the server leaves all its channels.
package struct LeaveServer: SpaceOperation {
  package static let name = OperationName(.server, "leave")
  package static let access = Access.members

  package var space: SpaceID
  package var actor: Actor

  package init(_ id: EntityID, actor: Actor) {
    space = .server(id)
    self.actor = actor
  }

  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) {
    let account = try draft.actingAccount()
    let member = try draft.requireMember()
    guard member.role != .owner else {
      throw Refusal(.forbidden, "the owner cannot leave; hand the server over or remove it")
    }
    draft.dropAdmin(account)
    draft.leave(account, member)
    draft.announce(
      Catalogue.serverMemberLeaveDone, attach: ["serverInfo": draft.settings.info(space)], parties: [account])
    draft.announce(Catalogue.serverEnterLeave, attach: EnterLeave.left, parties: [account])
  }
}

extension Draft {
  /// Nobody acts against the owner, and only the owner against an admin.
  package func requireRankAbove(_ member: MemberRecord, to what: String) throws(Refusal) {
    if member.role == .owner { throw Refusal(.forbidden, "the owner cannot be the target: \(what)") }
    if member.role == .admin, !actsAsOwner {
      throw Refusal(.forbidden, "only the owner may act against an admin: \(what)")
    }
  }
}

extension Draft<ServerRecord> {
  /// Whoever is no member is no admin either.
  mutating func dropAdmin(_ account: AccountID) { settings.admins.removeAll { $0 == account } }

  mutating func announceKicked(_ accounts: [AccountID]) {
    for account in accounts { dropAdmin(account) }
    announce(
      Catalogue.serverMemberKickDone,
      attach: ["serverInfo": settings.info(space), "kickedAccids": .accids(accounts)], parties: accounts)
    announce(Catalogue.serverEnterLeave, attach: EnterLeave.left, parties: accounts)
  }
}
