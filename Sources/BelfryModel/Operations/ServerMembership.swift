/// A trusted back end adds many accounts at once, with nobody's consent. Who is a member already stays
/// as they are. One announcement for all of them, not one each.
package struct AddMembers: Operation {
  package var space: SpaceID
  package var actor: Actor
  package var accounts: [AccountID]
  package var requestId: String

  package init(_ id: EntityID, actor: Actor, accounts: [AccountID], requestId: String) {
    space = .server(id)
    self.actor = actor
    self.accounts = accounts.withoutRepeats
    self.requestId = requestId
  }

  package var needs: [RecordAddress] {
    [.settings(space)]
      + accounts.flatMap { [.member($0, of: space), .former($0, of: space)] }
  }
  package var counts: [RecordTable] { [.roster] }
  package var joiners: [AccountID] { accounts }

  /// Gives the accounts that were added.
  package func decide(_ records: Records, context: DecisionContext) throws(Refusal) -> Decision<[AccountID]> {
    let server = try records.server(space)
    guard actor.isTrusted else {
      throw Refusal(.forbidden, "only an app token may add members without asking them")
    }
    var added: [AccountID] = []
    for account in accounts where try records.member(account, of: space) == nil { added.append(account) }
    guard !added.isEmpty else { return Decision(nil, []) }
    guard context.counts[.roster, default: 0] + added.count <= context.limits.membersPerServer else {
      throw Refusal(.tooMany, "a server holds at most \(context.limits.membersPerServer) members")
    }

    var transaction = Transaction(space)
    transaction.preconditions = records.unchanged(needs)
    transaction.ceilings[.roster] = context.limits.membersPerServer
    for account in added {
      try context.checkServerCount(of: account)
      try transaction.join(account, records, retentionFloor: context.retentionFloor)
    }
    transaction.indexChanges = [IndexChange(.joined, added)]
    transaction.announce(
      Catalogue.serverMemberInviteDone, by: actor,
      attach: [
        "serverInfo": server.info(space), "invitedAccids": .array(added.map { .string($0.text) }),
        "requestId": .string(requestId),
      ], parties: added)
    transaction.announce(Catalogue.serverEnterLeave, by: actor, attach: EnterLeave.entered, parties: added)
    return Decision(transaction, added)
  }
}

/// The owner and the admins put members out; never the owner, and an admin only by the owner.
package struct KickMembers: Operation {
  package var space: SpaceID
  package var actor: Actor
  package var accounts: [AccountID]

  package init(_ id: EntityID, actor: Actor, accounts: [AccountID]) {
    space = .server(id)
    self.actor = actor
    self.accounts = accounts.withoutRepeats
  }

  package var needs: [RecordAddress] {
    [.settings(space)] + actor.needs(in: space) + accounts.map { .member($0, of: space) }
  }

  package func decide(_ records: Records, context: DecisionContext) throws(Refusal) -> Decision<Void> {
    let server = try records.server(space)
    try records.require(.administrators, actor, in: space, to: "kick members")
    guard !accounts.isEmpty else { throw .invalid("accids", "must name somebody") }
    let actorIsOwner = actor.isTrusted || actor.account == server.owner
    var transaction = Transaction(space)
    transaction.preconditions = records.unchanged(needs)
    for account in accounts {
      guard let member = try records.member(account, of: space) else {
        throw Refusal(.notFound, "\(account) is not a member of server \(space.name)", field: "accid")
      }
      if member.role == .owner { throw Refusal(.forbidden, "the owner cannot be kicked") }
      if member.role == .admin, !actorIsOwner {
        throw Refusal(.forbidden, "only the owner may kick an admin")
      }
      transaction.leave(account, member, retentionFloor: context.retentionFloor)
    }
    transaction.indexChanges = [IndexChange(.left, accounts)]
    transaction.announce(
      Catalogue.serverMemberKickDone, by: actor,
      attach: ["serverInfo": server.info(space), "kickedAccids": .array(accounts.map { .string($0.text) })],
      parties: accounts)
    transaction.announce(Catalogue.serverEnterLeave, by: actor, attach: EnterLeave.left, parties: accounts)
    return Decision(transaction)
  }
}

/// Any member but the owner may leave, and with the server leaves all its channels.
package struct LeaveServer: Operation {
  package var space: SpaceID
  package var account: AccountID
  package var actor: Actor

  package init(_ id: EntityID, account: AccountID, actor: Actor) {
    space = .server(id)
    self.account = account
    self.actor = actor
  }

  package var needs: [RecordAddress] { [.settings(space), .member(account, of: space)] }

  package func decide(_ records: Records, context: DecisionContext) throws(Refusal) -> Decision<Void> {
    let server = try records.server(space)
    guard let member = try records.member(account, of: space) else {
      throw Refusal(.notMember, "you are not a member of server \(space.name)")
    }
    guard member.role != .owner else {
      throw Refusal(.forbidden, "the owner cannot leave; hand the server over or remove it")
    }
    var transaction = Transaction(space)
    transaction.preconditions = records.unchanged(needs)
    transaction.leave(account, member, retentionFloor: context.retentionFloor)
    transaction.indexChanges = [IndexChange(.left, [account])]
    transaction.announce(
      Catalogue.serverMemberLeaveDone, by: actor, attach: ["serverInfo": server.info(space)],
      parties: [account])
    transaction.announce(Catalogue.serverEnterLeave, by: actor, attach: EnterLeave.left, parties: [account])
    return Decision(transaction)
  }
}

extension [AccountID] {
  /// Each account once, in the order of their first mention: nobody joins or goes twice in one step.
  fileprivate var withoutRepeats: [AccountID] {
    var seen: Set<AccountID> = []
    return filter { seen.insert($0).inserted }
  }
}

extension Transaction {
  /// Enters the account into the roster, with what is still to be seen of earlier stays.
  mutating func join(
    _ account: AccountID, _ records: Records, retentionFloor: MessageID
  ) throws(Refusal) {
    var standing = try records.former(account, of: space)?.standing ?? .stranger
    standing.forget(before: retentionFloor)
    standing.belonging.open(after: .beforeThisCommit)
    changes[.member(account, of: space)] = MemberRecord(role: .member, standing: standing).text
    changes[.former(account, of: space)] = .some(nil)
    changedStandings.append(account)
  }

  /// Moves the account from the roster to the former members: what this commit announces is the last
  /// it sees.
  mutating func leave(_ account: AccountID, _ member: MemberRecord, retentionFloor: MessageID) {
    var member = member
    for (channel, standing) in member.standing.channels where standing.belonging.current != nil {
      changes[.channelMember(account, channel: channel, of: space)] = .some(nil)
    }
    member.standing.leave(through: .endOfThisCommit)
    member.standing.forget(before: retentionFloor)
    changes[.member(account, of: space)] = .some(nil)
    changes[.former(account, of: space)] = member.text
    changedStandings.append(account)
  }
}
