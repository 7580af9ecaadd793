import BelfryModel
import BelfryStore

/// A space that an account on this loop follows, so that its live channel is subscribed. Its ring has the latest items.
final class ActiveSpace {
  let space: SpaceID
  /// A subscription that has failed is tried again by the next consumer that waits for it.
  var subscription = LiveSubscription.subscribing([])
  var ring: Ring
  /// The accounts that follow the space, each once, however many consumers the account has.
  private(set) var followers: [SpaceFollower] = []
  private var round = FanOutRound()

  init(_ space: SpaceID, ringsIn memory: RingMemory) {
    self.space = space
    ring = Ring(in: memory)
  }

  func add(_ follower: SpaceFollower) {
    follower.position = followers.count
    followers.append(follower)
    round.added()
  }

  /// Puts the last follower in the place of the removed one, without a search: if ten thousand leave, each search
  /// would go through all that are left.
  func remove(_ follower: SpaceFollower) {
    let last = followers.removeLast()
    guard last !== follower else { return }
    followers[follower.position] = last
    last.position = follower.position
    // The round may have passed the new place of `last`, and not have come to its old one.
    if isNotifying { last.session.notify(of: last) }
  }

  /// Has all followers notified of something that arrived. A round that is under way goes on from where it is.
  /// - Returns: true if no round was under way.
  func beginRound() -> Bool {
    defer { round.begin(count: followers.count) }
    return !isNotifying
  }

  /// True if something arrived and some followers have not been notified of it.
  var isNotifying: Bool { round.isUnderWay }

  /// The follower to notify next; nil if all have been notified.
  func nextToNotify() -> SpaceFollower? { round.next(count: followers.count).map { followers[$0] } }
}

/// An account that follows a space, with its membership there.
final class SpaceFollower {
  let session: AccountSession
  let active: ActiveSpace
  /// The account's membership in the space by its latest snapshot. It is kept here because looking it up by the
  /// space's name took a third of the time of deciding who is shown an entry.
  var membership = Membership.never
  /// The loop's last sequence number when the account began to follow the space. Earlier items of the ring are not
  /// for the account.
  let since: UInt64
  /// The latest item that is for named accounts only and names this one.
  private var namedAt: UInt64 = 0
  /// The index of this follower in its space's list.
  fileprivate(set) var position = 0

  init(_ session: AccountSession, _ active: ActiveSpace, since: UInt64) {
    self.session = session
    self.active = active
    self.since = since
  }

  /// Takes note of an item that is for named accounts only and names this one.
  func noteNamed(at sequence: UInt64) { namedAt = sequence }

  /// True if the ring has an item after a sequence number that may be for the account.
  func hasItems(after sequence: UInt64) -> Bool { max(namedAt, active.ring.lastShared) > sequence }

  /// The items of the ring after a sequence number, in order, also those for others; nil if some that may be for the account
  /// are forgotten, or may be missing.
  func items(after sequence: UInt64) -> ArraySlice<RingItem>? {
    active.ring.items(after: sequence, isNamed: namedAt > sequence)
  }
}
