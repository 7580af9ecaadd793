package import BelfryModel
import BelfryStore

// How a cursor moves while a scan is served. One place, so that a stream and a page mean the same.
extension FeedCursor {
  /// Before a scan: spaces that the account's index learned of after the cursor was made get a place of
  /// their own, if the partition's place has already passed them.
  mutating func admitLateSpaces(of view: AccountView) {
    let home = SpaceID.personal(view.account).partition
    for entry in view.index where entry.addedAt > position(in: home) {
      // The latest stay: of earlier ones the index has known before, and so has the cursor.
      guard let since = view.standings[entry.space]?.belonging.all.last?.after else { continue }
      admit(entry.space, since: entry.space.kind == .letter ? entry.version.predecessor : since)
    }
  }

  /// An entry of the scan has been dealt with, shown or not.
  mutating func pass(_ found: FeedScan.Found, of scan: FeedScan) {
    advance(found.space, to: found.entry.id)
    raiseBase(toMilliseconds: min(found.entry.id.unixMilliseconds, scan.snapshot.takenAtMilliseconds))
  }

  /// The scan is complete. The account's own partition, and those of late spaces, get an explicit place
  /// at the scan's end, so that the next reader does not take the same spaces for late again.
  mutating func finish(_ scan: FeedScan) {
    let view = scan.snapshot.view
    let home = SpaceID.personal(view.account).partition
    let isBehindIndex = view.index.contains { $0.addedAt > position(in: home) }
    if isBehindIndex || !late.isEmpty {
      let partitions = Set(late.keys.map(\.partition)).union([home])
      settle(scan.snapshot.lastIDs.filter { partitions.contains($0.key) })
    }
    raiseBase(toMilliseconds: scan.snapshot.takenAtMilliseconds)
  }

  /// Everything that was there at this time has been served.
  mutating func raiseBase(toMilliseconds milliseconds: Int64) {
    raiseBase(to: MessageID(firstAtUnixMilliseconds: milliseconds - Self.safetyWindowMilliseconds))
  }

  /// A cursor from before retention may have missed what was trimmed; zero, the beginning, promises
  /// nothing and so misses nothing.
  func gap(retentionFloor: MessageID) -> FeedGap? {
    guard base != .zero || !positions.isEmpty else { return nil }
    let reached = max(base, positions.values.max() ?? .zero)
    return reached < retentionFloor ? FeedGap(from: reached, to: retentionFloor) : nil
  }
}

/// A range that is gone: whoever stood at `from` cannot be told what was up to `to`.
package struct FeedGap: Sendable, Hashable, Codable {
  package var from: MessageID
  package var to: MessageID
}
