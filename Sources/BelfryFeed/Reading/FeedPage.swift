package import BelfryModel
package import BelfryStore

/// One page of an account's unread notifications.
package struct FeedPage: Sendable {
  /// Oldest first.
  package var notifications: [LogEntry] = []
  /// The place where the next page begins.
  package var cursor: FeedCursor
  /// The entries that are gone: they were trimmed, or the store lost them, before the reader came for them.
  package var gap: FeedGap?
  /// The entries that were read for it. Not all of them are for the account.
  package var entriesRead = 0
}

extension FeedReader {
  /// The unread after a cursor, oldest first.
  ///
  /// - Parameter isWanted: asked again and again. If it says false, the page ends with a refusal that nobody reads.
  package func page(
    for account: AccountID, after cursor: FeedCursor?, limit: Int, while isWanted: () -> Bool = { true }
  ) async throws(Refusal) -> FeedPage {
    do throws(StoreError) {
      let take = { [store] () async throws(StoreError) in
        try await FeedSnapshot.take(of: account, from: store, after: cursor ?? FeedCursor())
      }
      let snapshot = try await scans.pass(as: account, take)
      return try await page(of: snapshot, after: cursor, limit: limit, while: isWanted)
    } catch {
      throw error.refusal
    }
  }

  /// The page of a snapshot that was taken before.
  package func page(
    of snapshot: FeedSnapshot, after start: FeedCursor?, limit: Int, while isWanted: () -> Bool = { true }
  ) async throws(StoreError) -> FeedPage {
    let read = { [self] () async throws(StoreError) in
      try await readPage(of: snapshot, after: start, limit: limit, while: isWanted)
    }
    return try await readings.pass(as: snapshot.view.account, read)
  }

  private func readPage(
    of snapshot: FeedSnapshot, after start: FeedCursor?, limit: Int, while isWanted: () -> Bool
  ) async throws(StoreError) -> FeedPage {
    let floor = limits.retentionFloor(nowMilliseconds: snapshot.takenAtMilliseconds)
    var page = FeedPage(cursor: start ?? FeedCursor())
    page.gap = snapshot.gap(behind: page.cursor, promisedFrom: start == nil ? floor : .zero)
    // A scan takes in as much of the index as the cursor has room for, so it may need several. One that takes in nothing more
    // is the last: those that follow would not either, and this loop would keep its thread from all others.
    var indexed = MessageID.zero
    while try await fill(&page, from: snapshot, limit: limit, floor: floor, while: isWanted),
      page.cursor.indexed > indexed
    {
      indexed = page.cursor.indexed
    }
    if start == nil {
      // A stream that continues from here is not to show everything again: the page goes by the present preferences.
      let preferences = snapshot.view.preferences
      page.cursor.takeIntoAccount(
        preferencesSince: preferences.lastChange(nowMilliseconds: snapshot.takenAtMilliseconds))
    }
    return page
  }

  /// - Returns: true if there may be more for the page.
  private func fill(
    _ page: inout FeedPage, from snapshot: FeedSnapshot, limit: Int, floor: MessageID,
    while isWanted: () -> Bool
  ) async throws(StoreError) -> Bool {
    page.gap.extend(by: page.cursor.takeIntoAccount(snapshot))
    let scan = FeedScan(
      snapshot, at: page.cursor, retentionFloor: floor, wanted: limit, isPatient: true, in: store,
      passing: hidden)
    countScan()
    while page.notifications.count < limit, !scan.isComplete {
      try checkIsWanted(isWanted)
      let wanted = limit - page.notifications.count
      let next = { () async throws(StoreError) in try await scan.next(wanted: wanted) }
      let found = try await scans.pass(as: snapshot.view.account, next)
      page.gap.extend(by: scan.takeGap())
      guard let found else { break }
      page.entriesRead += found.count
      var passed = found.startIndex
      while passed < found.endIndex, page.notifications.count < limit {
        let one = found[passed]
        if scan.isVisible(one) { page.notifications.append(one.entry) }
        if scan.isLost(one) { page.gap.extend(from: one.entry.id.predecessor, to: floor) }
        passed += 1
      }
      page.cursor.pass(found[..<passed], of: scan)
      // The rest is the next page's.
      if passed < found.endIndex { return false }
    }
    guard scan.isComplete else { return false }
    page.cursor.finish(scan)
    return scan.isPartial && page.notifications.count < limit
  }
}
