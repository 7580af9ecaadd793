/// Sends a custom notification: one append, whatever the audience.
///
/// A user sends where they belong and as themselves; a trusted back end anywhere. A named receiver who
/// is not a member gets the whole send refused: nothing is sent to the others.
package struct SendNotification: Operation {
  package var space: SpaceID
  package var actor: Actor
  package var content: NotificationContent
  /// False when the sender gave no `messageClientId`: a generated one can never be repeated.
  package var isDeduped: Bool

  private var form: SendForm

  /// The sends that a request amounts to. One, but for a live-only notification to several accounts:
  /// with nothing stored there is no letter to point at, so each account's own space is told.
  ///
  /// `generatedClientId` is used when the sender gave none.
  package static func sends(
    _ content: NotificationContent, by actor: Actor, generatedClientId: String
  ) throws(Refusal) -> [SendNotification] {
    let form = try SendForm(content)
    guard case .accounts(let accounts) = form, accounts.count > 1, !content.setting.persistEnable else {
      return [try SendNotification(content, form, by: actor, generatedClientId: generatedClientId)]
    }
    var sends: [SendNotification] = []
    for account in accounts {
      var send = try SendNotification(content, form, by: actor, generatedClientId: generatedClientId)
      send.space = .personal(account)
      sends.append(send)
    }
    return sends
  }

  private init(
    _ content: NotificationContent, _ form: SendForm, by actor: Actor, generatedClientId: String
  ) throws(Refusal) {
    try content.checkLimits()
    self.form = form
    self.content = content
    self.actor = try actor.sending(as: content.fromAccount)
    isDeduped = content.messageClientId != nil
    self.content.messageClientId = content.messageClientId ?? generatedClientId
    self.content.toType = form.toType
    self.content.fromAccount = self.actor.account
    self.content.fromDeviceId = content.fromDeviceId ?? actor.device
    switch form {
    case .server(let server), .channel(_, of: let server), .serverMembers(let server, _),
      .channelMembers(_, of: let server, _):
      space = .server(server)
    case .accounts(let accounts):
      space =
        accounts.count == 1
        ? .personal(accounts[0])
        : .letter(
          EntityID.letter(sender: self.actor.account, self.content.messageClientId ?? generatedClientId))
    }
  }

  // MARK: Deciding

  package var needs: [RecordAddress] {
    let actorNeeds = actor.isTrusted ? [] : actor.needs(in: space)
    switch form {
    case .server:
      return [.settings(space)] + actorNeeds
    case .channel(let channel, _):
      return [.settings(space), .channel(channel, of: space)] + actorNeeds
    case .serverMembers(_, let named):
      return [.settings(space)] + actorNeeds + named.map { .member($0, of: space) }
    case .channelMembers(let channel, _, let named):
      return [.settings(space), .channel(channel, of: space)] + actorNeeds
        + named.map { .member($0, of: space) }
    case .accounts:
      return []
    }
  }

  package func decide(_ records: Records, context: DecisionContext) throws(Refusal) -> Decision<
    NotificationContent
  > {
    var transaction = Transaction(space)
    transaction.preconditions = records.unchanged(needs)
    if isDeduped, let messageClientId = content.messageClientId {
      transaction.dedupe = Dedupe(sender: actor.account, messageClientId: messageClientId)
    }
    transaction.announcements = [Announcement(content, to: try audience(records))]
    if case .letter = space.kind, let accounts = content.toAccids {
      transaction.indexChanges = [IndexChange(.joined, accounts)]
    }
    return Decision(transaction, content)
  }

  private func audience(_ records: Records) throws(Refusal) -> Audience {
    switch form {
    case .server:
      try checkSender(records, channel: nil)
      return Audience(.byThreshold)
    case .channel(let id, _):
      let channel = try checkSender(records, channel: id)
      return Audience(.byThreshold, channel: id, channelHasRoster: channel?.hasRoster ?? false)
    case .serverMembers(_, let named):
      try checkSender(records, channel: nil)
      try checkNamed(named, records, channel: nil)
      return Audience(.named, named: named)
    case .channelMembers(let id, _, let named):
      let channel = try checkSender(records, channel: id)
      try checkNamed(named, records, channel: channel?.hasRoster == true ? id : nil)
      return Audience(.named, channel: id, channelHasRoster: channel?.hasRoster ?? false, named: named)
    case .accounts(let accounts):
      return Audience(
        .named, named: space.kind == .letter ? accounts : accounts.filter { .personal($0) == space })
    }
  }

  @discardableResult
  private func checkSender(_ records: Records, channel id: EntityID?) throws(Refusal) -> ChannelRecord? {
    _ = try records.server(space)
    var channel: ChannelRecord?
    if let id { channel = try records.channel(id, of: space) }
    if actor.isTrusted { return channel }
    guard let member = try actor.account.flatMap({ account throws(Refusal) in try records.member(account, of: space) }) else {
      throw Refusal(.notMember, "you are not a member of server \(space.name)")
    }
    if let id, channel?.hasRoster == true, member.standing.channels[id]?.belonging.current == nil {
      throw Refusal(.notMember, "you are not in channel \(id)")
    }
    return channel
  }

  private func checkNamed(_ named: [AccountID], _ records: Records, channel: EntityID?) throws(Refusal) {
    var absent: [AccountID] = []
    for account in named {
      let member = try records.member(account, of: space)
      let isInChannel = channel.map { member?.standing.channels[$0]?.belonging.current != nil } ?? true
      if member == nil || !isInChannel { absent.append(account) }
    }
    guard absent.isEmpty else {
      let names = absent.map(\.text).joined(separator: ", ")
      let place = channel.map { "channel \($0)" } ?? "server \(space.name)"
      throw Refusal(.notFound, "not in \(place): \(names); nothing was sent", field: "toAccids")
    }
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

extension EntityID {
  /// The letter of a send is named by what dedupes it, so a repeated send finds the same partition and
  /// there the dedupe record. Should two sends ever share a name, they share a log, and each entry still
  /// names its own receivers.
  fileprivate static func letter(sender: AccountID?, _ messageClientId: String) -> EntityID {
    EntityID(bits: StableHash.fnv1a("\(sender?.text ?? "") \(messageClientId)"))
  }
}
