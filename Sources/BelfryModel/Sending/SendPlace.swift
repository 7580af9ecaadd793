/// The place a notification is sent to, as its records show it: a server, one of its channels, a group, a
/// room. What each of them asks of senders and receivers is the same few questions.
struct SendPlace {
  private let space: SpaceID
  private let settings: any SpaceRecord
  private let channel: (id: EntityID, record: ChannelRecord)?
  private let records: Records

  /// The records that ``init(_:channel:_:for:)`` reads, beside the actor's own.
  static func needs(_ space: SpaceID, channel: EntityID?) -> [RecordAddress] {
    [.settings(space)] + (channel.map { [.channel($0, of: space)] } ?? [])
  }

  /// Refuses what does not exist, and what is not there any more, or not for this sender.
  init(
    _ space: SpaceID, channel id: EntityID?, _ records: Records, for actor: Actor
  ) throws(Refusal) {
    self.space = space
    self.records = records
    settings = try records.anySettings(space)
    var member: MemberRecord?
    if !actor.isTrusted {
      member = try actor.account.flatMap { account throws(Refusal) in
        try records.member(account, of: space)
      }
      if member == nil, settings.isHiddenFromStrangers { throw .absent(space) }
      guard member != nil else { throw .notMember(of: space) }
    }
    guard let id else {
      channel = nil
      return
    }
    let record = try records.channel(id, of: space)
    if let member, record.isHidden(id, from: member) { throw .noChannel(id, in: space) }
    channel = (id, record)
  }

  /// The audience of a send to everyone there, or to those named.
  func audience(_ rule: Audience.Rule, named: [AccountID]?) -> Audience {
    Audience(
      named == nil ? rule : .named, channel: channel?.id,
      channelHasRoster: channel?.record.hasRoster ?? false, named: named ?? [])
  }

  /// A user sends where they belong, unless they were silenced there.
  func requireMaySend(_ account: AccountID?, nowMilliseconds: Int64) throws(Refusal) {
    guard let account, let member = try records.member(account, of: space) else {
      throw .notMember(of: space)
    }
    try settings.requireMaySend(member, nowMilliseconds: nowMilliseconds)
    guard let (id, record) = channel else { return }
    if member.isBlocked(from: id) { throw Refusal(.banned, "you are blocked from channel \(id)") }
    guard !record.hasRoster || member.isIn(id) else {
      throw Refusal(.notMember, "you are not in channel \(id)")
    }
    if let until = member.channelMutes[id], until > nowMilliseconds {
      throw Refusal(.muted, "you are muted in channel \(id) until \(until), in milliseconds since 1970")
    }
  }

  /// All of them, or nobody is sent anything.
  func requireThere(_ named: [AccountID]) throws(Refusal) {
    var absent: [AccountID] = []
    for account in named where try !isThere(account) { absent.append(account) }
    guard !absent.isEmpty else { return }
    let names = absent.map(\.text).joined(separator: ", ")
    let place = channel.map { "channel \($0.id)" } ?? "\(space.kind.rawValue) \(space.name)"
    throw Refusal(.notFound, "not in \(place): \(names); nothing was sent", field: "toAccids")
  }

  private func isThere(_ account: AccountID) throws(Refusal) -> Bool {
    guard let member = try records.member(account, of: space) else { return false }
    guard let (id, record) = channel else { return true }
    return (!record.hasRoster || member.isIn(id)) && !member.isBlocked(from: id)
  }
}

extension Records {
  /// The settings of a space of whatever kind. Personal spaces and letters have none.
  fileprivate func anySettings(_ space: SpaceID) throws(Refusal) -> any SpaceRecord {
    switch space.kind {
    case .server: return try settings(ServerRecord.self, space)
    case .group: return try settings(GroupRecord.self, space)
    case .room: return try settings(RoomRecord.self, space)
    case .account, .letter:
      throw Refusal(.notFound, "there is no \(space)")
    }
  }
}

extension SpaceRecord {
  package func requireMaySend(_: MemberRecord, nowMilliseconds _: Int64) throws(Refusal) {}
}
