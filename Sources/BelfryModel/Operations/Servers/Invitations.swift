/// The owner and the admins invite, and so do members if the server lets them. The server's invite mode says
/// if the invited accounts are asked, or join at once.
package struct InviteToServer: SpaceOperation {
  package static let name = OperationName(.server, "invite")
  package static let access = Access.ownRule

  package var space: SpaceID
  package var actor: Actor
  package var accounts: [AccountID]
  package var postscript: String
  /// The request id for accounts that join at once. Each account that is asked has its own.
  package var requestId: String

  package init(
    _ id: EntityID, actor: Actor, accounts: [AccountID], postscript: String = "", requestId: String
  ) {
    space = .server(id)
    self.actor = actor
    self.accounts = accounts.withoutRepeats
    self.postscript = postscript
    self.requestId = requestId
  }

  package var concerns: [RecordAddress] {
    accounts.flatMap { account in
      space.joining(account) + [.request(RequestID(.invitation, of: account, in: space), of: space)]
    } + actor.needs(toApproach: accounts)
  }
  package var counts: [RecordTable] { [.roster, .requests] }
  package var joiners: [AccountID] { accounts }
  package var mailboxes: MailboxQuestion? { MailboxQuestion(accounts, from: actor) }
  package func company(_ records: Records) -> CompanyQuestion? {
    actor.company(for: [.invite, .add], among: accounts, records)
  }

  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) -> [AccountID: JoinOutcome] {
    try draft.require(draft.settings.membersMayInvite ? .members : .administrators, to: Self.name.act)
    // There has to be an inviter to notify of the answer.
    let inviter = try draft.actingAccount()
    try draft.requireSome(accounts)
    try draft.check(postscript: postscript)
    guard !accounts.contains(inviter) else { throw .invalid("accids", "must not name yourself, \(inviter)") }
    for account in accounts { try draft.requireMayJoin(account, field: "accids") }
    try draft.records.requireAll(of: accounts, toLet: actor, .invite, draft.context, field: "accids")
    var joining: [AccountID] = []
    if draft.settings.inviteMode == .joinsAtOnce {
      for account in accounts where try draft.mayBePutIn(account) { joining.append(account) }
    }
    let entering = Set(joining)
    let asked = accounts.filter { !entering.contains($0) }
    try draft.context.requireCapacity(in: asked, for: actor, field: "accids") { $0.takesEntry($1) }
    let outcomes = try ask(asked, inviter, &draft)
    if joining.isEmpty { return outcomes }
    return outcomes.merging(try letIn(joining, &draft)) { first, _ in first }
  }

  private func ask(
    _ accounts: [AccountID], _ inviter: AccountID, _ draft: inout Draft<ServerRecord>
  ) throws(Refusal) -> [AccountID: JoinOutcome] {
    var outcomes: [AccountID: JoinOutcome] = [:]
    for account in accounts {
      let request = RequestRecord(
        .invitation, of: account, inviter: inviter, message: postscript.isEmpty ? nil : postscript)
      let id = try draft.ask(request, lastingMilliseconds: draft.limits.invitationMilliseconds)
      draft.announce(
        Catalogue.serverMemberInvite,
        attach: [
          "requestId": .string(id.text), "serverInfo": draft.settings.info(space),
          "postscript": .string(postscript),
        ], parties: [account])
      outcomes[account] = JoinOutcome(requestId: id.text, hasJoined: false)
    }
    return outcomes
  }

  private func letIn(
    _ accounts: [AccountID], _ draft: inout Draft<ServerRecord>
  ) throws(Refusal) -> [AccountID: JoinOutcome] {
    for account in accounts { try draft.join(account, field: "accids") }
    draft.announceAdded(accounts, requestId: requestId)
    let outcome = JoinOutcome(requestId: requestId, hasJoined: true)
    return Dictionary(accounts.map { ($0, outcome) }) { first, _ in first }
  }
}

/// The invited account accepts or declines. Each inviter is notified, even one that is no longer a member.
package struct AnswerServerInvitation: SpaceOperation {
  package static let name = OperationName(.server, "answerInvitation")
  package static let names = [accepting, rejecting]
  private static let accepting = OperationName(.server, "acceptInvitation")
  private static let rejecting = OperationName(.server, "rejectInvitation")
  package static let access = Access.anyAccount

  package var space: SpaceID
  package var actor: Actor
  package var id: RequestID
  package var isAccepted: Bool
  package var postscript: String
  /// The inviter that everybody is told of; nil: the first one.
  package var inviter: AccountID?

  package init(
    _ server: EntityID, actor: Actor, id: RequestID, isAccepted: Bool, postscript: String = "",
    inviter: AccountID? = nil
  ) {
    space = .server(server)
    self.actor = actor
    self.id = id
    self.isAccepted = isAccepted
    self.postscript = postscript
    self.inviter = inviter
  }

  package var echoName: OperationName { isAccepted ? Self.accepting : Self.rejecting }
  package var concerns: [RecordAddress] {
    [.request(id, of: space)] + (actor.account.map { space.joining($0) } ?? [])
  }
  package func further(_ records: Records) -> [RecordAddress] {
    records.accounts(ofRequest: id, in: space).map { .member($0, of: space) }
  }
  package var counts: [RecordTable] { [.roster] }
  package var joiners: [AccountID] { actor.account.map { [$0] } ?? [] }

  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) {
    let account = try draft.actingAccount()
    try draft.check(postscript: postscript)
    try draft.requireMayJoin(account)
    let request = try draft.answer(id, .invitation)
    guard request.account == account, let first = request.inviters.first else {
      throw .noRequest(.invitation)
    }
    if let inviter, !request.inviters.contains(inviter) {
      throw .invalid("inviter", "must be an account that invited you, and \(inviter) did not")
    }
    guard isAccepted else {
      draft.announce(
        Catalogue.serverMemberInviteReject, attach: id.rejection(postscript), parties: request.inviters)
      return
    }
    try draft.join(account)
    draft.announce(
      Catalogue.serverMemberInviteAccept,
      attach: [
        "serverInfo": draft.settings.info(space), "inviteAccid": .string((inviter ?? first).text),
        "requestId": .string(id.text),
      ], parties: request.inviters + [account])
    draft.announceJoined([account])
  }
}

extension RequestID {
  /// The attachment of the notification that a request was rejected.
  func rejection(_ postscript: String) -> JSONValue {
    ["requestId": .string(text), "postscript": .string(postscript)]
  }
}
