/// Changes the body, ext or status of a persisted notification: by whoever sent it and might still send it there, by the
/// receivers of types 1 to 4, or by a trusted back end.
package struct UpdateNotification: Operation {
  package var space: SpaceID
  package var entry: LogEntry
  package var actor: Actor
  package var body: String?
  package var ext: String?
  package var status: Int?
  /// Nil: unreadable.
  private let content: NotificationContent?

  /// `entry` as its log holds it, found beforehand: entries never change, so nothing can come between.
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
      throw .invalid("body", "ext or status is needed: nothing else of a notification can change")
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

  /// Whoever has left a space still sees what was said there before.
  private var formerNeeds: [RecordAddress] { actor.account.map { [.former($0, of: space)] } ?? [] }

  /// Those whom it was sent to directly.
  private var receivers: [AccountID] { space.hasRoster ? [] : entry.audience.named }

  package func company(_ records: Records) -> CompanyQuestion? {
    actor.company(for: [.write], among: receivers, records)
  }

  package func decide(_ records: Records, context: DecisionContext) throws(Refusal) -> Decision<Notification>
  {
    guard let content else {
      throw Refusal(.unavailable, "notification \(entry.id) is unreadable")
    }
    try checkActor(content, records, context)
    let address = RecordAddress.update(entry.id, in: space)
    let earlier = try records.json(UpdateRecord.self, address)
    let record = UpdateRecord(
      body: body ?? earlier?.body, ext: ext ?? earlier?.ext, status: status ?? earlier?.status,
      updateTime: max(
        context.nowMilliseconds, earlier?.updateTime ?? entry.id.unixMilliseconds))
    let notification = Notification(
      messageServerId: entry.id, time: entry.id.unixMilliseconds, updateTime: record.updateTime,
      content: record.applied(to: content))

    var transaction = Transaction(space)
    transaction.preconditions = records.unchanged(needs.filter { $0.space == space })
    // In a mailbox of one's own one needs nobody's room.
    if actor.account.map({ space != .personal($0) }) ?? true {
      transaction.charged = actor.charged
      if space.kind == .account { transaction.mailboxRoom = context.limits.mailboxRoom(for: actor) }
    }
    transaction.changes[address] = try RecordJSON.text(record)
    transaction.updates = [Update(notification, to: entry.audience)]
    return Decision(transaction, notification)
  }

  private func checkActor(
    _ content: NotificationContent, _ records: Records, _ context: DecisionContext
  ) throws(Refusal) {
    // Of what somebody does not see they do not learn that there is such a thing.
    if !actor.isTrusted {
      guard let account = actor.account else { throw Refusal(.unauthorized, "who is updating it?") }
      let isSeen = try isSeen(by: account, records)
      guard isSeen || content.fromAccount == account else { throw .noNotification(entry.id) }
    }
    guard let updaters = Catalogue.type(content.type)?.updaters, updaters != .nobody else {
      throw Refusal(.forbidden, "notifications of type \(content.type) cannot be updated")
    }
    if actor.isTrusted { return }
    guard let account = actor.account else { throw Refusal(.unauthorized, "who is updating it?") }
    guard updaters == .sender else {
      guard entry.audience.named.contains(account) else {
        throw Refusal(.forbidden, "only its receivers may update it")
      }
      return
    }
    guard content.fromAccount == account else { throw Refusal(.forbidden, "only its sender may update it") }
    // Whoever was put out or silenced has no say in there, not even by what they said before.
    guard space.hasRoster else {
      return try records.requireAll(of: receivers, toLet: actor, .write, context, field: nil)
    }
    try SendPlace(space, channel: content.channelId, records, for: actor)
      .requireMaySend(nowMilliseconds: context.nowMilliseconds)
  }
}

extension UpdateNotification {
  /// Read or not is the same here: it was seen then.
  private func isSeen(by account: AccountID, _ records: Records) throws(Refusal) -> Bool {
    if entry.audience.named.contains(account) { return true }
    guard space.hasRoster else { return false }
    var known = try records.member(account, of: space)
    if known == nil { known = try records.former(account, of: space) }
    guard let membership = known?.membership else { return false }
    return Visibility.of(
      entry.id, entry.audience, in: space, for: account, membership: membership, read: ReadState(),
      retentionFloor: .zero
    ).isVisible
  }
}

extension Refusal {
  package static func noNotification(_ id: MessageID) -> Refusal {
    Refusal(.notFound, "there is no notification \(id)", field: "messageServerId")
  }
}

extension SpaceID {
  /// Personal spaces and direct messages are for whom they name.
  fileprivate var hasRoster: Bool {
    switch kind {
    case .server, .group, .room: true
    case .account, .direct: false
    }
  }
}
