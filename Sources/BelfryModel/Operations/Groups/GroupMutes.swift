/// The owner and the admins mute members for a while, or let them send again. Nobody mutes the owner, and only the owner
/// an admin.
package struct SetGroupMute: SpaceOperation {
  package static let name = OperationName(.group, "mute")
  package static let removing = OperationName(.group, "unmute")
  package static let names = [name, removing]
  package static let access = Access.administrators

  package var space: SpaceID
  package var actor: Actor
  package var accounts: [AccountID]
  /// For how long from now; nil: no longer.
  package var durationMilliseconds: Int64?

  package init(_ id: EntityID, actor: Actor, accounts: [AccountID], durationMilliseconds: Int64?) {
    space = .group(id)
    self.actor = actor
    self.accounts = accounts.withoutRepeats
    self.durationMilliseconds = durationMilliseconds
  }

  package var echoName: OperationName { durationMilliseconds == nil ? Self.removing : Self.name }
  package var concerns: [RecordAddress] { accounts.map { .member($0, of: space) } }

  package func carryOut(_ draft: inout Draft<GroupRecord>) throws(Refusal) {
    let (changed, until) = try draft.changeMutes(
      of: accounts, lastingMilliseconds: durationMilliseconds)
    if changed.isEmpty { return }
    if let until {
      draft.announce(
        Catalogue.groupMuteAdded, attach: ["accids": .accids(changed), "expiresAt": .integer(until)],
        parties: changed)
    } else {
      draft.announce(Catalogue.groupMuteRemoved, attach: ["accids": .accids(changed)], parties: changed)
    }
  }
}

/// The owner and the admins mute all members but themselves and the allow-listed, or end that.
package struct SetGroupAllMuted: SpaceOperation {
  package static let name = OperationName(.group, "muteAll")
  package static let removing = OperationName(.group, "unmuteAll")
  package static let names = [name, removing]
  package static let access = Access.administrators

  package var space: SpaceID
  package var actor: Actor
  package var isOn: Bool

  package init(_ id: EntityID, actor: Actor, isOn: Bool) {
    space = .group(id)
    self.actor = actor
    self.isOn = isOn
  }

  package var echoName: OperationName { isOn ? Self.name : Self.removing }

  package func carryOut(_ draft: inout Draft<GroupRecord>) {
    guard draft.settings.isAllMuted != isOn else { return }
    draft.settings.isAllMuted = isOn
    draft.announce(Catalogue.groupAllMuteChanged, attach: ["on": .bool(isOn)])
  }
}

/// A member stops receiving the group's custom notifications, or receives them again. Those of the group
/// itself still arrive.
package struct SetGroupReceiving: SpaceOperation {
  package static let name = OperationName(.group, "stopReceiving")
  package static let resuming = OperationName(.group, "resumeReceiving")
  package static let names = [name, resuming]
  package static let access = Access.members

  package var space: SpaceID
  package var actor: Actor
  package var receives: Bool

  package init(_ id: EntityID, actor: Actor, receives: Bool) {
    space = .group(id)
    self.actor = actor
    self.receives = receives
  }

  package var echoName: OperationName { receives ? Self.resuming : Self.name }

  package func carryOut(_ draft: inout Draft<GroupRecord>) throws(Refusal) {
    let account = try draft.actingAccount()
    var member = try draft.requireMember()
    guard receives || member.role == .member else {
      throw Refusal(
        .forbidden, "the owner and the admins of a group cannot stop receiving its custom notifications")
    }
    let before = member
    try draft.set(
      &member.membership.stopped, to: !receives, "you have stopped receiving from group \(space.name)")
    guard member != before else { return }
    member.membership.forget(before: draft.context.forgottenFloor)
    draft.set(member, for: account, seesOtherwise: true)
  }
}
