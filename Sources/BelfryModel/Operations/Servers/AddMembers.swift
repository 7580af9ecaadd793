/// A trusted caller adds many accounts at once without asking them. Nothing changes for accounts that are members already.
/// There is one announcement for all of them.
package struct AddMembers: SpaceOperation {
  package static let name = OperationName(.server, "addMembers")
  package static let access = Access.trusted

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

  package var concerns: [RecordAddress] {
    accounts.flatMap { space.joining($0) }
  }
  package var counts: [RecordTable] { [.roster] }
  package var joiners: [AccountID] { accounts }

  /// Gives the accounts that were added.
  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) -> [AccountID] {
    guard (1...Limits.membersPerCall).contains(accounts.count) else {
      throw .invalid("accids", "must name 1 to \(Limits.membersPerCall) accounts, not \(accounts.count)")
    }
    var added: [AccountID] = []
    for account in accounts where try draft.member(account) == nil { added.append(account) }
    for account in added { try draft.join(account, field: "accids") }
    if !added.isEmpty { draft.announceAdded(added, requestId: requestId) }
    return added
  }
}

extension Draft<ServerRecord> {
  /// The announcements of accounts that were added without being asked.
  mutating func announceAdded(_ accounts: [AccountID], requestId: String) {
    announce(
      Catalogue.serverMemberInviteDone,
      attach: [
        "serverInfo": settings.info(space), "invitedAccids": .accids(accounts),
        "requestId": .string(requestId),
      ], parties: accounts)
    announceJoined(accounts)
  }
}
