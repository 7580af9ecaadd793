/// Changes the body, ext or status of a stored notification. Its sender may, while able to send there; the receivers of
/// types 1 to 4; and trusted callers.
package struct UpdateNotification: Operation {
  package var space: SpaceID
  package var entry: LogEntry
  package var actor: Actor
  package var body: String?
  package var ext: String?
  package var status: Int?
  /// Nil: unreadable.
  private let content: NotificationContent?

  /// - Parameter entry: as the log has it. It was read before, which is safe since entries never change.
  package init(
    _ entry: LogEntry, in space: SpaceID, by actor: Actor, body: String?, ext: String?, status: Int?
  ) throws(Refusal) {
    self.space = space
    self.entry = entry
    self.actor = actor
    self.body = body
    self.ext = ext
    self.status = status
    content = NotificationContent(json: entry.content)
    guard body != nil || ext != nil || status != nil else {
      throw .invalid(
        "body", "is missing: give body, ext or status, since nothing else of a notification can change")
    }
    try NotificationContent.check(body, "body", bytes: 0...Limits.bodyBytes)
    try NotificationContent.check(ext, "ext", bytes: 0...Limits.extBytes)
    if let status { try NotificationContent.check(status: status) }
  }

  package var needs: [RecordAddress] {
    let place =
      space.hasRoster && !actor.isTrusted
      ? SendPlace.needs(space, channel: content?.channelId) + actor.needs(in: space) + formerNeeds : []
    return [.update(entry.id, in: space)] + place + actor.needs(toApproach: receivers)
  }

  /// Former members still see entries from before they left.
  private var formerNeeds: [RecordAddress] { actor.account.map { [.former($0, of: space)] } ?? [] }

  /// The accounts it was sent to by name without a space.
  private var receivers: [AccountID] { space.hasRoster ? [] : entry.audience.named }

  package func company(_ records: Records) -> CompanyQuestion? {
    actor.company(for: [.write], among: receivers, records)
  }

  package func decide(_ records: Records, context: DecisionContext) throws(Refusal) -> Decision<Notification>
  {
    let address = RecordAddress.update(entry.id, in: space)
    let earlier = try records.json(UpdateRecord.self, address)
    // It may have been recalled since the entry was read.
    if entry.isRecalled || earlier?.recall != nil { throw .noNotification(entry.id) }
    guard let content else {
      throw Refusal(.unavailable, "notification \(entry.id) cannot be read. Tell the operator of the broker")
    }
    try checkActor(content, records, context)
    let record = UpdateRecord(
      body: body ?? earlier?.body, ext: ext ?? earlier?.ext, status: status ?? earlier?.status,
      updateTime: max(
        context.nowMilliseconds, earlier?.updateTime ?? entry.time))
    let notification = Notification(
      messageServerId: entry.id, time: entry.time, updateTime: record.updateTime,
      content: record.applied(to: content))

    var transaction = Transaction(space)
    transaction.preconditions = records.unchanged(needs.filter { $0.space == space })
    // An update of a notification to oneself needs no room in a mailbox.
    if actor.account.map({ space != .personal($0) }) ?? true {
      transaction.charged = actor.charged
      if space.kind == .account { transaction.mailboxCapacity = context.limits.mailboxCapacity(for: actor) }
    }
    transaction.changes[address] = try record.text(in: space)
    transaction.updates = [
      Update(
        of: entry.id, atMilliseconds: record.updateTime, notification.content, to: entry.audience,
        instead: earlier?.announcement)
    ]
    return Decision(transaction, notification)
  }

  private static let accountNeeded = Refusal(
    .unauthorized,
    "an update needs an account to act for, and the token names none; name it in the header Belfry-Account")

  private func checkActor(
    _ content: NotificationContent, _ records: Records, _ context: DecisionContext
  ) throws(Refusal) {
    // A notification that the actor does not see is refused as if it did not exist.
    if !actor.isTrusted {
      guard let account = actor.account else {
        throw Self.accountNeeded
      }
      let isSeen = try entry.isSent(to: account, in: space, records)
      guard isSeen || content.fromAccount == account else { throw .noNotification(entry.id) }
    }
    guard let updaters = Catalogue.type(content.type)?.updaters, updaters != .nobody else {
      throw Refusal(.forbidden, "notifications of type \(content.type) cannot be updated")
    }
    if actor.isTrusted { return }
    guard let account = actor.account else {
      throw Self.accountNeeded
    }
    guard updaters == .sender else {
      guard entry.audience.named.contains(account) else {
        throw Refusal(.forbidden, "only the receivers of this notification may update it")
      }
      // A receiver who has left, or was removed, writes nothing into the space any more.
      if space.hasRoster, try records.member(account, of: space) == nil { throw .noNotification(entry.id) }
      return
    }
    guard content.fromAccount == account else {
      throw Refusal(.forbidden, "only the sender of this notification may update it")
    }
    // A sender who was removed or muted cannot change what was sent before.
    guard space.hasRoster else {
      return try records.requireAll(of: receivers, toLet: actor, .write, context, field: nil)
    }
    try SendPlace(space, channel: content.channelId, records, for: actor)
      .requireMaySend(nowMilliseconds: context.nowMilliseconds)
  }
}

extension Refusal {
  /// One text for all cases, so that it reveals to nobody that a notification of others exists.
  package static func noNotification(_ id: MessageID) -> Refusal {
    Refusal(
      .notFound,
      "notification \(id) does not exist, or you cannot see it. It may be recalled, expired, read by all its receivers, or "
        + "too old to be kept", field: "messageServerId")
  }
}

extension LogEntry {
  /// Whether the entry was for the account, read or not. The records of the account in the space, present and former,
  /// are among the needs.
  func isSent(to account: AccountID, in space: SpaceID, _ records: Records) throws(Refusal) -> Bool {
    if audience.named.contains(account) { return true }
    guard space.hasRoster else { return false }
    var known = try records.member(account, of: space)
    if known == nil { known = try records.former(account, of: space) }
    guard let membership = known?.membership else { return false }
    return Visibility.asSent(
      notificationID, audience, for: account, membership: membership, retentionFloor: .zero
    ).isVisible
  }
}

extension SpaceID {
  /// Entries of personal spaces and direct messages are seen by the accounts they name.
  var hasRoster: Bool {
    switch kind {
    case .server, .group, .room: true
    case .account, .direct: false
    }
  }
}
