/// Invites accounts into a group; the group's style says who may. Nothing changes for accounts that are members already.
package struct InviteToGroup: SpaceOperation {
  package static let name = OperationName(.group, "invite")
  package static let access = Access.ownRule

  package var space: SpaceID
  package var actor: Actor
  package var accounts: [AccountID]
  package var message: String?

  package init(_ id: EntityID, actor: Actor, accounts: [AccountID], message: String? = nil) {
    space = .group(id)
    self.actor = actor
    self.accounts = accounts.withoutRepeats
    self.message = message
  }

  package var concerns: [RecordAddress] { GroupRecord.invitationNeeds(accounts, space, by: actor) }
  package var counts: [RecordTable] { [.roster, .requests] }
  package var joiners: [AccountID] { accounts }
  package var mailboxes: MailboxQuestion? { MailboxQuestion(accounts, from: actor) }

  /// The inviters whose invitations end if their invitee joins at once. Each is notified.
  package func further(_ records: Records) -> [RecordAddress] {
    accounts.flatMap { records.accounts(ofRequest: RequestID(.invitation, of: $0, in: space), in: space) }
      .withoutRepeats.map { .member($0, of: space) }
  }

  package func company(_ records: Records) -> CompanyQuestion? {
    actor.company(for: [.invite, .add], among: accounts, records)
  }

  package func carryOut(_ draft: inout Draft<GroupRecord>) throws(Refusal) -> GroupInvitations {
    let everybodyInvites = draft.settings.style == .privateMembersInvite
    try draft.require(everybodyInvites ? .members : .administrators, to: Self.name.act)
    try draft.requireSome(accounts)
    return try draft.invite(accounts, by: try draft.actingAccount(), message: message)
  }
}

/// The outcomes for the invited accounts. A member that was invited again is in neither list.
package struct GroupInvitations: Sendable, Hashable {
  package struct Asked: Sendable, Hashable {
    package var account: AccountID
    package var request: RequestID
  }

  /// The accounts that joined at once.
  package var joined: [AccountID] = []
  /// The accounts that must confirm.
  package var asked: [Asked] = []
}

/// The invitee accepts or declines.
package struct AnswerGroupInvitation: SpaceOperation {
  package static let name = OperationName(.group, "inviteAccept")
  package static let declining = OperationName(.group, "inviteDecline")
  package static let names = [name, declining]
  package static let access = Access.anyAccount

  package var space: SpaceID
  package var actor: Actor
  package var request: RequestID
  package var isAccepted: Bool
  /// The reason for declining.
  package var reason: String?

  package init(
    _ id: EntityID, actor: Actor, request: RequestID, isAccepted: Bool, reason: String? = nil
  ) {
    space = .group(id)
    self.actor = actor
    self.request = request
    self.isAccepted = isAccepted
    self.reason = reason
  }

  package var echoName: OperationName { isAccepted ? Self.name : Self.declining }
  package var concerns: [RecordAddress] {
    [.request(request, of: space)]
      + (actor.account.map { GroupRecord.joinNeeds($0, space) } ?? [])
  }
  package var counts: [RecordTable] { [.roster] }
  package var joiners: [AccountID] { isAccepted ? actor.account.map { [$0] } ?? [] : [] }

  /// The inviters, each of whom is notified.
  package func further(_ records: Records) -> [RecordAddress] {
    records.accounts(ofRequest: request, in: space).map { .member($0, of: space) }
  }

  package var isHiddenFromStrangers: Bool { false }

  package func carryOut(_ draft: inout Draft<GroupRecord>) throws(Refusal) {
    try NotificationContent.check(reason, "reason", characters: Limits.messageCharacters)
    let account = try draft.actingAccount()
    guard let invitation = try draft.ownInvitation(request, .invitation, to: account) else {
      // An account that was not invited learns no more of a private group than others do.
      try draft.requireSpaceInSight()
      try draft.requireNotBlocked(account)
      throw .noRequest(.invitation)
    }
    try draft.requireNotBlocked(account)
    guard isAccepted else {
      draft.announce(
        Catalogue.groupInvitationDeclined,
        attach: [
          "accid": .string(account.text), "requestId": .string(request.text), "reason": .words(reason),
        ], parties: invitation.inviters)
      return
    }
    try draft.join(account)
    draft.announceAccepted(account, request, to: invitation.inviters)
    draft.announceJoined([account])
  }
}

extension GroupRecord {
  static func invitationNeeds(
    _ accounts: [AccountID], _ space: SpaceID, by actor: Actor
  ) -> [RecordAddress] {
    accounts.flatMap { joinNeeds($0, space) + [.settings(.personal($0))] }
      + actor.needs(toApproach: accounts)
  }
}

extension Draft<GroupRecord> {
  /// Invites each of the accounts, or adds it if it need not be asked, and announces both.
  /// - Parameter fields: the wire's names of the fields for the accounts and the message.
  mutating func invite(
    _ accounts: [AccountID], by inviter: AccountID, message: String?,
    fields: (accounts: String, message: String) = ("accids", "message")
  ) throws(Refusal) -> GroupInvitations {
    try NotificationContent.check(message, fields.message, characters: Limits.messageCharacters)
    try settings.requireEnabled()
    var invitations = GroupInvitations()
    let strangers = try strangers(among: accounts)
    try records.requireAll(of: strangers, toLet: actor, .invite, context, field: fields.accounts)
    var waiting: [AccountID: [AccountID]] = [:]
    for account in strangers {
      try requireNotBlocked(account, field: fields.accounts)
      if try joinsAtOnce(account) {
        waiting[account] = try inviters(of: account)
        try join(account)
        invitations.joined.append(account)
      } else {
        let request = try ask(
          RequestRecord(.invitation, of: account, inviter: inviter, message: message),
          lastingMilliseconds: limits.invitationMilliseconds)
        invitations.asked.append(.init(account: account, request: request))
      }
    }
    try context.requireCapacity(
      in: invitations.asked.map(\.account), for: actor, field: fields.accounts
    ) { $0.takesEntry($1) }
    announce(invitations, by: inviter, message, waiting)
    return invitations
  }

  /// The inviters whose invitation of the account waits for an answer.
  private func inviters(of account: AccountID) throws(Refusal) -> [AccountID] {
    guard let request = try waitingRequest(RequestID(.invitation, of: account, in: space)),
      request.account == account
    else { return [] }
    return request.inviters
  }

  private func strangers(among accounts: [AccountID]) throws(Refusal) -> [AccountID] {
    var strangers: [AccountID] = []
    for account in accounts where try member(account) == nil { strangers.append(account) }
    return strangers
  }

  /// True if the account joins without being asked. If the group asks nobody, only accounts that want to be
  /// asked are. If the group asks, all are, except for accounts that accept invitations at once.
  private func joinsAtOnce(_ account: AccountID) throws(Refusal) -> Bool {
    guard try mayBePutIn(account) else { return false }
    if !settings.inviteNeedConfirm { return true }
    return try records.account(account).autoAcceptInvitation
  }

  /// - Parameter waiting: the inviters of each account that joins at once, whose invitations end with that.
  private mutating func announce(
    _ invitations: GroupInvitations, by inviter: AccountID, _ message: String?,
    _ waiting: [AccountID: [AccountID]]
  ) {
    let details: JSONObject = [
      "groupInfo": settings.info(space), "inviter": .string(inviter.text), "message": .words(message),
    ]
    for asked in invitations.asked {
      announce(
        Catalogue.groupInvitation,
        attach: .object(details.merging(["requestId": .string(asked.request.text)])),
        parties: [asked.account])
    }
    if invitations.joined.isEmpty { return }
    announce(Catalogue.groupJoined, attach: .object(details), parties: invitations.joined)
    for account in invitations.joined {
      announceAccepted(
        account, RequestID(.invitation, of: account, in: space),
        to: (waiting[account, default: []] + [inviter]).withoutRepeats)
    }
    announceJoined(invitations.joined)
  }

  fileprivate mutating func announceAccepted(
    _ account: AccountID, _ request: RequestID, to inviters: [AccountID]
  ) {
    announce(
      Catalogue.groupInvitationAccepted,
      attach: ["accid": .string(account.text), "requestId": .string(request.text)], parties: inviters)
  }
}
