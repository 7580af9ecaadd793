/// Any account may apply to a public group. A private group is refused as if it did not exist.
package struct ApplyToGroup: SpaceOperation {
  package static let name = OperationName(.group, "apply")
  package static let names = [name, joining]
  private static let joining = OperationName(.group, "join")
  package static let access = Access.anyAccount

  package var space: SpaceID
  package var actor: Actor
  package var reason: String?

  package init(_ id: EntityID, actor: Actor, reason: String? = nil) {
    space = .group(id)
    self.actor = actor
    self.reason = reason
  }

  package enum Outcome: Sendable, Hashable {
    case joined
    /// Waits for the owner or an admin.
    case waiting(RequestID)
  }

  package var concerns: [RecordAddress] {
    actor.account.map { GroupRecord.joinNeeds($0, space) } ?? []
  }
  package var counts: [RecordTable] { [.roster, .requests] }
  package var joiners: [AccountID] { actor.account.map { [$0] } ?? [] }

  package func carryOut(_ draft: inout Draft<GroupRecord>) throws(Refusal) -> Outcome {
    try NotificationContent.check(reason, "reason", characters: Limits.messageCharacters)
    let account = try draft.actingAccount()
    if try draft.member(account) != nil { return .joined }
    guard draft.settings.style.isPublic else { throw .absent(GroupRecord.self, space) }
    try draft.requireNotBlocked(account)
    try draft.settings.requireEnabled()
    guard draft.settings.style == .publicApproval else {
      draft.echoName = Self.joining
      try draft.join(account)
      draft.announceJoined([account])
      return .joined
    }
    return .waiting(try draft.apply(account, reason))
  }
}

/// The owner or an admin accepts an application, or declines it.
package struct AnswerGroupApplication: SpaceOperation {
  package static let name = OperationName(.group, "applyAccept")
  package static let declining = OperationName(.group, "applyDecline")
  package static let names = [name, declining]
  package static let access = Access.administrators

  package var space: SpaceID
  package var actor: Actor
  package var request: RequestID
  package var isApproved: Bool
  /// Why not.
  package var reason: String?

  package init(
    _ id: EntityID, actor: Actor, request: RequestID, isApproved: Bool, reason: String? = nil
  ) {
    space = .group(id)
    self.actor = actor
    self.request = request
    self.isApproved = isApproved
    self.reason = reason
  }

  package var echoName: OperationName { isApproved ? Self.name : Self.declining }
  package var concerns: [RecordAddress] { [.request(request, of: space)] }
  package var counts: [RecordTable] { [.roster] }

  package func joiners(_ records: Records) -> [AccountID] {
    isApproved ? records.accounts(ofRequest: request, in: space) : []
  }
  package func further(_ records: Records) -> [RecordAddress] {
    records.accounts(ofRequest: request, in: space).flatMap { GroupRecord.joinNeeds($0, space) }
  }

  package func carryOut(_ draft: inout Draft<GroupRecord>) throws(Refusal) {
    try NotificationContent.check(reason, "reason", characters: Limits.messageCharacters)
    let account = try draft.answer(request, .application).account
    guard isApproved else {
      draft.announce(
        Catalogue.groupJoinRequestDeclined,
        attach: [
          "requestId": .string(request.text), "reason": .words(reason),
          "decliner": .accid(actor.account), "applicant": .string(account.text),
        ], parties: [account])
      return
    }
    try draft.join(account)
    draft.announce(
      Catalogue.groupJoinRequestApproved,
      attach: [
        "groupInfo": draft.settings.info(space), "accid": .string(account.text),
        "requestId": .string(request.text),
      ], parties: [account])
    draft.announceJoined([account])
  }
}

extension Draft<GroupRecord> {
  /// While an application waits, applying again for the same reason changes nothing and notifies nobody.
  fileprivate mutating func apply(_ account: AccountID, _ reason: String?) throws(Refusal) -> RequestID {
    let application = RequestRecord(.application, of: account, message: reason)
    let request = RequestID(.application, of: account, in: space)
    guard try enterApplication(application) else { return request }
    announce(
      Catalogue.groupJoinRequest,
      attach: [
        "requestId": .string(request.text), "accid": .string(account.text), "reason": .words(reason),
      ])
    return request
  }
}
