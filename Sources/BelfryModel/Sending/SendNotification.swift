/// Sends a custom notification: one append, whatever the audience.
///
/// A user sends where they belong and as themselves; a trusted back end anywhere. A named receiver who
/// is not a member gets the whole send refused: nothing is sent to the others.
///
/// A class, and its own output: a notification's content is twenty values, and on its way from the request to the
/// answer it would be copied ten times.
package final class SendNotification: Operation {
  package let space: SpaceID
  package let actor: Actor
  package let content: NotificationContent
  /// False when the sender gave no `messageClientId`: a generated one can never be repeated.
  package let isDeduped: Bool

  private let form: SendForm

  /// The sends that a request amounts to. One, but for a live-only notification to several accounts:
  /// with nothing stored there is no direct message to point at, so each account's own space is told.
  ///
  /// `generatedClientId` is used when the sender gave none.
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

  /// - Parameter space: nil: where the form says, or what it names makes it.
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
    isDeduped = given.messageClientId != nil
  }

  // MARK: Deciding

  package var needs: [RecordAddress] {
    guard form.space != nil else { return actor.needs(toApproach: receivers) }
    return SendPlace.needs(space, channel: form.channel) + (actor.isTrusted ? [] : actor.needs(in: space))
      + (form.named ?? []).map { .member($0, of: space) }
  }

  /// Those it is sent to directly.
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

  /// What is read of the receivers of a direct message lies elsewhere and is not locked.
  package var mayRecall: Bool { space.kind != .direct }

  /// The sender, the space and the sender's id are what they were, whoever belongs where by now.
  package var repetition: Repetition<SendNotification>? {
    dedupe.map { Repetition(of: RepeatedSend(in: space, $0, content), self) }
  }

  private var dedupe: Dedupe? {
    guard isDeduped, let messageClientId = content.messageClientId else { return nil }
    return Dedupe(sender: actor.account, messageClientId: messageClientId)
  }

  package func decide(
    _ records: Records, context: DecisionContext
  ) throws(Refusal) -> Decision<SendNotification> {
    try requireOwnDevice()
    var transaction = Transaction(space)
    // What was read of a direct message's receivers, their options, is as it was: only the space itself is locked.
    transaction.preconditions = space.kind == .direct ? [:] : records.unchanged(needs)
    transaction.charged = actor.charged
    if space.kind == .account, content.setting.persistEnable {
      transaction.mailboxRoom = context.limits.mailboxRoom(for: actor)
    }
    transaction.dedupe = dedupe
    transaction.announcements = [Announcement(content, to: try audience(records, context))]
    if case .direct = space.kind, let accounts = content.toAccids {
      transaction.indexChanges = [IndexChange(.joined, accounts)]
    }
    return Decision(transaction, self)
  }

  /// Other devices of the sender's go by what device sent it, so a user cannot name another one. Asked when it
  /// is decided, not before: what was sent from there may be repeated from here.
  private func requireOwnDevice() throws(Refusal) {
    guard !actor.isTrusted, let own = actor.device, content.fromDeviceId != own else { return }
    throw Refusal(.forbidden, "you cannot send from another device", field: "fromDeviceId")
  }

  private func audience(_ records: Records, _ context: DecisionContext) throws(Refusal) -> Audience {
    guard form.space != nil else {
      try records.requireAll(of: receivers, toLet: actor, .write, context, field: "toAccids")
      if space.kind == .direct {
        try context.requireRoom(in: receivers, for: actor, field: "toAccids") {
          $0.hasRoomForDirectMessage($1)
        }
      }
      return Audience(.named, named: receivers)
    }
    let place = try SendPlace(space, channel: form.channel, records, for: actor)
    if !actor.isTrusted {
      try place.requireMaySend(nowMilliseconds: context.nowMilliseconds)
    }
    if let named = form.named { try place.requireThere(named) }
    return place.audience(form.broadcastRule, named: form.named)
  }
}

extension Actor {
  /// A user sends as themselves; a trusted back end in anybody's name.
  fileprivate func sending(as from: AccountID?) throws(Refusal) -> Actor {
    guard let from, from != account else { return self }
    guard isTrusted, account == nil else {
      throw Refusal(.forbidden, "you cannot send as \(from)", field: "fromAccount")
    }
    return Actor(account: from, device: device, isTrusted: true)
  }
}

extension SpaceID {
  /// Where accounts are told who need have nothing in common: one in its own space, several in a direct message.
  fileprivate static func accounts(
    _ accounts: [AccountID], from sender: AccountID?, _ messageClientId: String
  ) -> SpaceID {
    accounts.count == 1
      ? .personal(accounts[0]) : .direct(EntityID.directMessage(sender: sender, messageClientId))
  }
}

extension EntityID {
  /// The direct message of a send is named by what dedupes it, so a repeated send finds the same partition and
  /// there the dedupe record. Should two sends ever share a name, they share a log, and each entry still
  /// names its own receivers.
  fileprivate static func directMessage(sender: AccountID?, _ messageClientId: String) -> EntityID {
    EntityID(bits: StableHash.fnv1a("\(sender?.text ?? "") \(messageClientId)"))
  }
}
