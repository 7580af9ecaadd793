/// The owner and the admins remove members. Nobody removes the owner, and only the owner an admin.
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
    for account in accounts { _ = try draft.knownMember(account, field: "accid") }
    draft.kick(try draft.requireRankAbove(membersAmong: accounts))
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
      throw Refusal(.forbidden, "the owner cannot leave; hand the server over or delete it")
    }
    draft.remove(account, member)
    draft.announce(
      Catalogue.serverMemberLeaveDone, attach: ["serverInfo": draft.settings.info(space)], parties: [account])
    draft.announceLeft([account])
  }
}

extension Draft {
  /// Nobody acts against the owner, and only the owner against an admin.
  package func requireRankAbove(_ member: MemberRecord) throws(Refusal) {
    if member.role == .owner {
      throw Refusal(.forbidden, "nobody may do this to the owner")
    }
    if member.role == .admin, !actsAsOwner {
      throw Refusal(.forbidden, "only the owner may do this to an admin")
    }
  }
}

extension Draft<ServerRecord> {
  /// Those of the accounts who are members, if the actor may act against each of them.
  func requireRankAbove(
    membersAmong accounts: [AccountID]
  ) throws(Refusal) -> [(account: AccountID, member: MemberRecord)] {
    var found: [(account: AccountID, member: MemberRecord)] = []
    for account in accounts {
      guard let member = try member(account) else { continue }
      try requireRankAbove(member)
      found.append((account, member))
    }
    return found
  }

  mutating func kick(_ members: [(account: AccountID, member: MemberRecord)]) {
    guard !members.isEmpty else { return }
    for (account, member) in members { remove(account, member) }
    let accounts = members.map(\.account)
    announce(
      Catalogue.serverMemberKickDone,
      attach: ["serverInfo": settings.info(space), "kickedAccids": .accids(accounts)], parties: accounts)
    announceLeft(accounts)
  }
}
