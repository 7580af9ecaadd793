/// The times when an account belonged to a space and was subscribed, and the same for each channel. They
/// decide which entries it sees.
package struct Membership: Sendable, Hashable {
  package struct Channel: Sendable, Hashable {
    /// The times when the account was in the channel's own roster. Empty for a channel whose membership is
    /// `everyone`.
    package var intervals: Intervals
    package var subscription: Intervals
    /// The times when the account was on the channel's allow list, which shows it a private channel without
    /// being in it.
    package var allowed: Intervals
    /// The times when the account was on the channel's block list, which hides the channel's entries from it.
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

    /// Ends the subscription with the roster's interval: a member who comes back has to subscribe again. The
    /// lists remain.
    package mutating func leave(through id: MessageID) {
      intervals.close(through: id)
      subscription.close(through: id)
    }
  }

  package var intervals: Intervals
  package var subscription: Intervals
  /// The times when a group's member chose to receive none of its custom notifications.
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

  /// The membership of the accounts that a personal space or a direct message is for: they see every entry
  /// that names them.
  package static let always = Membership(intervals: .since(.zero))
  /// The membership of an account that never belonged to the space.
  package static let never = Membership(intervals: Intervals())

  /// Ends the membership, in the channels too. Blocks remain, so that leaving and joining again does not lift them.
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
