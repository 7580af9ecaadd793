// The common parts of operations on channels.

// MARK: - The members of a channel

extension Draft<ServerRecord> {
  /// The channel, for an account that belongs to it; a trusted caller need not. A channel that the account does not see
  /// is refused as if it did not exist.
  func requireBelonging(to id: EntityID) throws(Refusal) -> ChannelRecord {
    let channel = try records.channel(id, of: space)
    if actor.isTrusted { return channel }
    try requireSight(of: channel, id, for: try requireMember())
    guard try requireMember().belongs(to: channel, id) else { throw .notInChannel(id) }
    return channel
  }

  func requireSight(of channel: ChannelRecord, _ id: EntityID, for member: MemberRecord) throws(Refusal) {
    if channel.isHidden(id, from: member) { throw .noChannel(id, in: space) }
    if member.isBlocked(from: id) { throw Refusal(.banned, "you are blocked from channel \(id)") }
  }

  /// The channel, if it has a roster of its own.
  func requireRoster(
    of channel: ChannelRecord, _ id: EntityID, else code: Refusal.Code, _ advice: String
  ) throws(Refusal) {
    guard channel.hasRoster else {
      throw Refusal(code, "everyone in the server is in channel \(id); \(advice)", field: "channelId")
    }
  }

  /// The record of a member of the channel that the request names.
  /// - Throws: `notFound`.
  func knownMember(
    _ account: AccountID, of channel: ChannelRecord, _ id: EntityID
  ) throws(Refusal) -> MemberRecord {
    let member = try knownMember(account)
    guard member.belongs(to: channel, id) else {
      throw Refusal(.notFound, "\(account) is not in channel \(id)", field: "accids")
    }
    return member
  }

  /// Adds a member of the server to the channel's roster. If the channel bounds its roster, needs the
  /// roster's count.
  /// - Throws: `full` if the roster has as many members as it may.
  mutating func joinChannel(
    _ id: EntityID, _ channel: ChannelRecord, _ account: AccountID, _ member: MemberRecord
  ) throws(Refusal) {
    var member = member
    if let most = channel.maxMembers {
      let roster = RecordTable.channelRoster(id)
      let refusal = Refusal.noRoom(in: roster, of: space)
      try grow(roster, atMost: most, else: refusal)
    }
    try requireRoom(for: id, in: member, of: account)
    try begin(
      &member.membership.channels[id, default: .init()].intervals, "\(account) has been in channel \(id)")
    set(member, for: account, seesOtherwise: true)
    change(.channelMember(account, channel: id, of: space), to: MessageID.beforeThisCommit.streamForm)
  }

  /// Refuses one more channel in a record that names many. A send reads the whole record of its sender, and a feed those of its
  /// account.
  /// - Throws: `tooMany`.
  func requireRoom(for id: EntityID, in member: MemberRecord, of account: AccountID) throws(Refusal) {
    let most = limits.channelsNamedPerMember
    guard member.membership.channels[id] == nil else { return }
    var membership = member.membership
    if membership.channels.count >= most { membership.forget(before: context.retentionFloor) }
    guard membership.channels.count >= most else { return }
    throw Refusal(
      .tooMany,
      "\(account) belongs or belonged to \(most) channels of server \(space.name), which is the limit; a channel that was deleted stops counting after the retention time"
    )
  }

  /// Refuses one more mute in a record that has many.
  /// - Throws: `tooMany`.
  func requireRoom(forMuteIn id: EntityID, in member: MemberRecord, of account: AccountID) throws(Refusal) {
    let most = limits.channelsNamedPerMember
    guard member.channelMutes[id] == nil, member.channelMutes.count >= most else { return }
    throw Refusal(
      .tooMany,
      "\(account) is muted in \(most) channels of server \(space.name), which is the limit; mute it in the whole server instead"
    )
  }

  /// Removes a member from the channel's roster. The member still sees the announcements of this commit, and
  /// no later entries.
  mutating func leaveChannel(_ id: EntityID, _ account: AccountID, _ member: MemberRecord) {
    var member = member
    member.membership.channels[id]?.leave(through: .endOfThisCommit)
    member.membership.forget(before: context.forgottenFloor)
    set(member, for: account, seesOtherwise: true)
    change(.channelMember(account, channel: id, of: space), to: nil)
  }

  /// Removes a member from the block lists of all channels. The owner and the admins are on none.
  mutating func dropBlocks(of account: AccountID) throws(Refusal) {
    var member = try knownMember(account)
    for (id, channel) in member.membership.channels where channel.blocked.current != nil {
      try block(&member, from: id, false, account)
      set(member, for: account, seesOtherwise: true)
      change(RecordAddress(space, .channelBlocked(id), account.text), to: nil)
    }
  }

  /// Adds an account to a channel's block list, or removes it from there.
  func block(
    _ member: inout MemberRecord, from id: EntityID, _ isBlocked: Bool, _ account: AccountID
  ) throws(Refusal) {
    // A block is more urgent than a membership, so it finds room when there is none for another channel.
    let most = 2 * limits.channelsNamedPerMember
    let isRecorded = member.membership.channels[id] != nil
    guard !isBlocked || isRecorded || member.membership.channels.count < most else {
      throw Refusal(
        .tooMany,
        "the record of \(account) names \(most) channels of server \(space.name), which is the limit; ban the account from the server instead"
      )
    }
    try set(
      &member.membership.channels[id, default: .init()].blocked, to: isBlocked,
      "\(account) has been blocked from channel \(id)")
  }

  /// The record of a member or of a former member, who is still on the channels' lists. Needs the records `member` and
  /// `former`.
  func remembered(_ account: AccountID) throws(Refusal) -> MemberRecord? {
    if let member = try member(account) { return member }
    return try records.former(account, of: space)
  }

  /// Changes the record of a member or of a former member. Needs the same records.
  mutating func changeMember(
    _ account: AccountID, seesOtherwise: Bool = false,
    _ body: (Self, inout MemberRecord) throws(Refusal) -> Void
  ) throws(Refusal) {
    if var member = try member(account) {
      try body(self, &member)
      set(member, for: account, seesOtherwise: seesOtherwise)
    } else if var former = try records.former(account, of: space) {
      try body(self, &former)
      change(.former(account, of: space), to: former.text)
    }
  }
}

extension Refusal {
  static func notInChannel(_ id: EntityID) -> Refusal {
    Refusal(.notMember, "you are not in channel \(id)", field: "channelId")
  }
}

// MARK: - The accounts that are notified

extension Draft<ServerRecord> {
  /// A channel appears to, or disappears from, all who see it (``MemberRecord/sees(_:_:)``).
  mutating func announceVisibility(of id: EntityID, _ channel: ChannelRecord, _ event: JSONValue) {
    announce(
      Catalogue.channelVisibilityUpdate, attach: event,
      parties: channel.type == .public ? [] : settings.administrators, happensToAll: true,
      channel: channel.scene(id))
  }

  /// Notifies those of the accounts that begin to see the channel with this commit, or no longer see it.
  mutating func announceVisibility(
    of id: EntityID, _ channel: ChannelRecord, changedFor accounts: [AccountID]
  ) throws(Refusal) {
    var entered: [AccountID] = []
    var left: [AccountID] = []
    for account in accounts {
      let saw = try records.member(account, of: space)?.sees(channel, id) ?? false
      let sees = try member(account)?.sees(channel, id) ?? false
      if sees, !saw { entered.append(account) }
      if saw, !sees { left.append(account) }
    }
    for (event, parties) in [(EnterLeave.entered, entered), (EnterLeave.left, left)] {
      announce(
        Catalogue.channelVisibilityUpdate, attach: event, parties: parties, channel: channel.scene(id))
    }
  }

  mutating func announceJoined(_ account: AccountID, _ id: EntityID, _ channel: ChannelRecord) {
    announce(
      Catalogue.channelMemberJoined, attach: ["accids": .accids([account])], channel: channel.scene(id),
      except: [account])
  }

  /// Notifies the others in the channel of the accounts that left or were removed.
  mutating func announceLeft(_ accounts: [AccountID], _ id: EntityID, _ channel: ChannelRecord) {
    if accounts.isEmpty { return }
    announce(
      Catalogue.channelMemberLeft, attach: ["accids": .accids(accounts)], channel: channel.scene(id),
      except: accounts)
  }
}
