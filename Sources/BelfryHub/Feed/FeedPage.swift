package import BelfryModel
import BelfryStore

/// One page of an account's unread notifications.
package struct FeedPage: Sendable {
  /// Each a JSON object, oldest first.
  package var notifications: [String] = []
  /// Where the next page begins.
  package var cursor: FeedCursor
  /// What cannot be had any more, when the cursor came from before retention.
  package var gap: FeedGap?
}

extension Hub {
  /// The unread after a cursor, oldest first. With nothing there, waits up to `waitSeconds` for something.
  package func page(
    for account: AccountID, after cursor: FeedCursor?, limit: Int, waitSeconds: Int
  ) async throws(Refusal) -> FeedPage {
    do throws(StoreError) {
      if waitSeconds == 0 {
        let snapshot = try await FeedSnapshot.take(of: account, from: store)
        return try await page(of: snapshot, after: cursor, limit: limit)
      }
      return try await waitingPage(for: account, after: cursor, limit: limit, waitSeconds: waitSeconds)
    } catch {
      throw error.refusal
    }
  }

  private func waitingPage(
    for account: AccountID, after cursor: FeedCursor?, limit: Int, waitSeconds: Int
  ) async throws(StoreError) -> FeedPage {
    let session = session(of: account)
    let waiter = Waiter()
    session.add(waiter)
    defer { end(waiter, of: session) }
    let timer = loop.schedule(after: .seconds(waitSeconds)) { waiter.expire() }
    defer { timer.cancel() }
    var cursor = cursor
    while true {
      waiter.rearm()
      let page = try await page(of: try await session.snapshot(), after: cursor, limit: limit)
      if !page.notifications.isEmpty || waiter.hasExpired || Task.isCancelled { return page }
      cursor = page.cursor
      await waiter.wait()
    }
  }

  private func page(
    of snapshot: FeedSnapshot, after start: FeedCursor?, limit: Int
  ) async throws(StoreError) -> FeedPage {
    let view = snapshot.view
    let floor = limits.retentionFloor(nowMilliseconds: snapshot.takenAtMilliseconds)
    var page = FeedPage(cursor: start ?? FeedCursor())
    page.gap = page.cursor.gap(retentionFloor: floor)
    page.cursor.admitLateSpaces(of: view)
    let scan = FeedScan(snapshot, at: page.cursor, retentionFloor: floor, in: store)
    count { $0.scans += 1 }
    while let found = try await turnstile.pass({ () async throws(StoreError) in try await scan.next() }) {
      for one in found {
        if page.notifications.count == limit { return page }
        page.cursor.pass(one, of: scan)
        guard view.visibility(of: one.entry, in: one.space, retentionFloor: floor).isVisible else { continue }
        page.notifications.append(one.entry.notificationJSON)
      }
    }
    page.cursor.finish(scan)
    return page
  }
}

/// A request that waits for its account's feed to have something.
private final class Waiter: FeedFollower {
  private(set) var hasExpired = false
  private var hasNews = false
  private var waiting: CheckedContinuation<Void, Never>?

  func arrived(in space: ActiveSpace) { wake() }
  func lostTrack() { wake() }

  func expire() {
    hasExpired = true
    wake()
  }

  func rearm() { hasNews = false }

  /// Returns at once when something came since it was armed.
  func wait() async {
    // Not ended by cancellation: the timer ends it, and that is soon enough for a client that has gone.
    await withCheckedContinuation { continuation in
      guard !hasNews, !hasExpired else { return continuation.resume() }
      waiting = continuation
    }
  }

  private func wake() {
    hasNews = true
    waiting?.resume()
    waiting = nil
  }
}
