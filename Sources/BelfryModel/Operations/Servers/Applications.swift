/// Any account that is not banned may apply. The server's apply mode says if it joins at once, or the owner
/// and the admins are asked. While an application waits, applying again with the same words changes nothing.
/// With other words the owner and the admins are asked again, by the same request.
package struct ApplyToServer: SpaceOperation {
  package static let name = OperationName(.server, "apply")
  package static let names = [name, joining]
  private static let joining = OperationName(.server, "join")
  package static let access = Access.anyAccount

  package var space: SpaceID
  package var actor: Actor
  package var postscript: String

  package init(_ id: EntityID, actor: Actor, postscript: String = "") {
    space = .server(id)
    self.actor = actor
    self.postscript = postscript
  }

  package var concerns: [RecordAddress] {
    joiners.flatMap { account in
      space.joining(account) + [.request(RequestID(.application, of: account, in: space), of: space)]
    }
  }
  package var counts: [RecordTable] { [.roster, .requests] }
  package var joiners: [AccountID] { actor.account.map { [$0] } ?? [] }

  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) -> JoinOutcome {
    let account = try draft.actingAccount()
    try draft.check(postscript: postscript)
    try draft.requireMayJoin(account)
    let id = RequestID(.application, of: account, in: space)
    switch draft.settings.applyMode {
    case .joinsAtOnce:
      draft.echoName = Self.joining
      try draft.join(account)
      draft.announce(
        Catalogue.serverMemberApplyDone,
        attach: ["serverInfo": draft.settings.info(space), "requestId": .string(id.text)],
        parties: [account])
      draft.announceJoined([account])
    case .needsApproval:
      try ask(id, account, &draft)
    }
    return JoinOutcome(requestId: id.text, hasJoined: draft.settings.applyMode == .joinsAtOnce)
  }

  private func ask(
    _ id: RequestID, _ account: AccountID, _ draft: inout Draft<ServerRecord>
  ) throws(Refusal) {
    let request = RequestRecord(
      .application, of: account, message: postscript.isEmpty ? nil : postscript)
    guard try draft.enterApplication(request) else { return }
    draft.announce(
      Catalogue.serverMemberApply,
      attach: ["requestId": .string(id.text), "postscript": .string(postscript)])
  }
}

/// The owner or an admin accepts an application, or declines it. The first answer decides.
package struct AnswerServerApplication: SpaceOperation {
  package static let name = OperationName(.server, "answerApplication")
  package static let names = [accepting, rejecting]
  private static let accepting = OperationName(.server, "acceptApplication")
  private static let rejecting = OperationName(.server, "rejectApplication")
  package static let access = Access.administrators

  package var space: SpaceID
  package var actor: Actor
  package var id: RequestID
  package var isAccepted: Bool
  package var postscript: String

  package init(_ server: EntityID, actor: Actor, id: RequestID, isAccepted: Bool, postscript: String = "") {
    space = .server(server)
    self.actor = actor
    self.id = id
    self.isAccepted = isAccepted
    self.postscript = postscript
  }

  package var echoName: OperationName { isAccepted ? Self.accepting : Self.rejecting }
  package var concerns: [RecordAddress] { [.request(id, of: space)] }
  package func further(_ records: Records) -> [RecordAddress] {
    records.accounts(ofRequest: id, in: space).flatMap { space.joining($0) }
  }
  package var counts: [RecordTable] { [.roster] }
  package func joiners(_ records: Records) -> [AccountID] { records.accounts(ofRequest: id, in: space) }

  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) {
    try draft.check(postscript: postscript)
    let applicant = try draft.answer(id, .application).account
    guard isAccepted else {
      draft.announce(
        Catalogue.serverMemberApplyReject, attach: id.rejection(postscript), parties: [applicant])
      return
    }
    try draft.join(applicant)
    draft.announce(
      Catalogue.serverMemberApplyAccept,
      attach: [
        "serverInfo": draft.settings.info(space), "applyAccid": .string(applicant.text),
        "requestId": .string(id.text),
      ], parties: [applicant])
    draft.announceJoined([applicant])
  }
}
