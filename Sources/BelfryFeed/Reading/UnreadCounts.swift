package import BelfryModel
package import BelfryStore

/// How much an account has unread: in all, by space and by type. It counts the entries that a feed shows, by the same rule,
/// so the numbers are those of paging through it.
package struct UnreadCounts: Sendable, Hashable {
  package private(set) var unread = 0
  /// Those of them that count in the number on an app's icon (`needBadge`).
  package private(set) var badge = 0
  package private(set) var spaces: [SpaceID: Int] = [:]
  /// The numbers by the code of the type.
  package private(set) var types: [Int: Int] = [:]
  /// True if there is more than was counted.
  package private(set) var isCapped = false
  private let limit: Int

  /// - Parameter limit: the most that is counted.
  package init(limit: Int = Limits.countedUnread) { self.limit = limit }

  package mutating func add(_ entry: LogEntry, in space: SpaceID) {
    add(entry.type, in: space, countsInBadge: entry.countsInBadge)
  }

  package mutating func add(_ type: Int, in space: SpaceID, countsInBadge: Bool) {
    guard unread < limit else { return isCapped = true }
    unread += 1
    if countsInBadge { badge += 1 }
    spaces[space, default: 0] += 1
    types[type, default: 0] += 1
  }

  /// As clients are told.
  package var json: [UInt8] {
    var text = JSONText(capacity: 128 + 64 * (spaces.count + types.count))
    text.field("unread", unread)
    text.field("badge", badge)
    text.field(
      "spaces",
      .array(
        spaces.sorted { $0.key.key < $1.key.key }.map { space, count in
          ["space": .string(space.key), "unread": .integer(Int64(count))]
        }))
    text.field(
      "types",
      .array(
        types.sorted { $0.key < $1.key }.map { type, count in
          ["type": .integer(Int64(type)), "unread": .integer(Int64(count))]
        }))
    text.field("isCapped", isCapped)
    return text.finish()
  }
}

/// A count, and what it took.
package struct UnreadCount: Sendable {
  package var counts: UnreadCounts
  /// The entries that were read for it. Not all of them are for the account.
  package var entriesRead = 0
  /// When the first of those that were counted expires, milliseconds since 1970; nil if none does.
  package var firstExpiry: Int64?

  package init(counts: UnreadCounts = UnreadCounts()) { self.counts = counts }
}

extension FeedReader {
  /// Counts the unread entries of the account now.
  ///
  /// - Parameter isWanted: as for a page.
  package func count(
    for account: AccountID, while isWanted: () -> Bool = { true }
  ) async throws(Refusal) -> UnreadCount {
    do throws(StoreError) {
      let take = { [store] () async throws(StoreError) in
        try await FeedSnapshot.take(of: account, from: store, after: FeedCursor())
      }
      return try await count(in: try await scans.pass(as: account, take), while: isWanted)
    } catch {
      throw error.refusal
    }
  }

  /// Counts the unread entries as of a snapshot.
  package func count(
    in snapshot: FeedSnapshot, while isWanted: () -> Bool = { true }
  ) async throws(StoreError) -> UnreadCount {
    let read = { [self] () async throws(StoreError) in try await readCount(in: snapshot, while: isWanted) }
    return try await readings.pass(as: snapshot.view.account, read)
  }

  private func readCount(
    in snapshot: FeedSnapshot, while isWanted: () -> Bool
  ) async throws(StoreError) -> UnreadCount {
    let floor = limits.retentionFloor(nowMilliseconds: snapshot.takenAtMilliseconds)
    let scan = FeedScan(
      snapshot, at: nil, retentionFloor: floor, in: store, sharing: recent, passing: hidden)
    countScan()
    var count = UnreadCount()
    let next = { () async throws(StoreError) in try await scan.next() }
    while !count.counts.isCapped, let found = try await scans.pass(as: snapshot.view.account, next) {
      count.add(found, of: scan)
      try checkIsWanted(isWanted)
    }
    return count
  }
}

extension UnreadCount {
  /// Counts what of these entries the account sees.
  package mutating func add(_ found: [FeedScan.Found], of scan: FeedScan) {
    entriesRead += found.count
    for one in found where scan.isVisible(one) {
      counts.add(one.entry, in: scan.space(of: one))
      if let time = one.entry.audience.expiresAt { firstExpiry = min(time, firstExpiry ?? time) }
    }
  }
}
