/// The owner and the admins mute members for a while in the server and all its channels, or let them send again. Nobody
/// mutes the owner, and only the owner an admin. A mute ends by itself, and outlasts leaving the server.
package struct SetServerMute: SpaceOperation {
  package static let name = OperationName(.server, "mute")
  package static let removing = OperationName(.server, "unmute")
  package static let names = [name, removing]
  package static let access = Access.administrators

  package var space: SpaceID
  package var actor: Actor
  package var accounts: [AccountID]
  /// For how long from now; nil: no longer.
  package var durationMilliseconds: Int64?

  package init(_ id: EntityID, actor: Actor, accounts: [AccountID], durationMilliseconds: Int64?) {
    space = .server(id)
    self.actor = actor
    self.accounts = accounts.withoutRepeats
    self.durationMilliseconds = durationMilliseconds
  }

  package var echoName: OperationName { durationMilliseconds == nil ? Self.removing : Self.name }
  package var concerns: [RecordAddress] { accounts.map { .member($0, of: space) } }

  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) {
    try draft.requireSome(accounts)
    for account in accounts {
      try draft.requireRankAbove(try draft.knownMember(account), to: echoName.word)
    }
    let until = try durationMilliseconds.map { duration throws(Refusal) in
      try draft.endOfMute(lastingMilliseconds: duration)
    }
    let concerned = try concerned(draft)
    let changed = try draft.changeRights(
      of: concerned, in: .muted, as: until.map { ExpiringText(expiresAtMilliseconds: $0).text }
    ) { $0.mutedUntilMilliseconds = until }
    if changed.isEmpty { return }
    draft.announce(
      Catalogue.channelMemberMuteChanged,
      attach: [
        "muted": .bool(until != nil), "accids": .accids(changed),
        "expiresAt": until.map { .integer($0) } ?? .null,
      ], parties: changed)
  }

  /// A mute that has run out ended by itself: nobody is told that it ends now.
  private func concerned(_ draft: Draft<ServerRecord>) throws(Refusal) -> [AccountID] {
    if durationMilliseconds != nil { return accounts }
    var muted: [AccountID] = []
    for account in accounts
    where try draft.knownMember(account).rights.isMuted(nowMilliseconds: draft.nowMilliseconds) {
      muted.append(account)
    }
    return muted
  }
}
