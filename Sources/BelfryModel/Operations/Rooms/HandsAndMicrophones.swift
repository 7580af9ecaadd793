/// A listener raises a hand, or lowers it. The host lowers the hands of others.
package struct SetHand: SpaceOperation {
  package static let name = OperationName(.room, "hand")
  package static let access = Access.ownRule

  package var space: SpaceID
  package var actor: Actor
  /// The account whose hand it is; nil: the actor's.
  package var account: AccountID?
  package var isRaised: Bool

  package init(_ id: EntityID, actor: Actor, of account: AccountID? = nil, isRaised: Bool) {
    space = .room(id)
    self.actor = actor
    self.account = account ?? actor.account
    self.isRaised = isRaised
  }

  /// Another's hand is named in the echo.
  package var accounts: [AccountID] { account == actor.account ? [] : account.map { [$0] } ?? [] }
  package var concerns: [RecordAddress] {
    account.map { [.member($0, of: space), .hand($0, in: space)] } ?? []
  }

  package func carryOut(_ draft: inout Draft<RoomRecord>) throws(Refusal) {
    guard let account, account != actor.account else {
      let account = try draft.actingAccount()
      guard try draft.requireMember().role == .listener else {
        throw Refusal(.forbidden, "only listeners can raise a hand; you are on stage")
      }
      return draft.setHand(of: account, isRaised: isRaised)
    }
    try draft.require(.owner, to: "lower another attendee's hand")
    guard !isRaised else {
      throw Refusal(
        .forbidden, "only the attendee can raise that hand; you can only lower it", field: "accid")
    }
    _ = try draft.knownMember(account, field: "accid")
    draft.setHand(of: account, isRaised: false)
  }
}

extension Draft<RoomRecord> {
  /// Needs the record of the hand.
  mutating func setHand(of account: AccountID, isRaised: Bool) {
    let hand = RecordAddress.hand(account, in: space)
    guard (records.text(hand) != nil) != isRaised else { return }
    change(hand, to: isRaised ? "\(nowMilliseconds)" : nil)
    announce(
      Catalogue.roomHandChanged, attach: ["accid": .string(account.text), "raised": .bool(isRaised)])
  }
}

/// An attendee on stage switches their own microphone. The host may switch another's off, and nobody another's on.
package struct SetMicrophone: SpaceOperation {
  package static let name = OperationName(.room, "microphone")
  package static let access = Access.ownRule

  package var space: SpaceID
  package var actor: Actor
  package var account: AccountID
  package var isOn: Bool

  package init(_ id: EntityID, actor: Actor, account: AccountID, isOn: Bool) {
    space = .room(id)
    self.actor = actor
    self.account = account
    self.isOn = isOn
  }

  package var accounts: [AccountID] { [account] }
  package var concerns: [RecordAddress] { [.member(account, of: space), .profile(account, in: space)] }

  package func carryOut(_ draft: inout Draft<RoomRecord>) throws(Refusal) {
    let isOwn = actor.account == account
    try draft.require(isOwn ? .members : .owner, to: Self.name.act)
    let role = try draft.knownMember(account, field: "accid").role
    guard role != .listener else {
      throw Refusal(.forbidden, "\(account) is not on stage", field: "accid")
    }
    guard isOwn || !isOn else {
      throw Refusal(
        .forbidden, "only the attendee can switch that microphone on; you can only switch it off", field: "on"
      )
    }
    let profile = RecordAddress.profile(account, in: space)
    guard role.isHeard(try draft.records.json(StageRecord.self, profile)) != isOn else { return }
    draft.change(profile, to: isOn ? nil : try RecordJSON.text(StageRecord(microphone: false)))
    draft.announce(
      Catalogue.roomMicrophoneChanged,
      attach: [
        "accid": .string(account.text), "on": .bool(isOn),
        "operator": actor.account.map { .string($0.text) } ?? .null,
      ])
  }
}
