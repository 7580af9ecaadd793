/// Sends a custom notification: one append, for an audience of any size.
///
/// A user sends as themselves, to spaces that they belong to; a trusted caller sends anywhere. If a named
/// receiver is no member, the whole send is refused.
///
/// It is a class, and its own output: a notification's content is twenty values, which would be copied ten
/// times between the request and the answer.
package final class SendNotification: Operation {
  package let space: SpaceID
  package let actor: Actor
  package let content: NotificationContent
  /// False if the sender gave no `messageClientId`. Then the send repeats no earlier one. It is remembered by
  /// the id that it was given, so that it can be repeated with that.
  package let mayRepeat: Bool

  private let form: SendForm
  /// The sender's own content, if a callback has changed it.
  private let given: NotificationContent?
  /// True if nobody receives it, although its sender is told that it was sent.
  private let isSilenced: Bool

  /// The sends that a request amounts to. It is one, except for an ephemeral notification to several
  /// accounts: that is published in each personal space, since there is no stored direct message to point at.
  ///
  /// - Parameter generatedClientId: the `messageClientId` if the sender gave none.
  package static func sends(
    _ content: NotificationContent, by actor: Actor, generatedClientId: String
  ) throws(Refusal) -> [SendNotification] {
    let form = try SendForm(content)
    let accounts = form.named ?? []
    guard form.space == nil, accounts.count > 1, !content.setting.persistEnable else {
      return [try SendNotification(content, form, by: actor, generatedClientId: generatedClientId)]
    }
    var sends: [SendNotification] = []
    for account in accounts {
      sends.append(
        try SendNotification(
          content, form, in: .personal(account), by: actor, generatedClientId: generatedClientId))
    }
    return sends
  }

  /// - Parameter space: nil: the space that the form names, or that its named accounts imply.
  private init(
    _ given: NotificationContent, _ form: SendForm, in space: SpaceID? = nil, by actor: Actor,
    generatedClientId: String
  ) throws(Refusal) {
    try given.checkLimits()
    let sender = try actor.sending(as: given.fromAccount)
    let clientId = given.messageClientId ?? generatedClientId
    var content = given
    content.messageClientId = clientId
    content.toType = form.toType
    content.fromAccount = sender.account
    content.fromDeviceId = given.fromDeviceId ?? actor.device
    self.form = form
    self.content = content
    self.actor = sender
    self.space = space ?? form.space ?? .accounts(form.named ?? [], from: sender.account, clientId)
    mayRepeat = given.messageClientId != nil
    self.given = nil
    isSilenced = false
  }

  /// The same send with a callback's changes.
  init(_ send: SendNotification, content: NotificationContent, isSilenced: Bool) {
    space = send.space
    actor = send.actor
    form = send.form
    mayRepeat = send.mayRepeat
    given = send.given ?? send.content
    self.content = content
    self.isSilenced = isSilenced
  }

  // MARK: Deciding

  package var needs: [RecordAddress] {
    guard form.space != nil else { return actor.needs(toApproach: receivers) }
    return SendPlace.needs(space, channel: form.channel)
      + (actor.isTrusted && !takesNick ? [] : actor.needs(in: space))
      + (form.named ?? []).map { .member($0, of: space) }
  }

  /// True if the sender gave no nick, so that receivers are told that of the sender's profile in the server.
  private var takesNick: Bool { space.kind == .server && content.fromNick == nil }

  /// The content with the nick of the sender's profile; nil if it takes none.
  private func contentWithNick(_ records: Records) throws(Refusal) -> NotificationContent? {
    guard takesNick, let account = actor.account,
      let nick = try records.member(account, of: space)?.nick
    else { return nil }
    var named = content
    named.fromNick = nick
    return named
  }

  /// The accounts it is sent to by name without a space.
  private var receivers: [AccountID] {
    guard form.space == nil, let named = form.named else { return [] }
    return space.kind == .direct ? named : named.filter { .personal($0) == space }
  }

  package var mailboxes: MailboxQuestion? {
    space.kind == .direct ? MailboxQuestion(receivers, from: actor) : nil
  }
  package func company(_ records: Records) -> CompanyQuestion? {
    actor.company(for: [.write], among: receivers, records)
  }

  /// The options of a direct message's receivers lie in other partitions, where this commit cannot check them.
  package var mayUseCached: Bool { space.kind != .direct }

  /// A repetition is recognised by sender, space and `messageClientId`, also if memberships have changed
  /// since.
  package var repetition: Repetition<SendNotification>? {
    guard mayRepeat else { return nil }
    return dedupe.map { Repetition(of: RepeatedSend(in: space, $0, given ?? content), self) }
  }

  private var dedupe: Dedupe? {
    content.messageClientId.map { Dedupe(sender: actor.account, messageClientId: $0) }
  }

  package func decide(
    _ records: Records, context: DecisionContext
  ) throws(Refusal) -> Decision<SendNotification> {
    try requireOwnDevice()
    // This is decided with the send: a repetition may come after its notification has expired.
    if let time = content.expireAt, time <= context.nowMilliseconds {
      throw .invalid("expireAt", "must lie in the future, in milliseconds since 1970")
    }
    var audience = try audience(records, context)
    audience.expiresAt = content.expireAt
    var transaction = Transaction(space)
    // The options of a direct message's receivers are as of when they were read: they lie in other partitions.
    transaction.preconditions = space.kind == .direct ? [:] : records.unchanged(needs)
    transaction.charged = actor.charged
    if space.kind == .account, content.setting.persistEnable {
      transaction.mailboxCapacity = context.limits.mailboxCapacity(for: actor)
    }
    transaction.dedupe = dedupe
    let named = try contentWithNick(records)
    // A repetition is compared by what the sender gave: the nick may have changed meanwhile.
    transaction.given = given ?? named.map { _ in content }
    if isSilenced { return Decision(silenced(transaction), self) }
    transaction.announcements = [Announcement(named ?? content, to: audience)]
    if case .direct = space.kind, let accounts = content.toAccids {
      transaction.indexChanges = [IndexChange(.joined, accounts)]
    }
    return Decision(transaction, self)
  }

  /// A silenced send has an id, and is remembered as every send is. It is stored nowhere, and nobody receives
  /// it.
  private func silenced(_ transaction: Transaction) -> Transaction {
    var transaction = transaction
    var content = content
    content.setting.persistEnable = false
    transaction.announcements = [Announcement(content, to: Audience(.named))]
    transaction.mailboxCapacity = nil
    transaction.charged = nil
    return transaction
  }

  /// A user cannot name another device as the sending one, since the sender's other devices go by it. Checked when the
  /// send is decided: a repetition may come from another device than the first send.
  private func requireOwnDevice() throws(Refusal) {
    guard !actor.isTrusted, let own = actor.device, content.fromDeviceId != own else { return }
    throw Refusal(
      .forbidden, "you cannot name a device other than your own as the sender; leave fromDeviceId out",
      field: "fromDeviceId")
  }

  private func audience(_ records: Records, _ context: DecisionContext) throws(Refusal) -> Audience {
    guard form.space != nil else {
      try records.requireAll(of: receivers, toLet: actor, .write, context, field: "toAccids")
      if space.kind == .direct {
        try context.requireCapacity(in: receivers, for: actor, field: "toAccids") {
          $0.takesDirectMessage($1)
        }
      }
      return Audience(.named, named: receivers)
    }
    let place = try SendPlace(space, channel: form.channel, records, for: actor)
    try place.requireMaySend(nowMilliseconds: context.nowMilliseconds)
    try place.requireOwnNick(content.fromNick)
    if let named = form.named { try place.requireThere(named) } else { try place.requireMayBroadcast() }
    return place.audience(form.broadcastRule, named: form.named)
  }
}

extension Actor {
  /// - Throws: `forbidden` when a user sends in another account's name.
  fileprivate func sending(as from: AccountID?) throws(Refusal) -> Actor {
    guard let from, from != account else { return self }
    guard isTrusted, account == nil else {
      throw Refusal(.forbidden, "you cannot send as \(from)", field: "fromAccount")
    }
    return Actor(account: from, device: device, isTrusted: true)
  }
}

extension SpaceID {
  /// The destination of a send to accounts by name: for one its personal space, for several a direct message.
  fileprivate static func accounts(
    _ accounts: [AccountID], from sender: AccountID?, _ messageClientId: String
  ) -> SpaceID {
    accounts.count == 1
      ? .personal(accounts[0]) : .direct(EntityID.directMessage(sender: sender, messageClientId))
  }
}

extension EntityID {
  /// The space of a direct message is named by the sender and the `messageClientId`, so that a repeated send finds the
  /// same partition and its dedupe record. No sender can name a direct message as another sender's. Two of one sender with
  /// the same name would share a log, in which each entry names its own receivers.
  fileprivate static func directMessage(sender: AccountID?, _ messageClientId: String) -> EntityID {
    EntityID(hashing: "\(sender?.text ?? "") \(messageClientId)")
  }
}
