/// Somebody who may see entries of a log, and what they have read.
package struct LogReader: Sendable {
  package var account: AccountID
  package var membership: Membership
  package var read: ReadState

  package init(_ account: AccountID, membership: Membership, read: ReadState) {
    self.account = account
    self.membership = membership
    self.read = read
  }
}

/// How much of a log's beginning everybody has read. It can go: nobody can see it any more, and who comes later sees
/// nothing from before.
package struct ReadByAll {
  /// Readers of a space, who have left it included, up to which it is looked at. In more there is always somebody who
  /// does not read, and each is two questions to Redis.
  package static let readersMax = 300

  private let space: SpaceID
  private let retentionFloor: MessageID
  /// From the log's beginning on, without what somebody has yet to read and all that comes after it.
  package private(set) var entries: ArraySlice<LogEntry>

  /// - Parameter entries: from the log's first on.
  package init(_ entries: [LogEntry], of space: SpaceID, retentionFloor: MessageID) {
    self.entries = entries[...]
    self.space = space
    self.retentionFloor = retentionFloor
  }

  /// Of these readers, too. What says what an entry has become is of use as long as somebody can see that entry.
  package mutating func keepOnly(readBy reader: LogReader) {
    let unread = entries.firstIndex { entry in
      Visibility.of(
        entry.notificationID, entry.audience, in: space, for: reader.account, membership: reader.membership,
        read: reader.read, retentionFloor: retentionFloor
      ).isVisible
    }
    if let unread { entries = entries[..<unread] }
  }
}

extension LogEntry {
  /// Whoever can see an entry of a direct message: those whom it names.
  package var directMessageReaders: [AccountID] { Array(audience.named) }
}
