import BelfryModel

/// A request's patience: it waits for its account's feed to have something, so long and no longer, or until
/// nobody waits for the answer any more.
package final class FeedWait: FeedFollower {
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

  func notify(of followed: FollowedSpace) { wake() }
  func lostTrack() { wake() }
  /// A page reads from its cursor on, which no message moves.
  func missed(in space: SpaceID, since id: MessageID) {}
  func sendAway() { end() }

  func rearm() { hasNews = false }

  /// Returns at once when something came since it was armed.
  func untilSomethingComes() async {
    // Not ended by cancellation: whoever cancels ends the wait.
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
