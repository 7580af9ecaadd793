import BelfryModel
import BelfryStore

/// A space that somebody on this loop follows: its live channel is subscribed and its latest is at hand.
final class ActiveSpace {
  let space: SpaceID
  var ring = Ring()
  /// The accounts that follow it, each once, however many consumers it has.
  private(set) var followedSpaces: [FollowedSpace] = []
  private var round = FanOutRound()

  init(_ space: SpaceID) {
    self.space = space
  }

  func add(_ followed: FollowedSpace) {
    followed.position = followedSpaces.count
    followedSpaces.append(followed)
    round.added()
  }

  /// The last one takes its place: a search would cost each of ten thousand that leave a look at the others.
  func remove(_ followed: FollowedSpace) {
    let last = followedSpaces.removeLast()
    guard last !== followed else { return }
    followedSpaces[followed.position] = last
    last.position = followed.position
    // The round may have passed its new place, and not come to the old one.
    if isNotifying { last.session.notify(of: last) }
  }

  /// Something arrived: everybody is to be told, from whoever is next in a round that is under way.
  /// - Returns: whether none was.
  func beginRound() -> Bool {
    defer { round.begin(count: followedSpaces.count) }
    return !isNotifying
  }

  /// Whether something arrived that not everybody has been told of.
  var isNotifying: Bool { round.isUnderWay }

  /// Who is to be told next; nil when everybody was.
  func nextToNotify() -> FollowedSpace? { round.next(count: followedSpaces.count).map { followedSpaces[$0] } }
}

/// That an account follows a space, and what it is there.
final class FollowedSpace {
  let session: AccountSession
  let active: ActiveSpace
  /// The account's membership in the space by its latest snapshot. Kept here, since looking it up by name took
  /// a third of what it takes to decide who is shown an entry.
  var membership = Membership.never
  /// The latest arrival when the account began to follow the space: what is in the ring from before was not for it.
  let since: UInt64
  /// Where it stands in its space's list.
  fileprivate(set) var position = 0

  init(_ session: AccountSession, _ active: ActiveSpace, since: UInt64) {
    self.session = session
    self.active = active
    self.since = since
  }
}
