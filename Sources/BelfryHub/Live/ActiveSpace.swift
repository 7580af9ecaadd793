import BelfryModel
import BelfryStore

/// A space that somebody on this loop follows: its live channel is subscribed and its latest is at hand.
final class ActiveSpace {
  let space: SpaceID
  var ring = Ring()
  /// The accounts that follow it, each once, however many consumers it has.
  private(set) var followings: [Following] = []
  private var round = TellingRound()

  init(_ space: SpaceID) {
    self.space = space
  }

  func add(_ following: Following) {
    following.position = followings.count
    followings.append(following)
    round.added()
  }

  /// The last one takes its place: a search would cost each of ten thousand that leave a look at the others.
  func remove(_ following: Following) {
    let last = followings.removeLast()
    guard last !== following else { return }
    followings[following.position] = last
    last.position = following.position
    // The round may have passed its new place, and not come to the old one.
    if isTelling { last.session.tell(of: last) }
  }

  /// Something arrived: everybody is to be told, from whoever is next in a round that is under way.
  /// - Returns: whether none was.
  func beginRound() -> Bool {
    defer { round.begin(count: followings.count) }
    return !isTelling
  }

  /// Whether something arrived that not everybody has been told of.
  var isTelling: Bool { round.isUnderWay }

  /// Who is to be told next; nil when everybody was.
  func nextToTell() -> Following? { round.next(count: followings.count).map { followings[$0] } }
}

/// That an account follows a space, and what it is there.
final class Following {
  let session: AccountSession
  let active: ActiveSpace
  /// The account's standing in the space by its latest snapshot. Kept here, since looking it up by name took
  /// a third of what it takes to decide who is shown an entry.
  var standing = Standing.stranger
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
