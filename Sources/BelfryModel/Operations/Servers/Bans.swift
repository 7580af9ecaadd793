/// The owner and the admins ban accounts. Nobody bans the owner, and only the owner an admin. Members are kicked. A banned
/// account can neither apply, be invited, be added nor use a code.
package struct BanAccounts: SpaceOperation {
  package static let name = OperationName(.server, "ban")
  package static let access = Access.administrators

  package var space: SpaceID
  package var actor: Actor
  package var accounts: [AccountID]

  package init(_ id: EntityID, actor: Actor, accounts: [AccountID]) {
    space = .server(id)
    self.actor = actor
    self.accounts = accounts.withoutRepeats
  }

  package var concerns: [RecordAddress] {
    accounts.flatMap { [.member($0, of: space), .banned($0, from: space)] }
  }
  package var counts: [RecordTable] { [.banned] }

  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) {
    try draft.requireSome(accounts)
    let kicked = try draft.requireRankAbove(membersAmong: accounts)
    let ban = try RecordJSON.text(BanRecord(by: actor.account, since: draft.nowMilliseconds))
    for account in accounts where draft.records.text(.banned(account, from: space)) == nil {
      try draft.put(.banned(account, from: space), ban, atMost: Limits.bannedPerSpace)
      draft.closeRequests(of: account)
    }
    draft.kick(kicked)
  }
}

/// The owner and the admins lift bans. The accounts do not become members by that.
package struct UnbanAccounts: SpaceOperation {
  package static let name = OperationName(.server, "unban")
  package static let access = Access.administrators

  package var space: SpaceID
  package var actor: Actor
  package var accounts: [AccountID]

  package init(_ id: EntityID, actor: Actor, accounts: [AccountID]) {
    space = .server(id)
    self.actor = actor
    self.accounts = accounts.withoutRepeats
  }

  package var concerns: [RecordAddress] { accounts.map { .banned($0, from: space) } }

  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) {
    try draft.requireSome(accounts)
    for account in accounts where draft.records.text(.banned(account, from: space)) != nil {
      draft.change(.banned(account, from: space), to: nil)
    }
  }
}
