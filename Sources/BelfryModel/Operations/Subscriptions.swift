/// A member subscribes to the server's own notifications or to a channel's, or ends that. Below the
/// threshold it is accepted and kept, though not needed yet.
package struct SetSubscription: Operation {
  package var space: SpaceID
  package var account: AccountID
  /// Nil: the server's own.
  package var channel: EntityID?
  package var isSubscribed: Bool

  package init(_ server: EntityID, channel: EntityID?, account: AccountID, isSubscribed: Bool) {
    space = .server(server)
    self.channel = channel
    self.account = account
    self.isSubscribed = isSubscribed
  }

  package var needs: [RecordAddress] {
    [.settings(space), .member(account, of: space)] + (channel.map { [.channel($0, of: space)] } ?? [])
  }

  package func decide(_ records: Records, context: DecisionContext) throws(Refusal) -> Decision<Void> {
    _ = try records.server(space)
    guard var member = try records.member(account, of: space) else {
      throw Refusal(.notMember, "you are not a member of server \(space.name)")
    }
    let before = member
    if let channel {
      let record = try records.channel(channel, of: space)
      var standing = member.standing.channels[channel] ?? Standing.Channel()
      guard !record.hasRoster || standing.belonging.current != nil else {
        throw Refusal(.notMember, "you are not in channel \(channel)", field: "channelId")
      }
      standing.subscription.set(isSubscribed)
      member.standing.channels[channel] = standing.isEmpty ? nil : standing
    } else {
      member.standing.subscription.set(isSubscribed)
    }
    guard member != before else { return Decision(nil) }
    member.standing.forget(before: context.retentionFloor)

    var transaction = Transaction(space)
    transaction.preconditions = records.unchanged(needs)
    transaction.changes[.member(account, of: space)] = member.text
    transaction.changedStandings = [account]
    return Decision(transaction)
  }
}

extension Intervals {
  fileprivate mutating func set(_ lasts: Bool) {
    if lasts { open(after: .beforeThisCommit) } else { close(through: .beforeThisCommit) }
  }
}

extension Standing.Channel {
  fileprivate var isEmpty: Bool { belonging.isEmpty && subscription.isEmpty }
}
