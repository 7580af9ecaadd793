/// The place of a send, by its records: a server, one of its channels, a group or a room. It gives the facts
/// about sender and receivers there that a send has to know.
struct SendPlace {
  private let space: SpaceID
  private let settings: any SpaceRecord
  private let channel: (id: EntityID, record: ChannelRecord)?
  /// The sender's member record; nil for a trusted caller, which may send anywhere.
  private let sender: MemberRecord?
  private let records: Records

  /// The records that ``init(_:channel:_:for:)`` reads, in addition to the actor's own.
  static func needs(_ space: SpaceID, channel: EntityID?) -> [RecordAddress] {
    [.settings(space)] + (channel.map { [.channel($0, of: space)] } ?? [])
  }

  /// - Throws: `notFound` if the place does not exist, was removed, or is hidden from the sender.
  init(
    _ space: SpaceID, channel id: EntityID?, _ records: Records, for actor: Actor
  ) throws(Refusal) {
    self.space = space
    self.records = records
    settings = try records.anySettings(space)
    sender = actor.isTrusted ? nil : try Self.sender(actor, in: space, settings, records)
    guard let id else {
      channel = nil
      return
    }
    let record = try records.channel(id, of: space)
    if let sender, record.isHidden(id, from: sender) { throw .noChannel(id, in: space) }
    channel = (id, record)
  }

  private static func sender(
    _ actor: Actor, in space: SpaceID, _ settings: any SpaceRecord, _ records: Records
  ) throws(Refusal) -> MemberRecord {
    if let account = actor.account, let member = try records.member(account, of: space) { return member }
    throw settings.isHiddenFromStrangers ? .absent(space) : .notMember(of: space)
  }

  /// The audience of a send to everyone in the place, or to the accounts named.
  func audience(_ rule: Audience.Rule, named: [AccountID]?) -> Audience {
    Audience(
      named == nil ? rule : .named, channel: channel?.id,
      channelHasRoster: channel?.record.hasRoster ?? false, named: named ?? [])
  }

  /// - Throws: `disabled` if nobody may send; `notMember`, `muted` or `forbidden` if this user may not.
  func requireMaySend(nowMilliseconds: Int64) throws(Refusal) {
    try settings.requireEnabled()
    guard let member = sender else { return }
    try settings.requireMaySend(member, nowMilliseconds: nowMilliseconds)
    guard let (id, record) = channel else { return }
    if member.isBlocked(from: id) { throw Refusal(.banned, "you are blocked from channel \(id)") }
    guard !record.hasRoster || member.isIn(id) else {
      throw Refusal(.notMember, "you are not in channel \(id)")
    }
    if let until = member.channelMutes[id], until > nowMilliseconds {
      throw .muted(in: "channel \(id)", untilMilliseconds: until)
    }
  }

  /// Checks a send that names no receivers.
  /// - Throws: `forbidden` where this user may not send to everybody in the space.
  func requireMayBroadcast() throws(Refusal) {
    guard let sender, channel == nil else { return }
    try settings.requireMayBroadcast(sender)
  }

  /// - Parameter nick: the one that the sender gave; nil: none.
  /// - Throws: `forbidden` where the place takes the nick of a user's profile and no other.
  func requireOwnNick(_ nick: String?) throws(Refusal) {
    guard let nick, let sender else { return }
    try settings.requireMayUse(nick: nick, sender)
  }

  /// - Throws: `notFound`, naming the accounts that do not belong to the place.
  func requireThere(_ named: [AccountID]) throws(Refusal) {
    var absent: [AccountID] = []
    for account in named where try !isThere(account) { absent.append(account) }
    guard !absent.isEmpty else { return }
    let names = absent.map(\.text).joined(separator: ", ")
    let place = channel.map { "channel \($0.id)" } ?? "\(space.kind.rawValue) \(space.name)"
    throw Refusal(
      .notFound, "nothing was sent, because these accounts are not in \(place): \(names)", field: "toAccids")
  }

  private func isThere(_ account: AccountID) throws(Refusal) -> Bool {
    guard let member = try records.member(account, of: space) else { return false }
    guard let (id, record) = channel else { return true }
    return (!record.hasRoster || member.isIn(id)) && !member.isBlocked(from: id)
  }
}

extension Records {
  /// The settings of a space of any kind. Personal spaces and direct messages have none.
  fileprivate func anySettings(_ space: SpaceID) throws(Refusal) -> any SpaceRecord {
    switch space.kind {
    case .server: return try settings(ServerRecord.self, space)
    case .group: return try settings(GroupRecord.self, space)
    case .room: return try settings(RoomRecord.self, space)
    case .account, .direct:
      throw Refusal(.notFound, "there is no \(space)")
    }
  }
}

extension SpaceRecord {
  package func requireEnabled() throws(Refusal) {}
  package func requireMaySend(_: MemberRecord, nowMilliseconds _: Int64) throws(Refusal) {}
  package func requireMayBroadcast(_: MemberRecord) throws(Refusal) {}
  package func requireMayUse(nick _: String, _: MemberRecord) throws(Refusal) {}
}
