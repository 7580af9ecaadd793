/// A member of a channel invites other members of the server, each of whom has to consent.
package struct InviteToChannel: SpaceOperation {
  package static let name = OperationName(.channel, "inviteUser")
  package static let access = Access.members

  package var space: SpaceID
  package var actor: Actor
  package var id: EntityID
  package var accounts: [AccountID]
  package var postscript: String?

  package init(_ server: EntityID, id: EntityID, actor: Actor, accounts: [AccountID], postscript: String?) {
    space = .server(server)
    self.id = id
    self.actor = actor
    self.accounts = accounts.withoutRepeats
    self.postscript = postscript
  }

  package var channelID: EntityID? { id }
  package var concerns: [RecordAddress] {
    accounts.flatMap { [.member($0, of: space), .channelInvitation(to: id, of: $0, in: space)] }
      + actor.needs(toApproach: accounts)
  }
  package var counts: [RecordTable] { [.requests] }
  package func company(_ records: Records) -> CompanyQuestion? {
    actor.company(for: [.invite], among: accounts, records)
  }

  /// Gives the id of each account's request.
  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) -> [AccountID: RequestID] {
    try draft.requireSome(accounts)
    let channel = try draft.requireBelonging(to: id)
    try draft.requireRoster(of: channel, id, else: .conflict, "there is nobody to invite")
    for account in accounts { try requireInvitable(account, try draft.knownMember(account)) }
    try draft.records.requireAll(of: accounts, toLet: actor, .invite, draft.context, field: "accids")
    var requests: [AccountID: RequestID] = [:]
    for account in accounts {
      let request = RequestRecord(
        .channelInvitation, of: account, inviter: actor.account, channel: id, message: postscript)
      let requestID = try draft.ask(request, lastingMilliseconds: draft.limits.invitationMilliseconds)
      requests[account] = requestID
      draft.announce(
        Catalogue.channelInvitation,
        attach: [
          "requestId": .string(requestID.text), "channelInfo": channel.info(id, of: space),
          "postscript": .words(postscript),
        ], parties: [account], channel: channel.scene(id))
    }
    return requests
  }

  private func requireInvitable(_ account: AccountID, _ member: MemberRecord) throws(Refusal) {
    if member.isBlocked(from: id) {
      throw Refusal(.banned, "\(account) is blocked from channel \(id)", field: "accids")
    }
    if member.isIn(id) {
      throw Refusal(.conflict, "\(account) is already in channel \(id)", field: "accids")
    }
  }
}

/// The invitee accepts or declines an invitation to a channel, which ends it.
package struct AnswerChannelInvitation: SpaceOperation {
  package static let name = OperationName(.channel, "invitationAccepted")
  package static let declining = OperationName(.channel, "invitationDeclined")
  package static let names = [name, declining]
  package static let access = Access.members

  package var space: SpaceID
  package var actor: Actor
  package var id: EntityID
  package var request: RequestID
  package var isAccepted: Bool
  /// Why it is declined.
  package var postscript: String?

  package init(
    _ server: EntityID, id: EntityID, request: RequestID, actor: Actor, isAccepted: Bool, postscript: String?
  ) {
    space = .server(server)
    self.id = id
    self.request = request
    self.actor = actor
    self.isAccepted = isAccepted
    self.postscript = postscript
  }

  package var echoName: OperationName { isAccepted ? Self.name : Self.declining }
  package var channelID: EntityID? { id }
  package var isHiddenFromStrangers: Bool { false }
  package var concerns: [RecordAddress] { [.request(request, of: space)] }
  package var counts: [RecordTable] { [.channelRoster(id)] }

  /// Says which inviters are still members. Each is notified.
  package func further(_ records: Records) -> [RecordAddress] {
    records.accounts(ofRequest: request, in: space).map { .member($0, of: space) }
  }

  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) {
    try NotificationContent.check(postscript, "postscript", characters: Limits.messageCharacters)
    let account = try draft.actingAccount()
    let member = try draft.requireMember()
    let channel = try draft.records.channel(id, of: space)
    let invitation = try draft.ownInvitation(request, .channelInvitation, to: account, in: id)
    guard let invitation else {
      // An account that was not invited learns no more of a hidden channel than others do.
      try draft.requireChannelInSight(id)
      throw .noRequest(.channelInvitation)
    }
    var attach: JSONObject = [
      "requestId": .string(request.text), "accid": .string(account.text),
    ]
    if !isAccepted { attach["postscript"] = .words(postscript) }
    draft.announce(
      isAccepted ? Catalogue.channelInvitationAccepted : Catalogue.channelInvitationDeclined,
      attach: .object(attach), parties: invitation.inviters, channel: channel.scene(id))
    if !isAccepted { return }
    // Neither in the roster nor on the block list: with either, the invitation would be gone.
    try draft.joinChannel(id, channel, account, member)
    draft.announceJoined(account, id, channel)
    try draft.announceVisibility(of: id, channel, changedFor: [account])
  }
}

extension Draft {
  /// The invitation that is answered; nil if there is none for the actor.
  mutating func ownInvitation(
    _ id: RequestID, _ kind: RequestRecord.Kind, to account: AccountID, in channel: EntityID? = nil
  ) throws(Refusal) -> RequestRecord? {
    do throws(Refusal) {
      let invitation = try answer(id, kind)
      return invitation.account == account && invitation.channel == channel ? invitation : nil
    } catch {
      guard error.code == .notFound else { throw error }
      return nil
    }
  }
}

extension Draft<ServerRecord> {
  /// An invitation that has become pointless.
  mutating func dropInvitation(to channel: EntityID, of account: AccountID) {
    change(.channelInvitation(to: channel, of: account, in: space), to: nil)
  }
}

extension RecordAddress {
  fileprivate static func channelInvitation(
    to channel: EntityID, of account: AccountID, in space: SpaceID
  ) -> Self {
    .request(RequestID(.channelInvitation, of: account, in: space, channel: channel), of: space)
  }
}
