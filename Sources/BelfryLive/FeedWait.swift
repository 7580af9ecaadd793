import BelfryModel

/// The wait of a request for its account's feed to have something. It ends after a given time, or when the client has
/// gone.
package final class FeedWait: FeedListener {
  let duration: Duration
  private(set) var hasEnded = false
  private var hasNews = false
  private var waiting: CheckedContinuation<Void, Never>?

  package init(_ duration: Duration) {
    self.duration = duration
  }

  package func end() {
    hasEnded = true
    wake()
  }

  func notify(of follower: SpaceFollower) { wake() }
  func lostTrack() { wake() }
  /// Nothing to do: a page is read from its cursor on, and live messages do not move that cursor.
  func missed(in space: SpaceID, since id: MessageID) {}
  func sendAway() { end() }

  func rearm() { hasNews = false }

  /// Returns when something comes, or at once if something came since ``rearm()``.
  func untilSomethingComes() async {
    // Cancellation does not end the wait: whoever cancels calls ``end()``.
    await withCheckedContinuation { continuation in
      guard !hasNews, !hasEnded else { return continuation.resume() }
      waiting = continuation
    }
  }

  private func wake() {
    hasNews = true
    waiting?.resume()
    waiting = nil
  }
}
