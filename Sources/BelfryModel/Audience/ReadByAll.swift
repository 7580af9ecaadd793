/// An account that may see entries of a log, and its read state.
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

/// The prefix of a log that all of its readers have read. It can be trimmed: nobody sees it any more, and later members
/// see nothing from before they joined.
package struct ReadByAll {
  /// Spaces with more readers, former members included, are left to retention: among so many there is always one that
  /// does not read, and each takes two commands of Redis.
  package static let readersMax = 300

  private let space: SpaceID
  private let retentionFloor: MessageID
  private let nowMilliseconds: Int64
  /// The prefix, as far as the readers that were added so far have read.
  package private(set) var entries: ArraySlice<LogEntry>

  /// - Parameter entries: the log's first entries.
  package init(_ entries: [LogEntry], of space: SpaceID, retentionFloor: MessageID, nowMilliseconds: Int64) {
    self.entries = entries[...]
    self.space = space
    self.retentionFloor = retentionFloor
    self.nowMilliseconds = nowMilliseconds
  }

  /// Shortens the prefix to the entries that this reader has read, too, or that have expired. An entry that
  /// says that a notification was updated or recalled is kept as long as the notification may be on one of
  /// the reader's devices.
  package mutating func keepOnly(readBy reader: LogReader) {
    let unread = entries.firstIndex { entry in
      if let time = entry.audience.expiresAt, time <= nowMilliseconds { return false }
      return Visibility.isPerhapsShown(
        entry.notificationID, entry.audience, in: space, for: reader.account, membership: reader.membership,
        read: reader.read, retentionFloor: retentionFloor)
    }
    if let unread { entries = entries[..<unread] }
  }
}

extension LogEntry {
  /// The readers of an entry of a direct message: the accounts it names.
  package var directMessageReaders: [AccountID] { Array(audience.named) }
}
