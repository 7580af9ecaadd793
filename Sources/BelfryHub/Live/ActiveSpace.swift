import BelfryModel
import BelfryStore

/// A space that somebody on this loop follows: its live channel is subscribed and its latest is at hand.
final class ActiveSpace {
  let space: SpaceID
  var ring = Ring()
  /// The accounts that follow it, each once, however many consumers it has.
  private(set) var sessions: [AccountSession] = []

  init(_ space: SpaceID) {
    self.space = space
  }

  func add(_ session: AccountSession) { sessions.append(session) }

  func remove(_ session: AccountSession) { sessions.removeAll { $0 === session } }
}
