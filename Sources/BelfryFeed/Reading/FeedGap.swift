package import BelfryModel
import BelfryStore

/// A range of ids whose entries are gone: a reader that stood at `from` cannot be shown what came up to `to`.
package struct FeedGap: Sendable, Hashable, Codable {
  package var from: MessageID
  package var to: MessageID

  package init(from: MessageID, to: MessageID) {
    self.from = from
    self.to = to
  }
}

extension FeedGap? {
  /// Extends the gap to the smallest range that also holds the given one.
  package mutating func extend(from: MessageID, to: MessageID) {
    self = FeedGap(from: min(self?.from ?? from, from), to: max(self?.to ?? to, to))
  }

  package mutating func extend(by other: FeedGap?) {
    if let other { extend(from: other.from, to: other.to) }
  }

  /// Adds what was trimmed from a log after `place` and up to `lostThrough`, as far as it lies in one of the
  /// membership intervals.
  mutating func extend(after place: MessageID, trimmedThrough lostThrough: MessageID, in intervals: Intervals)
  {
    for interval in intervals.all {
      let (after, through) = (max(place, interval.after), min(lostThrough, interval.through ?? .last))
      if after < through { extend(from: after, to: through) }
    }
  }
}

extension FeedGap {
  package func contains(_ other: FeedGap) -> Bool { from <= other.from && other.to <= to }
}

extension FeedSnapshot {
  /// The entries that were trimmed from logs before a reader at the cursor came for them.
  ///
  /// - Parameter promised: a reader that came without a cursor is promised the entries that were within retention when it
  ///   came. They begin with this id. So it hears of earlier trims only if the limit of a log caused them. Zero for other
  ///   readers.
  package func gap(behind cursor: FeedCursor, promisedFrom promised: MessageID) -> FeedGap? {
    var gap: FeedGap?
    // In a space that the index has learned of since, the reader stands where its membership begins, however far the cursor has
    // come in other spaces of the partition.
    let knowsIndex = cursor.indexed > .zero && !cursor.isStartingOver
    let cursor = knowsIndex ? cursor.withRoomForAll(in: self) : cursor
    for (space, _, lostThrough) in ends where lostThrough > .zero && lostThrough >= promised {
      let place = max(
        cursor.position(in: space, partitions), view.read.watermark(of: space, partitions))
      if let membership = view.memberships[space] {
        gap.extend(after: place, trimmedThrough: lostThrough, in: membership.intervals)
      }
    }
    return gap
  }
}
