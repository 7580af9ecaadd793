/// Any account may enter a room, as a listener. Entering again is a heartbeat, and replaces what the attendee says of itself
/// where that is given.
package struct EnterRoom: SpaceOperation {
  package static let name = OperationName(.room, "enter")
  package static let access = Access.anyAccount

  package var space: SpaceID
  package var actor: Actor
  /// The attendee's nick, picture and ext, shown while it is inside.
  package var info: ProfileRecord

  package init(_ id: EntityID, actor: Actor, info: ProfileRecord = ProfileRecord()) {
    space = .room(id)
    self.actor = actor
    self.info = info
  }

  package var concerns: [RecordAddress] { joiners.map { .former($0, of: space) } }
  package var counts: [RecordTable] { [.roster] }
  package var joiners: [AccountID] { actor.account.map { [$0] } ?? [] }

  package func carryOut(_ draft: inout Draft<RoomRecord>) throws(Refusal) -> RoomRecord {
    let account = try draft.actingAccount()
    guard try draft.member(account) == nil else {
      draft.takeForPresent(account)
      if info != ProfileRecord() {
        try draft.writeAttendeeInfo(account, info)
        draft.noteAttendeeChange()
      }
      draft.isEchoed = false
      return draft.settings
    }
    try draft.join(account, as: .listener)
    try draft.writeAttendeeInfo(account, info)
    draft.announce(
      Catalogue.roomAttendeeJoined,
      attach: [
        "accid": .string(account.text), "nick": .words(info.nick), "avatar": .words(info.avatar),
        "ext": .words(info.ext),
      ])
    return draft.settings
  }
}

/// Any attendee may leave. When the host leaves, the room closes.
package struct LeaveRoom: SpaceOperation {
  package static let name = OperationName(.room, "leave")
  package static let access = Access.members

  package var space: SpaceID
  package var actor: Actor

  package init(_ id: EntityID, actor: Actor) {
    space = .room(id)
    self.actor = actor
  }

  package func carryOut(_ draft: inout Draft<RoomRecord>) throws(Refusal) {
    let account = try draft.actingAccount()
    let member = try draft.requireMember()
    if member.role == .host { return draft.close() }
    draft.remove(account, member, .left)
  }
}

/// The host removes attendees, who may enter again.
package struct RemoveAttendees: SpaceOperation {
  package static let name = OperationName(.room, "remove")
  package static let access = Access.owner

  package var space: SpaceID
  package var actor: Actor
  package var accounts: [AccountID]

  package init(_ id: EntityID, actor: Actor, accounts: [AccountID]) {
    space = .room(id)
    self.actor = actor
    self.accounts = accounts.withoutRepeats
  }

  package var concerns: [RecordAddress] { accounts.map { .member($0, of: space) } }

  package func carryOut(_ draft: inout Draft<RoomRecord>) throws(Refusal) {
    try draft.requireSome(accounts)
    for account in accounts {
      let member = try draft.knownMember(account)
      guard member.role != .host else {
        throw Refusal(.forbidden, "the host cannot be removed; delete the room instead", field: "accids")
      }
      draft.remove(account, member, .removed)
    }
  }
}

/// Why an attendee left: `reason` of type 402.
enum LeavingReason: String {
  case left, timeout, removed
}

extension Draft<RoomRecord> {
  mutating func join(_ account: AccountID, as role: MemberRole) throws(Refusal) {
    try addMember(account, as: role, membersMax: limits.attendeesPerRoom)
    takeForPresent(account)
    wake(atMilliseconds: nowMilliseconds + limits.absenceMilliseconds)
    noteAttendeeChange()
  }

  /// Says what is shown of an attendee while it is inside.
  mutating func writeAttendeeInfo(_ account: AccountID, _ info: ProfileRecord) throws(Refusal) {
    try info.checkLimits()
    if info == ProfileRecord() { return }
    change(.attendeeInfo(account, in: space), to: try RecordJSON.text(info))
  }

  /// Removes an attendee with everything that was theirs in the room, and announces it. An attendee who enters again is a
  /// listener with the hand down and no invitation.
  mutating func remove(_ account: AccountID, _ member: MemberRecord, _ reason: LeavingReason) {
    removeMember(account, member)
    change(.presence(account, in: space), to: nil)
    change(.hand(account, in: space), to: nil)
    change(.profile(account, in: space), to: nil)
    change(.attendeeInfo(account, in: space), to: nil)
    change(.request(RequestID(.stageInvitation, of: account, in: space), of: space), to: nil)
    noteAttendeeChange()
    announce(
      Catalogue.roomAttendeeLeft,
      attach: ["accid": .string(account.text), "reason": .string(reason.rawValue)], parties: [account])
  }

  /// Written without being read, so that a hundred thousand attendees may enter at once without conflicts.
  mutating func noteAttendeeChange() {
    change(.attendeeList(of: space), to: MessageID.endOfThisCommit.streamForm)
  }
}
