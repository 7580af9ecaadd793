package import BelfryFeed
package import BelfryModel
import BelfryStore

extension Hub {
  /// The unread notifications after a cursor, oldest first. If there are none, waits for one as long as `wait` says.
  package func page(
    for account: AccountID, after cursor: FeedCursor?, limit: Int, wait: FeedWait
  ) async throws(Refusal) -> FeedPage {
    if isDraining { return try await feed.page(for: account, after: cursor, limit: limit) }
    do throws(StoreError) {
      return try await waitingPage(for: account, after: cursor, limit: limit, wait)
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
    let timer = loop.schedule(after: wait.duration) { wait.end() }
    defer { timer.cancel() }
    var cursor = cursor
    while true {
      wait.rearm(after: lastSequence)
      let page = try await feed.page(of: try await session.snapshot(for: wait), after: cursor, limit: limit)
      if !page.notifications.isEmpty || page.gap != nil || wait.hasEnded || Task.isCancelled { return page }
      cursor = page.cursor
      await wait.untilSomethingComes(in: session.followers)
    }
  }
}
