// The ways in which all operations let accounts join a server and leave it.

/// The outcome of an invitation or an application.
package struct JoinOutcome: Sendable, Hashable {
  package var requestId: String
  /// False: the request waits for an answer.
  package var hasJoined: Bool

  package init(requestId: String, hasJoined: Bool) {
    self.requestId = requestId
    self.hasJoined = hasJoined
  }
}

extension SpaceID {
  /// The records that are needed for an account that may join this space. The count of its roster is needed,
  /// too.
  func joining(_ account: AccountID) -> [RecordAddress] {
    [.member(account, of: self), .former(account, of: self), .banned(account, from: self)]
  }
}

extension Draft<ServerRecord> {
  /// - Throws: `banned`; `conflict` if the account is a member already.
  func requireMayJoin(_ account: AccountID, field: String? = nil) throws(Refusal) {
    // With a field, the account is one of several.
    let rest = field == nil ? "" : "; nothing was done"
    if records.text(.banned(account, from: space)) != nil {
      throw Refusal(.banned, "\(account) is banned from server \(space.name)\(rest)", field: field)
    }
    if try member(account) != nil {
      throw Refusal(.conflict, "\(account) is already a member of server \(space.name)\(rest)", field: field)
    }
  }

  /// Adds the account as an ordinary member, and closes its requests. The caller announces it.
  mutating func join(_ account: AccountID, field: String? = nil) throws(Refusal) {
    try requireMayJoin(account, field: field)
    try addMember(account, as: .member, membersMax: limits.membersPerServer)
    closeRequests(of: account)
  }

  /// Removes the account's invitation and application without having read them, since reading would double
  /// the cost of adding a thousand accounts. A request made at the same time conflicts anyway: it relies on
  /// the account being neither a member nor banned.
  mutating func closeRequests(of account: AccountID) {
    for kind in [RequestRecord.Kind.invitation, .application] {
      change(.request(RequestID(kind, of: account, in: space), of: space), to: nil)
    }
  }

  /// Removes a member, who loses the role of an admin and the profile. The caller announces it.
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

/// The attachment `event` of types 31 and 32.
enum EnterLeave {
  static let entered: JSONValue = ["event": 1]
  static let left: JSONValue = ["event": 2]
}
