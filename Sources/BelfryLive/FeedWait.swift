import BelfryModel

/// The wait of a request for its account's feed to have something. It ends after a given time, or when the client has
/// gone.
package final class FeedWait: FeedListener {
  let duration: Duration
  /// Called once, when there is nothing to show and the wait begins.
  package var onBegin: (() -> Void)?
  private(set) var hasEnded = false
  /// True if the store has to be read again, even if nothing has arrived in the rings.
  private var hasLostTrack = false
  /// The page that was read last has everything that arrived before it.
  private var places = RingPlaces(after: 0)
  private var waiting: CheckedContinuation<Void, Never>?

  package init(_ duration: Duration) {
    self.duration = duration
  }

  package func end() {
    hasEnded = true
    wake()
  }

  /// Ignored while the page is read: ``untilSomethingComes(in:)`` looks at everything that has arrived since.
  func notify(of follower: SpaceFollower) {
    if waiting != nil, hasNews(follower) { wake() }
  }

  func lostTrack() {
    hasLostTrack = true
    wake()
  }

  /// Nothing to do: a page is read from its cursor on, and live messages do not move that cursor.
  func missed(in space: SpaceID, since id: MessageID) {}
  /// Nothing to do: a page is judged by the store.
  func learnedOfMarks() {}
  /// Nothing to do: a page is no stream, whose client would be told of the mark.
  func droppedUnread() {}
  func sendAway() { end() }

  /// Called before the page is read.
  /// - Parameter sequence: the loop's latest sequence number.
  func rearm(after sequence: UInt64) {
    hasLostTrack = false
    places = RingPlaces(after: sequence)
  }

  /// Returns when something comes that the page would have, or at once if that came since ``rearm(after:)``.
  /// - Parameter followers: all spaces of the account.
  func untilSomethingComes(in followers: some Sequence<SpaceFollower>) async {
    guard !hasLostTrack, !hasEnded, !followers.contains(where: { hasNews($0) }) else { return }
    onBegin?()
    onBegin = nil
    // Cancellation does not end the wait: the code that cancels calls ``end()``.
    await withCheckedContinuation { waiting = $0 }
  }

  /// True if something has arrived that a page would have. Each reading of a page costs the store some commands for each
  /// of the account's spaces, so what is for others must not cause one.
  private func hasNews(_ follower: SpaceFollower) -> Bool {
    guard let reader = follower.session.reader(on: nil), let items = places.take(from: follower) else {
      return true
    }
    return items.contains { item in
      guard case .entry = item.kind else { return false }
      return reader.sees(item, in: follower.active.space, by: follower.membership)
    }
  }

  private func wake() {
    waiting?.resume()
    waiting = nil
  }
}
