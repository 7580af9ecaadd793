/// The owner may open a channel: public or private, of everyone or with a roster of its own.
package struct CreateChannel: Operation {
  package var space: SpaceID
  package var actor: Actor
  package var id: EntityID
  package var name: String
  package var description: String?
  package var type: ChannelRecord.Kind
  package var membership: ChannelRecord.Membership
  /// The first members of a roster; whoever creates the channel is in it beside them.
  package var members: [AccountID]

  package init(
    _ server: EntityID, id: EntityID, actor: Actor, name: String, type: ChannelRecord.Kind,
    membership: ChannelRecord.Membership, members: [AccountID]
  ) {
    space = .server(server)
    self.id = id
    self.actor = actor
    self.name = name
    self.type = type
    self.membership = membership
    self.members = members
  }

  package var needs: [RecordAddress] {
    [.settings(space), .channel(id, of: space)] + actor.needs(in: space)
      + members.map { .member($0, of: space) }
  }
  package var counts: [RecordTable] { [.channels] }

  package func decide(_ records: Records, context: DecisionContext) throws(Refusal) -> Decision<ChannelRecord>
  {
    _ = try records.server(space)
    try records.require([.owner], actor, in: space, to: "create channels")
    guard type == .public || membership == .roster else {
      throw .invalid("membership", "must be roster: a private channel keeps a roster of its own")
    }
    guard records.text(.channel(id, of: space)) == nil else {
      throw Refusal(.conflict, "channel \(id) exists already", field: "channelId")
    }
    guard context.counts[.channels, default: 0] < context.limits.channelsPerServer else {
      throw Refusal(.tooMany, "a server has at most \(context.limits.channelsPerServer) channels")
    }
    var channel = ChannelRecord(
      name: name, type: type, membership: membership, createdAt: context.nowMilliseconds)
    channel.description = description

    var transaction = Transaction(space)
    transaction.preconditions = records.unchanged(needs)
    transaction.ceilings[.channels] = context.limits.channelsPerServer
    transaction.changes[.channel(id, of: space)] = try RecordJSON.text(channel)
    if channel.hasRoster { try fillRoster(&transaction, records) }
    let here = (id, channel)
    transaction.announce(
      Catalogue.channelCreate, by: actor, attach: ["channelInfo": channel.info(id, of: space)], channel: here,
      except: actor.leftOut(of: channel))
    transaction.announceVisibility(EnterLeave.entered, by: actor, channel: here)
    return Decision(transaction, channel)
  }

  private func fillRoster(_ transaction: inout Transaction, _ records: Records) throws(Refusal) {
    var roster = members
    if let creator = actor.account, try records.member(creator, of: space) != nil, !roster.contains(creator) {
      roster.append(creator)
    }
    for account in roster {
      guard var member = try records.member(account, of: space) else {
        throw Refusal(.notFound, "\(account) is not a member of server \(space.name)", field: "members")
      }
      member.standing.channels[id, default: .init()].belonging.open(after: .beforeThisCommit)
      transaction.changes[.member(account, of: space)] = member.text
      transaction.changes[.channelMember(account, channel: id, of: space)] =
        MessageID.beforeThisCommit.streamForm
      transaction.changedStandings.append(account)
    }
  }
}

/// The owner and the admins may rename and describe a channel.
package struct UpdateChannel: Operation {
  package var space: SpaceID
  package var actor: Actor
  package var id: EntityID
  /// Nil leaves it as it is; an empty description is none.
  package var name: String?
  package var description: String?

  package init(_ server: EntityID, id: EntityID, actor: Actor) {
    space = .server(server)
    self.id = id
    self.actor = actor
  }

  package var needs: [RecordAddress] { [.settings(space), .channel(id, of: space)] + actor.needs(in: space) }

  package func decide(_ records: Records, context: DecisionContext) throws(Refusal) -> Decision<ChannelRecord>
  {
    _ = try records.server(space)
    let before = try records.channel(id, of: space)
    try records.require(.administrators, actor, in: space, to: "update channels")
    var channel = before
    if let name { channel.name = name }
    if let description { channel.description = description.isEmpty ? nil : description }
    guard channel != before else { return Decision(nil, channel) }

    var transaction = Transaction(space)
    transaction.preconditions = records.unchanged(needs)
    transaction.changes[.channel(id, of: space)] = try RecordJSON.text(channel)
    transaction.announce(
      Catalogue.channelUpdate, by: actor, attach: ["channelInfo": channel.info(id, of: space)],
      channel: (id, channel), except: actor.leftOut(of: channel))
    return Decision(transaction, channel)
  }
}

/// The owner may close a channel for good. Its roster goes; what was sent in it stays for those who
/// could see it.
package struct RemoveChannel: Operation {
  package var space: SpaceID
  package var actor: Actor
  package var id: EntityID

  package init(_ server: EntityID, id: EntityID, actor: Actor) {
    space = .server(server)
    self.id = id
    self.actor = actor
  }

  package var needs: [RecordAddress] { [.settings(space), .channel(id, of: space)] + actor.needs(in: space) }

  package func decide(_ records: Records, context: DecisionContext) throws(Refusal) -> Decision<Void> {
    let server = try records.server(space)
    let channel = try records.channel(id, of: space)
    try records.require([.owner], actor, in: space, to: "remove channels")
    guard server.defaultChannelId != id else {
      throw Refusal(.forbidden, "the default channel lasts as long as its server")
    }
    var transaction = Transaction(space)
    transaction.preconditions = records.unchanged(needs)
    transaction.changes[.channel(id, of: space)] = .some(nil)
    transaction.removedTables = [.channelRoster(id)]
    transaction.announce(
      Catalogue.channelRemove, by: actor, channel: (id, channel), except: actor.leftOut(of: channel))
    transaction.announceVisibility(EnterLeave.left, by: actor, channel: (id, channel))
    return Decision(transaction)
  }
}

extension Actor {
  /// 15, 16 and 17 leave the operator out where the channel keeps a roster of its own.
  fileprivate func leftOut(of channel: ChannelRecord) -> [AccountID] {
    channel.hasRoster ? account.map { [$0] } ?? [] : []
  }
}

extension Transaction {
  /// A public channel appears to, and disappears from, every member of the server, roster or not; a
  /// private one only those in its roster.
  fileprivate mutating func announceVisibility(
    _ event: JSONValue, by actor: Actor, channel: (id: EntityID, record: ChannelRecord)
  ) {
    var seen = channel.record
    if seen.type == .public { seen.membership = .everyone }
    announce(Catalogue.channelVisibilityUpdate, by: actor, attach: event, channel: (channel.id, seen))
  }
}
