/// A member subscribes to the server's own notifications or to a channel's, or ends that. Below the
/// threshold it is accepted and kept, though not needed yet.
package struct SetSubscription: SpaceOperation {
  package static let name = OperationName(.server, "subscribe")
  package static let names = [OperationName.subscription(true), .subscription(false)]
  package static let access = Access.ownRule

  package var space: SpaceID
  package var actor: Actor
  /// Nil: the server's own.
  package var channelID: EntityID?
  package var isSubscribed: Bool

  package init(_ server: EntityID, channel: EntityID?, actor: Actor, isSubscribed: Bool) {
    space = .server(server)
    channelID = channel
    self.actor = actor
    self.isSubscribed = isSubscribed
  }

  package var echoName: OperationName { .subscription(isSubscribed) }

  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) {
    var member = try draft.requireMember()
    if let channelID {
      try draft.subscribe(&member, to: channelID, isSubscribed)
    } else {
      try draft.set(
        &member.membership.subscription, to: isSubscribed,
        "you have been subscribed to server \(space.name)")
    }
    try draft.keep(member)
  }
}

/// The same for many channels of a server at once. Those that cannot be subscribed to fail alone.
package struct SubscribeToChannels: SpaceOperation {
  package static let name = OperationName(.server, "subscribeToChannels")
  package static let names = [OperationName.subscription(true), .subscription(false)]
  package static let access = Access.ownRule

  package var space: SpaceID
  package var actor: Actor
  package var channels: [EntityID]
  package var isSubscribed: Bool

  package init(_ server: EntityID, channels: [EntityID], actor: Actor, isSubscribed: Bool) {
    space = .server(server)
    self.channels = channels
    self.actor = actor
    self.isSubscribed = isSubscribed
  }

  package var echoName: OperationName { .subscription(isSubscribed) }
  package var concerns: [RecordAddress] { channels.map { .channel($0, of: space) } }

  /// Gives those that failed, and why.
  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) -> [EntityID: Refusal] {
    var member = try draft.requireMember()
    guard (1...draft.limits.channelsPerServer).contains(channels.count) else {
      throw .invalid("channelIds", "must name 1 to \(draft.limits.channelsPerServer) channels")
    }
    var failed: [EntityID: Refusal] = [:]
    for channel in channels {
      do {
        try draft.subscribe(&member, to: channel, isSubscribed)
      } catch {
        failed[channel] = error
      }
    }
    try draft.keep(member)
    return failed
  }
}

extension OperationName {
  fileprivate static func subscription(_ isSubscribed: Bool) -> OperationName {
    OperationName(.server, isSubscribed ? "subscribe" : "unsubscribe")
  }
}

extension Draft<ServerRecord> {
  fileprivate func subscribe(
    _ member: inout MemberRecord, to id: EntityID, _ isSubscribed: Bool
  ) throws(Refusal) {
    let channel = try records.channel(id, of: space)
    if isSubscribed {
      try requireSight(of: channel, id, for: member)
    } else if channel.isHidden(id, from: member) {
      throw .noChannel(id, in: space)
    }
    guard !channel.hasRoster || member.isIn(id) else {
      throw Refusal(.notMember, "you are not in channel \(id)", field: "channelId")
    }
    if isSubscribed { try requireRoom(for: id, in: member, of: try actingAccount()) }
    var membership = member.membership.channels[id] ?? Membership.Channel()
    try set(&membership.subscription, to: isSubscribed, "you have been subscribed to channel \(id)")
    member.membership.channels[id] = membership.isEmpty ? nil : membership
  }

  /// Keeps the actor's own record if it changed.
  fileprivate mutating func keep(_ member: MemberRecord) throws(Refusal) {
    let account = try actingAccount()
    guard try self.member(account) != member else { return }
    var member = member
    member.membership.forget(before: context.forgottenFloor)
    set(member, for: account, seesOtherwise: true)
  }
}
