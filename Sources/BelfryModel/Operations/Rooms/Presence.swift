/// An attendee's sign of life. It changes only the time until which the attendee counts as present.
package struct Heartbeat: SpaceOperation {
  package static let name = OperationName(.room, "heartbeat")
  package static let access = Access.members

  package var space: SpaceID
  package var actor: Actor

  package init(_ id: EntityID, actor: Actor) {
    space = .room(id)
    self.actor = actor
  }

  package func carryOut(_ draft: inout Draft<RoomRecord>) throws(Refusal) {
    let account = try draft.actingAccount()
    try draft.requireMember()
    draft.takeForPresent(account)
    draft.isEchoed = false
  }
}

/// Removes those of the accounts that gave no sign of life in time. If the host is among them, the room
/// closes.
///
/// Any broker may run it, for any accounts that it takes for absent: the operation decides by the presence
/// records, which the commit checks. So two brokers at once, or a heartbeat in between, have one outcome.
package struct TimeOutAttendees: SpaceOperation {
  package static let name = OperationName(.room, "timeOut")
  package static let access = Access.trusted

  package var space: SpaceID
  package var actor: Actor
  package var accounts: [AccountID]

  package init(_ space: SpaceID, accounts: [AccountID]) {
    self.space = space
    actor = Actor(account: nil, isTrusted: true)
    self.accounts = accounts.withoutRepeats
  }

  package var concerns: [RecordAddress] {
    accounts.flatMap { [.member($0, of: space), .presence($0, in: space)] }
  }

  package func carryOut(_ draft: inout Draft<RoomRecord>) throws(Refusal) {
    let absent = accounts.filter { draft.isAbsent($0) }
    if absent.contains(draft.settings.owner) { return draft.close() }
    for account in absent {
      if let member = try draft.member(account) {
        draft.remove(account, member, .timeout)
      } else {
        // A presence record without an attendee would be found over and over.
        draft.change(.presence(account, in: space), to: nil)
      }
    }
  }
}

extension Draft<RoomRecord> {
  mutating func takeForPresent(_ account: AccountID) {
    change(.presence(account, in: space), to: "\(nowMilliseconds + limits.absenceMilliseconds)")
  }

  /// True if the account's time is over. An unreadable record counts as over. An account without a record has
  /// left already.
  fileprivate func isAbsent(_ account: AccountID) -> Bool {
    guard let text = records.text(.presence(account, in: space)) else { return false }
    return PresenceText.untilMilliseconds(text) <= nowMilliseconds
  }
}

/// The text of a presence record: the time until which the account counts as present, milliseconds since
/// 1970.
package enum PresenceText {
  /// A time in the distant past if the text is none.
  package static func untilMilliseconds(_ text: String) -> Int64 { Int64(text) ?? 0 }
}
