package import BelfryModel
import BelfryStore

/// One page of an account's unread notifications.
package struct FeedPage: Sendable {
  /// Oldest first.
  package var notifications: [LogEntry] = []
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
      let snapshot = try await FeedSnapshot.take(of: account, from: store, after: cursor ?? FeedCursor())
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
    let read = snapshot.view.read
    let floor = limits.retentionFloor(nowMilliseconds: snapshot.takenAtMilliseconds)
    var page = FeedPage(cursor: start ?? FeedCursor())
    page.gap = page.cursor.gap(retentionFloor: floor)
    page.cursor.takeIntoAccount(snapshot)
    let scan = FeedScan(snapshot, at: page.cursor, retentionFloor: floor, wanted: limit, in: store)
    count { $0.scans += 1 }
    while page.notifications.count < limit, !scan.isComplete {
      let wanted = limit - page.notifications.count
      let next = { () async throws(StoreError) in try await scan.next(wanted: wanted) }
      guard let found = try await turnstile.pass(next) else { break }
      var passed = found.startIndex
      while passed < found.endIndex, page.notifications.count < limit {
        if scan.isVisible(found[passed], read: read) { page.notifications.append(found[passed].entry) }
        passed += 1
      }
      page.cursor.pass(found[..<passed], of: scan)
      // The rest is the next page's.
      if passed < found.endIndex { return page }
    }
    if scan.isComplete { page.cursor.finish(scan) }
    return page
  }
}
