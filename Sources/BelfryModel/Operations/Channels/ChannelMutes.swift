/// The owner and the admins mute members of a channel for a while. A muted member cannot send to it and still receives. A
/// mute ends by itself, and outlasts leaving the channel and the server.
package struct MuteInChannel: SpaceOperation {
  package static let name = OperationName(.channel, "addMute")
  package static let access = Access.administrators

  package var space: SpaceID
  package var actor: Actor
  package var id: EntityID
  package var accounts: [AccountID]
  package var durationMilliseconds: Int64

  package init(
    _ server: EntityID, id: EntityID, actor: Actor, accounts: [AccountID], durationMilliseconds: Int64
  ) {
    space = .server(server)
    self.id = id
    self.actor = actor
    self.accounts = accounts.withoutRepeats
    self.durationMilliseconds = durationMilliseconds
  }

  package var channelID: EntityID? { id }
  package var concerns: [RecordAddress] {
    accounts.flatMap { [.member($0, of: space), .channelMute(of: $0, in: id, of: space)] }
  }
  package var counts: [RecordTable] { [.channelMuted(id)] }

  /// Gives when it ends, milliseconds since 1970.
  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) -> Int64 {
    try draft.requireSome(accounts)
    guard (1...Limits.muteMaximumMilliseconds).contains(durationMilliseconds) else {
      throw .invalid("durationMilliseconds", "must be 1 to \(Limits.muteMaximumMilliseconds)")
    }
    let channel = try draft.records.channel(id, of: space)
    let end = ExpiringText(expiresAtMilliseconds: draft.nowMilliseconds + durationMilliseconds)
    for account in accounts {
      var member = try draft.knownMember(account, of: channel, id)
      try draft.requireRankAbove(member)
      try draft.requireRoom(forMuteIn: id, in: member, of: account)
      member.channelMutes[id] = end.expiresAtMilliseconds
      draft.set(member, for: account)
      try draft.put(.channelMute(of: account, in: id, of: space), end.text, atMost: Limits.accountsPerList)
    }
    draft.announceMute(of: accounts, until: end.expiresAtMilliseconds, id, channel)
    return end.expiresAtMilliseconds
  }
}

/// The owner and the admins let muted accounts send again. Nothing changes for accounts that are not muted.
package struct UnmuteInChannel: SpaceOperation {
  package static let name = OperationName(.channel, "removeMute")
  package static let access = Access.administrators

  package var space: SpaceID
  package var actor: Actor
  package var id: EntityID
  package var accounts: [AccountID]

  package init(_ server: EntityID, id: EntityID, actor: Actor, accounts: [AccountID]) {
    space = .server(server)
    self.id = id
    self.actor = actor
    self.accounts = accounts.withoutRepeats
  }

  package var channelID: EntityID? { id }
  package var concerns: [RecordAddress] {
    accounts.flatMap { [.member($0, of: space), .former($0, of: space)] }
  }

  /// Gives the accounts that were muted.
  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) -> [AccountID] {
    try draft.requireSome(accounts)
    let channel = try draft.records.channel(id, of: space)
    var unmuted: [AccountID] = []
    for account in accounts {
      guard let record = try draft.remembered(account),
        record.isMuted(in: id, nowMilliseconds: draft.nowMilliseconds)
      else { continue }
      try draft.requireRankAbove(record)
      try draft.changeMember(account) { _, member in member.channelMutes[id] = nil }
      draft.change(.channelMute(of: account, in: id, of: space), to: nil)
      unmuted.append(account)
    }
    if !unmuted.isEmpty { draft.announceMute(of: unmuted, until: nil, id, channel) }
    return unmuted
  }
}

extension Draft<ServerRecord> {
  /// - Parameter end: milliseconds since 1970; nil when they may send again.
  fileprivate mutating func announceMute(
    of accounts: [AccountID], until end: Int64?, _ id: EntityID, _ channel: ChannelRecord
  ) {
    announce(
      Catalogue.channelMemberMuteChanged,
      attach: [
        "muted": .bool(end != nil), "accids": .accids(accounts),
        "expiresAt": end.map { .integer($0) } ?? .null,
      ], parties: accounts, channel: channel.scene(id))
  }
}

extension RecordAddress {
  static func channelMute(
    of account: AccountID, in channel: EntityID, of space: SpaceID
  ) -> Self {
    Self(space, .channelMuted(channel), account.text)
  }
}
