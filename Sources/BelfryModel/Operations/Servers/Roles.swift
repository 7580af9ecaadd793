/// The owner makes a member an admin, or an admin a member again.
package struct SetAdmin: SpaceOperation {
  package static let name = OperationName(.server, "setAdmin")
  package static let names = [adding, removing]
  private static let adding = OperationName(.server, "addAdmin")
  private static let removing = OperationName(.server, "removeAdmin")
  package static let access = Access.owner

  package var space: SpaceID
  package var actor: Actor
  package var account: AccountID
  package var isAdmin: Bool

  package init(_ id: EntityID, actor: Actor, account: AccountID, isAdmin: Bool) {
    space = .server(id)
    self.actor = actor
    self.account = account
    self.isAdmin = isAdmin
  }

  package var echoName: OperationName { isAdmin ? Self.adding : Self.removing }
  package var accounts: [AccountID] { [account] }
  package var concerns: [RecordAddress] { space.speaking(of: account) }

  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) {
    try draft.requireNotOwner(account)
    try draft.give(isAdmin ? .admin : .member, to: account)
  }
}

/// The owner hands the server over to a member, and is an ordinary member from then on.
package struct HandOverServer: SpaceOperation {
  package static let name = OperationName(.server, "handOver")
  package static let access = Access.owner

  package var space: SpaceID
  package var actor: Actor
  package var account: AccountID

  package init(_ id: EntityID, actor: Actor, to account: AccountID) {
    space = .server(id)
    self.actor = actor
    self.account = account
  }

  package var accounts: [AccountID] { [account] }
  package var concerns: [RecordAddress] { space.speaking(of: account) }
  package func further(_ records: Records) -> [RecordAddress] {
    (try? records.server(space)).map { space.speaking(of: $0.owner) } ?? []
  }

  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) {
    _ = try draft.knownMember(account, field: "accid")
    let former = draft.settings.owner
    guard account != former else { return }
    try draft.give(.member, to: former)
    try draft.give(.owner, to: account)
  }
}

extension Draft<ServerRecord> {
  fileprivate mutating func give(_ role: MemberRole, to account: AccountID) throws(Refusal) {
    guard try assign(role, to: account) else { return }
    if role != .member { try dropBlocks(of: account) }
    if role == .owner { try endMutes(of: account) }
    let profile = try records.profile(account, in: space)
    announce(
      Catalogue.serverMemberUpdate, attach: ["memberInfo": profile.info(account, role)], parties: [account])
  }

  /// Nobody may mute the owner, and so nobody could unmute one who was muted before.
  private mutating func endMutes(of account: AccountID) throws(Refusal) {
    var member = try knownMember(account, field: "accid")
    guard member.rights.mutedUntilMilliseconds != nil || !member.channelMutes.isEmpty else { return }
    if member.rights.mutedUntilMilliseconds != nil { change(.muted(account, in: space), to: nil) }
    for channel in member.channelMutes.keys.sorted() {
      change(.channelMute(of: account, in: channel, of: space), to: nil)
    }
    member.rights.mutedUntilMilliseconds = nil
    member.channelMutes = [:]
    set(member, for: account)
  }
}
