/// The owner may open a channel, and so may the admins if the server lets them. A channel is public or
/// private, and has every member or a roster of its own.
package struct CreateChannel: SpaceOperation {
  package static let name = OperationName(.channel, "create")
  package static let access = Access.ownRule

  package var space: SpaceID
  package var actor: Actor
  package var id: EntityID
  package var channelName: String
  package var description: String?
  package var ext: String?
  /// Nil: as many as the server has.
  package var maxMembers: Int?
  package var type: ChannelRecord.Kind
  package var membership: ChannelRecord.Membership
  /// The first members of a roster, in addition to the account that creates the channel.
  package var members: [AccountID]

  package init(
    _ server: EntityID, id: EntityID, actor: Actor, name: String, type: ChannelRecord.Kind,
    membership: ChannelRecord.Membership, members: [AccountID]
  ) {
    space = .server(server)
    self.id = id
    self.actor = actor
    channelName = name
    self.type = type
    self.membership = membership
    self.members = members.withoutRepeats
  }

  package var channelID: EntityID? { id }
  /// The channel does not exist yet, so it cannot be hidden.
  package var isHiddenFromStrangers: Bool { false }
  package var concerns: [RecordAddress] { members.map { .member($0, of: space) } }
  package var counts: [RecordTable] { [.channels] }

  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) -> ChannelRecord {
    try draft.requireChannelKeeper(to: Self.name.act)
    guard type == .public || membership == .roster else {
      throw .invalid("membership", "must be roster: a private channel keeps a roster of its own")
    }
    guard draft.records.text(.channel(id, of: space)) == nil else {
      throw Refusal(.conflict, "channel \(id) already exists", field: "channelId")
    }
    let most = draft.limits.channelsPerServer
    guard draft.context.counts[.channels, default: 0] < most else {
      throw Refusal(.tooMany, "the server already has \(most) channels, which is the limit; delete one first")
    }
    var channel = ChannelRecord(
      name: channelName, type: type, membership: membership, createdAt: draft.nowMilliseconds)
    channel.description = description
    channel.ext = ext
    try channel.setMaxMembers(maxMembers, draft.limits)
    draft.limit(.channels, to: most)
    draft.change(.channel(id, of: space), to: try RecordJSON.text(channel))
    if channel.hasRoster { try fillRoster(channel, &draft) }

    let info: JSONValue = ["channelInfo": channel.info(id, of: space)]
    draft.announce(Catalogue.channelCreate, attach: info, channel: channel.scene(id))
    if channel.hasRoster, !members.isEmpty {
      draft.announce(
        Catalogue.channelMemberCreated, attach: info, parties: members, channel: channel.scene(id))
    }
    draft.announceVisibility(of: id, channel, EnterLeave.entered)
    return channel
  }

  private func fillRoster(
    _ channel: ChannelRecord, _ draft: inout Draft<ServerRecord>
  ) throws(Refusal) {
    for account in members { _ = try draft.knownMember(account, field: "members") }
    var roster = members
    if let creator = actor.account, try draft.member(creator) != nil { roster.append(creator) }
    for account in roster.withoutRepeats {
      try draft.joinChannel(id, channel, account, try draft.knownMember(account))
    }
  }
}

/// The owner and the admins may rename and describe a channel, and bound its roster. A bound below the
/// present number of members removes nobody: nobody joins until there are fewer.
package struct UpdateChannel: SpaceOperation {
  package static let name = OperationName(.channel, "update")
  package static let access = Access.administrators

  package var space: SpaceID
  package var actor: Actor
  package var id: EntityID
  /// Nil leaves it as it is; an empty description or `ext` is none.
  package var channelName: String?
  package var description: String?
  package var ext: String?
  package var maxMembers: Int?

  package init(_ server: EntityID, id: EntityID, actor: Actor) {
    space = .server(server)
    self.id = id
    self.actor = actor
  }

  package var channelID: EntityID? { id }

  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) -> ChannelRecord {
    let before = try draft.records.channel(id, of: space)
    var channel = before
    if let channelName { channel.name = channelName }
    if let description { channel.description = description.isEmpty ? nil : description }
    if let ext { channel.ext = ext.isEmpty ? nil : ext }
    if let maxMembers { try channel.setMaxMembers(maxMembers, draft.limits) }
    guard channel != before else { return channel }
    draft.change(.channel(id, of: space), to: try RecordJSON.text(channel))
    draft.announce(
      Catalogue.channelUpdate, attach: ["channelInfo": channel.info(id, of: space)],
      channel: channel.scene(id))
    return channel
  }
}

/// Only the owner may close a channel, and for good. Its roster is removed. Its entries stay for the accounts
/// that could see them.
package struct RemoveChannel: SpaceOperation {
  package static let name = OperationName(.channel, "destroy")
  package static let access = Access.owner

  package var space: SpaceID
  package var actor: Actor
  package var id: EntityID

  package init(_ server: EntityID, id: EntityID, actor: Actor) {
    space = .server(server)
    self.id = id
    self.actor = actor
  }

  package var channelID: EntityID? { id }

  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) {
    let channel = try draft.records.channel(id, of: space)
    guard draft.settings.defaultChannelId != id else {
      throw Refusal(.forbidden, "the default channel cannot be deleted")
    }
    draft.change(.channel(id, of: space), to: nil)
    draft.remove(RecordTable.of(id))
    draft.announce(Catalogue.channelRemove, channel: channel.scene(id))
    draft.announceVisibility(of: id, channel, EnterLeave.left)
  }
}

extension Draft<ServerRecord> {
  /// The owner, and the admins if the server allows it.
  func requireChannelKeeper(to what: String) throws(Refusal) {
    try require(settings.adminsMayCreateChannels ? .administrators : .owner, to: what)
  }
}
