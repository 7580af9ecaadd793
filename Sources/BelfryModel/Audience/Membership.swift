/// What an account is in a space as far as seeing its entries goes: when it belonged, to what it was
/// subscribed when, and the same for each channel.
package struct Membership: Sendable, Hashable {
  package struct Channel: Sendable, Hashable {
    /// When the account stood in the channel's own roster. Empty for a channel of everyone's.
    package var intervals: Intervals
    package var subscription: Intervals
    /// When it stood on the channel's allow list, and saw a private channel without being in it.
    package var allowed: Intervals
    /// When it stood on the channel's block list, and nothing of the channel was for it.
    package var blocked: Restrictions

    package init(
      intervals: Intervals = Intervals(), subscription: Intervals = Intervals(),
      allowed: Intervals = Intervals(), blocked: Restrictions = Restrictions()
    ) {
      self.intervals = intervals
      self.subscription = subscription
      self.allowed = allowed
      self.blocked = blocked
    }

    package var isEmpty: Bool {
      intervals.isEmpty && subscription.isEmpty && allowed.isEmpty && blocked.isEmpty
    }

    /// The subscription ends with the belonging: who comes back subscribes anew. The lists do not.
    package mutating func leave(through id: MessageID) {
      intervals.close(through: id)
      subscription.close(through: id)
    }
  }

  package var intervals: Intervals
  package var subscription: Intervals
  /// When a group's member received none of its custom notifications, by their own wish.
  package var stopped: Restrictions
  package var channels: [EntityID: Channel]

  package init(
    intervals: Intervals, subscription: Intervals = Intervals(), channels: [EntityID: Channel] = [:]
  ) {
    self.intervals = intervals
    self.subscription = subscription
    stopped = Restrictions()
    self.channels = channels
  }

  /// The membership of whoever a personal space or a direct message is for: everything in it is theirs.
  package static let always = Membership(intervals: .since(.zero))
  /// The membership of an account that a space has never known.
  package static let never = Membership(intervals: Intervals())

  /// Everything ends with the membership, in the channels too, but for being blocked: nobody gets rid of
  /// that by going and coming back.
  package mutating func leave(through id: MessageID) {
    intervals.close(through: id)
    subscription.close(through: id)
    stopped.endWithMembership(through: id)
    for channel in channels.keys {
      channels[channel]?.leave(through: id)
      channels[channel]?.allowed.close(through: id)
    }
  }

  package mutating func forget(before floor: MessageID) {
    intervals.forget(before: floor)
    subscription.forget(before: floor)
    stopped.forget(before: floor)
    for id in channels.keys {
      channels[id]?.intervals.forget(before: floor)
      channels[id]?.subscription.forget(before: floor)
      channels[id]?.allowed.forget(before: floor)
      channels[id]?.blocked.forget(before: floor)
    }
    channels = channels.filter { !$0.value.isEmpty }
  }
}
