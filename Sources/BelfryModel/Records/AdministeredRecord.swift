/// The common settings of servers and groups: an owner, who may change, and admins.
package protocol AdministeredRecord: SpaceRecord {
  var owner: AccountID { get set }
  var admins: [AccountID] { get set }
}

extension Draft where Record: AdministeredRecord {
  /// Changes a member's role in the roster and in the settings. No other code does.
  /// - Returns: true if the role was another before.
  mutating func assign(_ role: MemberRole, to account: AccountID) throws(Refusal) -> Bool {
    var member = try knownMember(account, field: "accid")
    guard member.role != role else { return false }
    settings.admins.removeAll { $0 == account }
    if role == .admin {
      guard settings.admins.count < Limits.adminsPerSpace else {
        throw Refusal(
          .tooMany,
          "the \(Record.kind) already has \(Limits.adminsPerSpace) admins, which is the limit; remove one first"
        )
      }
      settings.admins.append(account)
    }
    if role == .owner { settings.owner = account }
    member.role = role
    set(member, for: account)
    return true
  }

  /// - Throws: `forbidden` for the owner, who has to hand the space over first.
  func requireNotOwner(_ account: AccountID) throws(Refusal) {
    guard try knownMember(account, field: "accid").role != .owner else {
      throw Refusal(
        .forbidden, "the owner cannot be an admin; hand the \(Record.kind) over first", field: "accid")
    }
  }
}
