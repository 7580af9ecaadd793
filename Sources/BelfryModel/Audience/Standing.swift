/// What an account is in a space as far as seeing its entries goes: when it belonged, to what it was
/// subscribed when, and the same for each channel.
package struct Standing: Sendable, Hashable {
  package struct Channel: Sendable, Hashable {
    /// When the account stood in the channel's own roster. Empty for a channel of everyone's.
    package var belonging: Intervals
    package var subscription: Intervals
    /// When it stood on the channel's allow list, and saw a private channel without being in it.
    package var allowed: Intervals
    /// When it stood on the channel's block list, and nothing of the channel was for it.
    package var blocked: Restrictions

    package init(
      belonging: Intervals = Intervals(), subscription: Intervals = Intervals(),
      allowed: Intervals = Intervals(), blocked: Restrictions = Restrictions()
    ) {
      self.belonging = belonging
      self.subscription = subscription
      self.allowed = allowed
      self.blocked = blocked
    }

    package var isEmpty: Bool {
      belonging.isEmpty && subscription.isEmpty && allowed.isEmpty && blocked.isEmpty
    }

    /// The subscription ends with the belonging: who comes back subscribes anew. The lists do not.
    package mutating func leave(through id: MessageID) {
      belonging.close(through: id)
      subscription.close(through: id)
    }
  }

  package var belonging: Intervals
  package var subscription: Intervals
  /// When a group's member received none of its custom notifications, by their own wish.
  package var stopped: Restrictions
  package var channels: [EntityID: Channel]

  package init(
    belonging: Intervals, subscription: Intervals = Intervals(), channels: [EntityID: Channel] = [:]
  ) {
    self.belonging = belonging
    self.subscription = subscription
    stopped = Restrictions()
    self.channels = channels
  }

  /// The standing of whoever a personal space or a letter is for: everything in it is theirs.
  package static let owner = Standing(belonging: .since(.zero))
  /// The standing of an account that a space has never known.
  package static let stranger = Standing(belonging: Intervals())

  /// Everything ends with the membership, in the channels too, but for being blocked: nobody gets rid of
  /// that by going and coming back.
  package mutating func leave(through id: MessageID) {
    belonging.close(through: id)
    subscription.close(through: id)
    stopped.endWithStay(through: id)
    for channel in channels.keys {
      channels[channel]?.leave(through: id)
      channels[channel]?.allowed.close(through: id)
    }
  }

  package mutating func forget(before floor: MessageID) {
    belonging.forget(before: floor)
    subscription.forget(before: floor)
    stopped.forget(before: floor)
    for id in channels.keys {
      channels[id]?.belonging.forget(before: floor)
      channels[id]?.subscription.forget(before: floor)
      channels[id]?.allowed.forget(before: floor)
      channels[id]?.blocked.forget(before: floor)
    }
    channels = channels.filter { !$0.value.isEmpty }
  }
}
