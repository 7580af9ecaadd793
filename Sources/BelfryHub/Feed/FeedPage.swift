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
  /// The unread after a cursor, oldest first. With nothing there, waits for something as long as `wait` says.
  package func page(
    for account: AccountID, after cursor: FeedCursor?, limit: Int, wait: FeedWait? = nil
  ) async throws(Refusal) -> FeedPage {
    do throws(StoreError) {
      if let wait, !isDraining {
        return try await waitingPage(for: account, after: cursor, limit: limit, wait)
      }
      let snapshot = try await FeedSnapshot.take(of: account, from: store)
      return try await page(of: snapshot, after: cursor, limit: limit)
    } catch {
      throw error.refusal
    }
  }

  private func waitingPage(
    for account: AccountID, after cursor: FeedCursor?, limit: Int, _ wait: FeedWait
  ) async throws(StoreError) -> FeedPage {
    let session = session(of: account)
    session.add(wait)
    defer { end(wait, of: session) }
    let timer = loop.schedule(after: .seconds(wait.seconds)) { wait.end() }
    defer { timer.cancel() }
    var cursor = cursor
    while true {
      wait.rearm()
      let page = try await page(of: try await session.snapshot(), after: cursor, limit: limit)
      if !page.notifications.isEmpty || wait.hasEnded || Task.isCancelled { return page }
      cursor = page.cursor
      await wait.untilSomethingComes()
    }
  }

  private func page(
    of snapshot: FeedSnapshot, after start: FeedCursor?, limit: Int
  ) async throws(StoreError) -> FeedPage {
    let view = snapshot.view
    let floor = limits.retentionFloor(nowMilliseconds: snapshot.takenAtMilliseconds)
    var page = FeedPage(cursor: start ?? FeedCursor())
    page.gap = page.cursor.gap(retentionFloor: floor)
    page.cursor.takeIntoAccount(snapshot)
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
