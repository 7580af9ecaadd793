// The ways in which all operations let accounts join a group and leave it.

extension GroupRecord {
  /// The records that are needed for an account that may join.
  static func joinNeeds(_ account: AccountID, _ space: SpaceID) -> [RecordAddress] {
    space.joining(account) + requests(of: account, in: space)
  }

  /// The requests of an account that may wait for an answer.
  static func requests(of account: AccountID, in space: SpaceID) -> [RecordAddress] {
    [RequestRecord.Kind.invitation, .application].map {
      .request(RequestID($0, of: account, in: space), of: space)
    }
  }
}

extension Draft<GroupRecord> {
  func requireNotBlocked(_ account: AccountID, field: String? = nil) throws(Refusal) {
    guard records.text(.banned(account, from: space)) == nil else {
      throw Refusal(.banned, "\(account) is banned from group \(space.name)", field: field)
    }
  }

  /// Adds the account as an ordinary member, and closes its requests. The caller announces it.
  mutating func join(_ account: AccountID) throws(Refusal) {
    try settings.requireEnabled()
    try requireNotBlocked(account)
    // A deployment may have lowered its limit since the group was made.
    try addMember(account, as: .member, membersMax: min(settings.maxMembers, limits.membersPerGroup))
    closeRequests(of: account)
    if let member = try member(account), let until = member.rights.mutedUntilMilliseconds,
      member.rights.isMuted(nowMilliseconds: nowMilliseconds)
    {
      change(.muted(account, in: space), to: ExpiringText(expiresAtMilliseconds: until).text)
    }
  }

  /// Removes those of the account's requests that exist. They were read.
  mutating func closeRequests(of account: AccountID) {
    for request in GroupRecord.requests(of: account, in: space) where records.text(request) != nil {
      change(request, to: nil)
    }
  }

  /// Removes a member. Role, profile and rights are lost; a mute remains in the record of the former member, so that
  /// leaving and joining again does not lift it. The caller announces it.
  mutating func remove(_ account: AccountID, _ member: MemberRecord) {
    var member = member
    settings.admins.removeAll { $0 == account }
    member.role = .member
    if member.rights.isAllowListed { change(.allowed(account, in: space), to: nil) }
    member.rights.isAllowListed = false
    if member.rights.mutedUntilMilliseconds != nil { change(.muted(account, in: space), to: nil) }
    change(.profile(account, in: space), to: nil)
    removeMember(account, member)
  }

  /// Notifies the members of the new ones, and those who join together of each other. A few are each told of
  /// the others, and many by one entry that names them all. An entry for each would take the square of their
  /// number in Redis.
  mutating func announceJoined(_ accounts: [AccountID]) {
    let names: JSONValue = ["accids": .accids(accounts)]
    announce(Catalogue.groupMemberJoined, attach: names, except: accounts)
    guard accounts.count > 1 else { return }
    guard accounts.count <= Limits.joinedTogether else {
      return announce(Catalogue.groupMemberJoined, attach: names, only: accounts)
    }
    for account in accounts {
      announce(
        Catalogue.groupMemberJoined, attach: ["accids": .accids(accounts.filter { $0 != account })],
        only: [account])
    }
  }

  mutating func announceLeft(_ accounts: [AccountID]) {
    announce(Catalogue.groupMemberLeft, attach: ["accids": .accids(accounts)], except: accounts)
  }

  /// Notifies the removed members, and the remaining ones.
  mutating func announceRemoved(_ accounts: [AccountID], reason: GroupExit) {
    if accounts.isEmpty { return }
    announce(Catalogue.groupLeft, attach: reason.attach(settings, space), parties: accounts)
    announceLeft(accounts)
  }
}

/// The reason why an account was removed from a group.
enum GroupExit: String {
  case removed, blocked, destroyed

  func attach(_ group: GroupRecord, _ space: SpaceID) -> JSONValue {
    ["reason": .string(rawValue), "groupInfo": group.info(space)]
  }
}

extension RecordAddress {
  /// The record that the account is muted in a group, and until when.
  package static func muted(_ account: AccountID, in space: SpaceID) -> Self {
    Self(space, .muted, account.text)
  }
  /// The record that the account is on a group's allow list, and since when, milliseconds since 1970.
  package static func allowed(_ account: AccountID, in space: SpaceID) -> Self {
    Self(space, .allowed, account.text)
  }
}

extension JSONValue {
  /// A text that a caller may leave out: the attachment has the field in any case.
  static func words(_ text: String?) -> JSONValue { .string(text ?? "") }
  /// An account, or null if a trusted caller acted in nobody's name.
  static func accid(_ account: AccountID?) -> JSONValue { account.map { .string($0.text) } ?? .null }
}
