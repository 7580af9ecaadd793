/// What an account is in a space as far as seeing its entries goes: when it belonged, to what it was
/// subscribed when, and the same for each channel.
package struct Standing: Sendable, Hashable {
  package struct Channel: Sendable, Hashable {
    /// When the account stood in the channel's own roster. Empty for a channel of everyone's.
    package var belonging: Intervals
    package var subscription: Intervals

    package init(belonging: Intervals = Intervals(), subscription: Intervals = Intervals()) {
      self.belonging = belonging
      self.subscription = subscription
    }
  }

  package var belonging: Intervals
  package var subscription: Intervals
  package var channels: [EntityID: Channel]

  package init(
    belonging: Intervals, subscription: Intervals = Intervals(), channels: [EntityID: Channel] = [:]
  ) {
    self.belonging = belonging
    self.subscription = subscription
    self.channels = channels
  }

  /// The standing of whoever a personal space or a letter is for: everything in it is theirs.
  package static let owner = Standing(belonging: .since(.zero))
  /// The standing of an account that a space has never known.
  package static let stranger = Standing(belonging: Intervals())

  /// Everything ends with the membership: who comes back subscribes anew.
  package mutating func leave(through id: MessageID) {
    belonging.close(through: id)
    subscription.close(through: id)
    for channel in channels.keys {
      channels[channel]?.belonging.close(through: id)
      channels[channel]?.subscription.close(through: id)
    }
  }

  package mutating func forget(before floor: MessageID) {
    belonging.forget(before: floor)
    subscription.forget(before: floor)
    for id in channels.keys {
      channels[id]?.belonging.forget(before: floor)
      channels[id]?.subscription.forget(before: floor)
    }
    channels = channels.filter { !$0.value.belonging.isEmpty || !$0.value.subscription.isEmpty }
  }
}
