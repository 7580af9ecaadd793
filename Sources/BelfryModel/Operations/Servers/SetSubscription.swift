/// A member subscribes to the server's own notifications or to a channel's, or ends that. Below the
/// threshold it is accepted and kept, though not needed yet.
package struct SetSubscription: SpaceOperation {
  package static let name = OperationName(.server, "subscribe")
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

  package func carryOut(_ draft: inout Draft<ServerRecord>) throws(Refusal) {
    let account = try draft.actingAccount()
    var member = try draft.requireMember()
    let before = member
    if let channelID {
      let channel = try draft.records.channel(channelID, of: space)
      guard !channel.hasRoster || member.isIn(channelID) else {
        throw Refusal(.notMember, "you are not in channel \(channelID)", field: "channelId")
      }
      var standing = member.standing.channels[channelID] ?? Standing.Channel()
      standing.subscription.set(isSubscribed)
      member.standing.channels[channelID] = standing.isEmpty ? nil : standing
    } else {
      member.standing.subscription.set(isSubscribed)
    }
    guard member != before else { return }
    member.standing.forget(before: draft.context.retentionFloor)
    draft.set(member, for: account, seesOtherwise: true)
  }
}

extension Intervals {
  /// From this commit on it is so, or no longer.
  mutating func set(_ lasts: Bool) {
    if lasts { open(after: .beforeThisCommit) } else { close(through: .beforeThisCommit) }
  }
}
