// How one gets into a server: the rules and the records that all the ways share.

/// What became of asking somebody in, or of asking to be let in.
package struct JoinOutcome: Sendable, Hashable {
  package var requestId: String
  /// False: the request waits for its answer.
  package var hasJoined: Bool

  package init(requestId: String, hasJoined: Bool) {
    self.requestId = requestId
    self.hasJoined = hasJoined
  }
}

extension SpaceID {
  /// What is to be read of whoever may enter this space. Its roster is to be counted, too.
  func joining(_ account: AccountID) -> [RecordAddress] {
    [.member(account, of: self), .former(account, of: self), .banned(account, from: self)]
  }
}

extension Draft<ServerRecord> {
  /// Refuses who is banned and who is a member already.
  func requireMayJoin(_ account: AccountID, field: String? = nil) throws(Refusal) {
    if records.text(.banned(account, from: space)) != nil {
      throw Refusal(.banned, "\(account) is banned from server \(space.name)", field: field)
    }
    if try member(account) != nil {
      throw Refusal(.conflict, "\(account) is a member of server \(space.name) already", field: field)
    }
  }

  /// Lets the account in as a plain member; with that, whatever waited for it is over. Announcing it is
  /// the caller's.
  mutating func join(_ account: AccountID, field: String? = nil) throws(Refusal) {
    try requireMayJoin(account, field: field)
    try addMember(account, as: .member, membersMax: limits.membersPerServer)
    closeRequests(of: account)
  }

  /// Takes away the invitation and the application of an account without having read them: that would
  /// double what adding a thousand costs. One that is made in between is refused all the same, since it
  /// relies on the account being neither a member nor banned.
  mutating func closeRequests(of account: AccountID) {
    for kind in [RequestRecord.Kind.invitation, .application] {
      change(.request(RequestID(kind, of: account, in: space), of: space), to: nil)
    }
  }

  /// Puts a member out, whichever way: nobody who is no member is an admin or has a profile.
  mutating func remove(_ account: AccountID, _ member: MemberRecord) {
    settings.admins.removeAll { $0 == account }
    change(.profile(account, in: space), to: nil)
    removeMember(account, member)
  }

  mutating func announceJoined(_ accounts: [AccountID]) {
    announce(Catalogue.serverEnterLeave, attach: EnterLeave.entered, parties: accounts)
  }

  mutating func announceLeft(_ accounts: [AccountID]) {
    announce(Catalogue.serverEnterLeave, attach: EnterLeave.left, parties: accounts)
  }
}
