/// The owner and the admins make codes by which any account may join, until they expire or are revoked.
package struct CreateInviteCode: SpaceOperation {
  package static let name = OperationName(.server, "createCode")
  package static let access = Access.administrators

  package var space: SpaceID
  package var actor: Actor
  /// Made by the caller, since operations use no random numbers.
  package var code: InviteCode

  package init(_ id: EntityID, actor: Actor, code: InviteCode) {
    space = .server(id)
    self.actor = actor
    self.code = code
  }

  package var concerns: [RecordAddress] { [.code(code, of: space)] }
  package var counts: [RecordTable] { [.codes] }

  /// Gives the time at which the code expires, milliseconds since 1970.
  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) -> Int64 {
    guard draft.records.text(.code(code, of: space)) == nil else {
      throw Refusal(.conflict, "this code already exists", field: "code")
    }
    let record = ExpiringText(
      expiresAtMilliseconds: draft.nowMilliseconds + draft.limits.inviteCodeMilliseconds,
      rest: try RecordJSON.text(InviteCodeRecord(creator: actor.account)))
    try draft.put(.code(code, of: space), record.text, atMost: Limits.inviteCodesPerServer)
    return record.expiresAtMilliseconds
  }
}

/// The owner and the admins revoke a code of any creator. Members who joined by it remain.
package struct RevokeInviteCode: SpaceOperation {
  package static let name = OperationName(.server, "revokeCode")
  package static let access = Access.administrators

  package var space: SpaceID
  package var actor: Actor
  package var code: InviteCode

  package init(_ id: EntityID, actor: Actor, code: InviteCode) {
    space = .server(id)
    self.actor = actor
    self.code = code
  }

  package var concerns: [RecordAddress] { [.code(code, of: space)] }

  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) {
    try draft.requireCode(code)
    draft.change(.code(code, of: space), to: nil)
  }
}

/// Any account that is not banned may join by a code.
package struct JoinByInviteCode: SpaceOperation {
  package static let name = OperationName(.server, "join")
  package static let access = Access.anyAccount

  package var space: SpaceID
  package var actor: Actor
  package var code: InviteCode
  package var requestId: String

  package init(_ id: EntityID, actor: Actor, code: InviteCode, requestId: String) {
    space = .server(id)
    self.actor = actor
    self.code = code
    self.requestId = requestId
  }

  package var concerns: [RecordAddress] {
    [.code(code, of: space)] + joiners.flatMap { space.joining($0) }
  }
  package var counts: [RecordTable] { [.roster] }
  package var joiners: [AccountID] { actor.account.map { [$0] } ?? [] }

  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) {
    let account = try draft.actingAccount()
    try draft.requireCode(code)
    try draft.join(account)
    draft.announce(
      Catalogue.serverMemberJoinByInviteCode,
      attach: [
        "serverInfo": draft.settings.info(space), "requestId": .string(requestId),
        "inviteCode": .string(code.text),
      ], parties: [account])
    draft.announceJoined([account])
  }
}

extension Draft<ServerRecord> {
  /// - Throws: `notFound` for a code that does not exist, has expired or was revoked.
  fileprivate func requireCode(_ code: InviteCode) throws(Refusal) {
    guard try records.lasting(.code(code, of: space), nowMilliseconds: nowMilliseconds) != nil else {
      throw Refusal(.notFound, "there is no such code, or it has expired or was revoked", field: "code")
    }
  }
}
