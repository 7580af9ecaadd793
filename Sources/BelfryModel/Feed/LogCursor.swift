import BelfryBytes

/// A place in one space's log, for a reader that follows the log itself and not an account's feed.
///
/// A feed is told only of entries that are lost to its account. A reader of the log must be told of every entry that was
/// trimmed, so its cursor also counts the entries.
package struct LogCursor: Sendable, Hashable {
  /// The last entry that was passed; zero before the first one.
  package var place: MessageID
  /// How many entries had been appended to the log when the reader reached its end. Nil if the reader has not reached it.
  package var appendedCount: Int64?
  /// The history of the store that the place belongs to; empty if unknown.
  package var history: String

  package init(place: MessageID, appendedCount: Int64? = nil, history: String) {
    self.place = place
    self.appendedCount = appendedCount
    self.history = history
  }

  /// True if entries after the place may have been trimmed.
  ///
  /// A log is trimmed from its beginning. So nothing is missing while the entry at the place is there, and nothing is
  /// missing if exactly the entries were trimmed that the reader had passed. The counts begin again with a log that was trimmed
  /// to nothing, and then a loss beyond the place tells.
  ///
  /// - Parameters:
  ///   - isPlaceKept: whether the log still has the entry at the place.
  ///   - trimmedCount: how many entries of the log were trimmed.
  ///   - lostThrough: the last entry that was trimmed and may be unread; zero if none was.
  package func mayMissEntries(isPlaceKept: Bool, trimmedCount: Int64, lostThrough: MessageID) -> Bool {
    !isPlaceKept && trimmedCount != appendedCount || lostThrough > place
  }
}

// MARK: - The text that a client hands back

// `1<history>.<place>[.<appended count>]`, numbers in decimal digits. Opaque to clients, and made of characters that need no
// escape in a query.
extension LogCursor {
  private static var version: UInt8 { UInt8(ascii: "1") }
  /// Longer than any cursor.
  private static let textLimitBytes = 64

  package var text: String {
    "1\(history).\(place)" + (appendedCount.map { ".\($0)" } ?? "")
  }

  /// Nil if `text` was not made by ``text``.
  package init?(text: String) {
    guard text.utf8.count <= Self.textLimitBytes else { return nil }
    let words = text.parts(between: ".")
    guard (2...3).contains(words.count), words[0].utf8.first == Self.version,
      let history = FeedCursor.history(words[0].utf8.dropFirst()), let place = MessageID(String(words[1]))
    else { return nil }
    self.init(place: place, history: history)
    guard words.count == 3 else { return }
    guard let count = Int64(canonical: String(words[2])) else { return nil }
    appendedCount = count
  }
}
