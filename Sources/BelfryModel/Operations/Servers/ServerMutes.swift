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
    let (changed, until) = try draft.changeMutes(
      of: accounts, lastingMilliseconds: durationMilliseconds)
    if changed.isEmpty { return }
    draft.announce(
      Catalogue.channelMemberMuteChanged,
      attach: [
        "muted": .bool(until != nil), "accids": .accids(changed),
        "expiresAt": until.map { .integer($0) } ?? .null,
      ], parties: changed)
  }
}
