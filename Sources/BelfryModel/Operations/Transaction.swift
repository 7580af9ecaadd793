/// What an operation decided: what it relies on, what it changes, what it announces (DESIGN §4).
///
/// One Redis function commits it: either everything below happens, or nothing does.
package struct Transaction: Sendable {
  /// Everything it touches lies in this space, and so in one partition.
  package var space: SpaceID
  /// Each record is still what was read; nil: is still absent.
  package var preconditions: [RecordAddress: String?]
  /// Refuses the whole as a duplicate when the same was committed before within the dedupe window.
  package var dedupe: Dedupe?
  /// Tables that must not have grown past a limit once the changes are made.
  package var ceilings: [RecordTable: Int]
  /// Each record becomes this; nil: is removed. Marks for ids only the commit knows are allowed
  /// (``MessageID/beforeThisCommit``).
  package var changes: [RecordAddress: String?]
  /// Whole tables that go.
  package var removedTables: [RecordTable]
  /// Appended in this order, after the changes, so that a threshold counts the members as they are then.
  package var announcements: [Announcement]
  /// Entries whose content changes: nothing is appended, live consumers are told.
  package var amendments: [Amendment]
  /// What other partitions must learn. Written to the space's outbox in the same commit, then relayed.
  package var indexChanges: [IndexChange]
  /// Accounts whose standing changes: their consumers must read it again before they see more.
  package var changedStandings: [AccountID]

  package init(_ space: SpaceID) {
    self.space = space
    preconditions = [:]
    ceilings = [:]
    changes = [:]
    removedTables = []
    announcements = []
    amendments = []
    indexChanges = []
    changedStandings = []
  }
}

/// An entry to append: its content and its audience.
package struct Announcement: Sendable, Hashable {
  package var content: NotificationContent
  package var audience: Audience

  package init(_ content: NotificationContent, to audience: Audience) {
    self.content = content
    self.audience = audience
  }
}

/// New content for an entry that was appended earlier.
package struct Amendment: Sendable, Hashable {
  /// The notification as it is now, `updateTime` included.
  package var notification: Notification
  /// Who saw the entry sees the amendment.
  package var audience: Audience

  package init(_ notification: Notification, to audience: Audience) {
    self.notification = notification
    self.audience = audience
  }
}

/// What makes two sends the same send: the sender, the space, and the sender's own id for it.
package struct Dedupe: Sendable, Hashable {
  /// An accid, or nil for a trusted back end that sends in nobody's name.
  package var sender: AccountID?
  package var messageClientId: String

  package init(sender: AccountID?, messageClientId: String) {
    self.sender = sender
    self.messageClientId = messageClientId
  }
}

/// A change to accounts' indexes of spaces, which live in the accounts' own partitions.
package struct IndexChange: Sendable, Hashable, Codable {
  package enum Kind: String, Sendable, Codable {
    /// The accounts belong to the space now.
    case joined
    /// They no longer do; the space stays in their feed until retention has passed what they may see.
    case left
  }

  package var kind: Kind
  package var accounts: [AccountID]

  package init(_ kind: Kind, _ accounts: [AccountID]) {
    self.kind = kind
    self.accounts = accounts
  }
}
