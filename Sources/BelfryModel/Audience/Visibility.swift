/// Says if an account sees an entry, and why. This is the one place that decides so, for streams, pages,
/// counts, marks and `explain`.
package enum Visibility: Sendable, Hashable {
  case visible(because: Inclusion)
  case hidden(because: Exclusion)

  package enum Inclusion: String, Sendable, CaseIterable {
    case named, openToAll, subscribedBefore
  }

  package enum Exclusion: String, Sendable, CaseIterable {
    case neverMember, joinedAfter, leftBefore, leftSince, leftOut, notNamed, notInChannel, blocked, stopped
    case notSubscribed, subscribedAfter, subscriptionEndedBefore
    case read, recalled, expired, notWanted, beyondRetention
  }

  package var isVisible: Bool {
    if case .visible = self { true } else { false }
  }
}

extension Visibility {
  /// Visible: within retention, in a membership interval (for a momentary entry one that still lasts), in the
  /// audience (if `subscribed`, with a subscription from before the entry), not recalled, not read, not
  /// expired, and wanted. The first that fails, in this order, is the reason that `explain` gives.
  ///
  /// - Parameters:
  ///   - type: read only if the account has preferences, since it is at the end of the content.
  ///   - now: milliseconds since 1970 by the store's clock. Read only if the entry expires, or the account
  ///     has preferences.
  package static func of(
    _ id: MessageID, _ audience: Audience, type: @autoclosure () -> Int, isRecalled: Bool = false,
    in space: SpaceID, for account: AccountID, membership: Membership, read: ReadState,
    preferences: Preferences, retentionFloor: MessageID, nowMilliseconds now: @autoclosure () -> Int64
  ) -> Visibility {
    let verdict = asSent(
      id, audience, for: account, membership: membership, retentionFloor: retentionFloor)
    guard verdict.isVisible else { return verdict }
    if isRecalled { return .hidden(because: .recalled) }
    if read.contains(id, in: space) { return .hidden(because: .read) }
    if let time = audience.expiresAt, time <= now() { return .hidden(because: .expired) }
    if preferences.all.isEmpty { return verdict }
    let isWanted = preferences.want(
      type(), in: space, of: account, isConcerned: audience.concerns(account), nowMilliseconds: now())
    return isWanted ? verdict : .hidden(because: .notWanted)
  }

  /// True if the entry may be on a device of the account: it was for the account, which has not read it.
  /// Later changes of the entry do not count. So devices are told that it was recalled, also those that were
  /// shown it long ago.
  package static func isPerhapsShown(
    _ id: MessageID, _ audience: Audience, in space: SpaceID, for account: AccountID, membership: Membership,
    read: ReadState, retentionFloor: MessageID
  ) -> Bool {
    !read.contains(id, in: space)
      && asSent(id, audience, for: account, membership: membership, retentionFloor: retentionFloor).isVisible
  }

  /// True if the entry was for the account when it was sent, and is within retention. A momentary entry is
  /// not for an account that has left since.
  package static func asSent(
    _ id: MessageID, _ audience: Audience, for account: AccountID, membership: Membership,
    retentionFloor: MessageID
  ) -> Visibility {
    guard id >= retentionFloor else { return .hidden(because: .beyondRetention) }
    guard membership.intervals.contains(id) else {
      return .hidden(
        because: missed(id, membership.intervals, .neverMember, after: .joinedAfter, before: .leftBefore))
    }
    if audience.isMomentary, membership.intervals.current?.contains(id) != true,
      audience.rule == .named || !audience.named.contains(account)
    {
      return .hidden(because: .leftSince)
    }
    return audience.admits(account, membership: membership, at: id)
  }

  /// The reason why no interval holds the id: there is none, they begin after it, or they ended before it.
  fileprivate static func missed(
    _ id: MessageID, _ intervals: Intervals, _ never: Exclusion, after: Exclusion, before: Exclusion
  ) -> Exclusion {
    if intervals.isEmpty { return never }
    return intervals.all.contains { $0.after < id } ? before : after
  }
}

extension Audience {
  /// Decides by the audience alone. The caller checks that the account belonged to the space.
  package func admits(_ account: AccountID, membership: Membership, at id: MessageID) -> Visibility {
    if except.contains(account) { return .hidden(because: .leftOut) }
    if named.contains(account) { return .visible(because: .named) }
    if rule == .named { return .hidden(because: .notNamed) }
    let inChannel = channel.map { membership.channels[$0] ?? Membership.Channel() }
    if channelHasRoster || rule == .viewers {
      guard let inChannel,
        inChannel.intervals.contains(id) || (rule == .viewers && inChannel.allowed.contains(id))
      else { return .hidden(because: .notInChannel) }
    }
    if inChannel?.blocked.contains(id) == true { return .hidden(because: .blocked) }
    if rule == .willing, membership.stopped.contains(id) { return .hidden(because: .stopped) }
    guard rule == .subscribed else { return .visible(because: .openToAll) }
    let subscription = inChannel.map(\.subscription) ?? membership.subscription
    guard subscription.contains(id) else {
      return .hidden(
        because: Visibility.missed(
          id, subscription, .notSubscribed, after: .subscribedAfter, before: .subscriptionEndedBefore))
    }
    return .visible(because: .subscribedBefore)
  }
}
