package import BelfryModel
import BelfryStore

// How a cursor moves while a scan is served. One place, so that a stream and a page mean the same.
extension FeedCursor {
  /// Before a scan: spaces that the account's index learned of after the cursor was made get a place of
  /// their own, if the partition's place has already passed them.
  mutating func takeIntoAccount(_ snapshot: FeedSnapshot) {
    let view = snapshot.view
    for entry in view.index {
      guard let (first, before) = entry.news(after: indexed) else { continue }
      if entry.space.kind == .letter {
        admit(entry.space, since: before?.version ?? first.version.predecessor)
      } else if let stay = view.standings[entry.space]?.belonging.firstStay(of: first, after: before) {
        admit(entry.space, since: stay.after)
      }
    }
    let home = SpaceID.personal(view.account).partition
    takeIntoAccount(indexThrough: snapshot.lastIDs[home] ?? .zero)
  }

  /// An entry of the scan has been dealt with, shown or not.
  mutating func pass(_ found: FeedScan.Found, of scan: FeedScan) {
    advance(scan.space(of: found), to: found.entry.id)
    raiseBase(toMilliseconds: min(found.entry.id.unixMilliseconds, scan.snapshot.takenAtMilliseconds))
  }

  /// The same for many at once: what comes of it is seen only after the last of them, so of each log its last
  /// entry will do.
  mutating func pass(_ found: ArraySlice<FeedScan.Found>, of scan: FeedScan) {
    guard let last = found.last else { return }
    var reached = [MessageID](repeating: .zero, count: scan.logs.count)
    for index in found.indices { reached[found[index].log] = found[index].entry.id }
    for (log, id) in zip(scan.logs, reached) where id > .zero { advance(log.space, to: id) }
    pass(last, of: scan)
  }

  /// The scan is complete: late spaces have caught up with their partitions.
  mutating func finish(_ scan: FeedScan) {
    let caughtUp = Set(late.keys.map(\.partition))
    if !caughtUp.isEmpty { settle(scan.snapshot.lastIDs.filter { caughtUp.contains($0.key) }) }
    raiseBase(toMilliseconds: scan.snapshot.takenAtMilliseconds)
  }

  /// Everything that was there at this time has been served.
  mutating func raiseBase(toMilliseconds milliseconds: Int64) {
    raiseBase(to: Self.base(atMilliseconds: milliseconds))
  }

  /// Where a cursor's base may stand when everything that was there at this time has been served.
  static func base(atMilliseconds milliseconds: Int64) -> MessageID {
    MessageID(firstAtUnixMilliseconds: milliseconds - safetyWindowMilliseconds)
  }

  /// A cursor from before retention may have missed what was trimmed; zero, the beginning, promises
  /// nothing and so misses nothing.
  func gap(retentionFloor: MessageID) -> FeedGap? {
    guard base != .zero || !positions.isEmpty else { return nil }
    let reached = max(base, positions.last ?? .zero)
    return reached < retentionFloor ? FeedGap(from: reached, to: retentionFloor) : nil
  }
}

extension Intervals {
  /// The first stay that was news to an index.
  fileprivate func firstStay(of news: IndexEntry.Knowledge, after before: IndexEntry.Knowledge?)
    -> Interval?
  {
    if let before, let next = all.first(where: { $0.after >= before.version }), next.after < news.version {
      return next
    }
    // What was before is forgotten: the latest it may have been about. A record may have forgotten that, too.
    return all.last { $0.after < news.version } ?? all.first
  }
}

/// A range that is gone: whoever stood at `from` cannot be told what was up to `to`.
package struct FeedGap: Sendable, Hashable, Codable {
  package var from: MessageID
  package var to: MessageID
}
