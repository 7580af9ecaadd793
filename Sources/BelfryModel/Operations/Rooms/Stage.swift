/// The host asks a listener on stage. Asking again renews the invitation.
package struct InviteToStage: SpaceOperation {
  package static let name = OperationName(.room, "invite")
  package static let access = Access.owner

  package var space: SpaceID
  package var actor: Actor
  package var account: AccountID

  package init(_ id: EntityID, actor: Actor, account: AccountID) {
    space = .room(id)
    self.actor = actor
    self.account = account
  }

  package var accounts: [AccountID] { [account] }
  package var concerns: [RecordAddress] {
    [
      .member(account, of: space),
      .request(RequestID(.stageInvitation, of: account, in: space), of: space),
    ]
  }
  package var counts: [RecordTable] { [.requests] }

  package func carryOut(_ draft: inout Draft<RoomRecord>) throws(Refusal) -> StageInvitation {
    guard try draft.knownMember(account, field: "accid").role == .listener else {
      throw Refusal(.conflict, "\(account) is already on stage", field: "accid")
    }
    let request = RequestRecord(.stageInvitation, of: account, inviter: draft.settings.owner)
    let lasting = draft.limits.stageInvitationMilliseconds
    let token = try draft.ask(request, lastingMilliseconds: lasting)
    let invitation = StageInvitation(token: token, expiresAtMilliseconds: draft.nowMilliseconds + lasting)
    draft.announce(
      Catalogue.roomStageInvitation,
      attach: [
        "token": .string(token.text), "expiresAt": .integer(invitation.expiresAtMilliseconds),
        "roomInfo": draft.settings.info(space),
      ], parties: [account], expireAt: invitation.expiresAtMilliseconds)
    return invitation
  }
}

/// An invitation on stage, as it waits for the listener.
package struct StageInvitation: Sendable, Hashable {
  /// The token with which the listener answers.
  package var token: RequestID
  package var expiresAtMilliseconds: Int64
}

/// The listener who was invited on stage declines, or accepts, and is a guest with the hand down and the microphone on.
package struct AnswerStageInvitation: SpaceOperation {
  package static let name = OperationName(.room, "answer")
  package static let access = Access.members

  package var space: SpaceID
  package var actor: Actor
  package var token: RequestID
  package var isAccepted: Bool

  package init(_ id: EntityID, actor: Actor, token: RequestID, isAccepted: Bool) {
    space = .room(id)
    self.actor = actor
    self.token = token
    self.isAccepted = isAccepted
  }

  package var concerns: [RecordAddress] {
    [.request(token, of: space)] + (actor.account.map { [.hand($0, in: space)] } ?? [])
  }

  /// The host, who is notified.
  package func further(_ records: Records) -> [RecordAddress] {
    records.accounts(ofRequest: token, in: space).map { .member($0, of: space) }
  }

  package func carryOut(_ draft: inout Draft<RoomRecord>) throws(Refusal) {
    let account = try draft.actingAccount()
    // The token of another account's invitation is refused as if it did not exist.
    guard try draft.answer(token, .stageInvitation).account == account else {
      throw .noRequest(.stageInvitation)
    }
    draft.announce(
      Catalogue.roomStageInvitationAnswered,
      attach: ["accid": .string(account.text), "accepted": .bool(isAccepted)],
      parties: [draft.settings.owner])
    guard isAccepted else { return }
    try draft.setRole(.guest, of: account)
    draft.setHand(of: account, isRaised: false)
  }
}

/// A guest leaves the stage, by themselves or set back by the host.
package struct SetListener: SpaceOperation {
  package static let name = OperationName(.room, "setListener")
  package static let names = [name, ownStep]
  private static let ownStep = OperationName(.room, "stepDown")
  package static let access = Access.ownRule

  package var space: SpaceID
  package var actor: Actor
  package var account: AccountID

  package init(_ id: EntityID, actor: Actor, account: AccountID) {
    space = .room(id)
    self.actor = actor
    self.account = account
  }

  package var accounts: [AccountID] { [account] }
  package var concerns: [RecordAddress] { [.member(account, of: space)] }
  package var echoName: OperationName { isOwnStep ? Self.ownStep : Self.name }
  private var isOwnStep: Bool { actor.account == account }

  package func carryOut(_ draft: inout Draft<RoomRecord>) throws(Refusal) {
    try draft.require(isOwnStep ? .members : .owner, to: echoName.act)
    switch try draft.knownMember(account, field: "accid").role {
    case .guest:
      try draft.setRole(.listener, of: account)
      // The microphone is on again for a guest who comes back on stage.
      draft.change(.profile(account, in: space), to: nil)
    case .host:
      throw Refusal(
        .forbidden, "the host cannot leave the stage; delete the room instead", field: "accid")
    default: return
    }
  }
}

extension Draft<RoomRecord> {
  fileprivate mutating func setRole(_ role: MemberRole, of account: AccountID) throws(Refusal) {
    var member = try knownMember(account, field: "accid")
    member.role = role
    set(member, for: account)
    noteAttendeeChange()
    announce(
      Catalogue.roomRoleChanged, attach: ["accid": .string(account.text), "role": .string(role.rawValue)])
  }
}
