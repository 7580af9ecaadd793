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
  /// Of one on an account's own space: refuses the whole where that would hold more.
  package var mailboxRoom: MailboxRoom?
  /// Whose share of mailboxes its deliveries and direct messages use; nil: nobody's.
  package var charged: AccountID?
  /// Tables that must not have grown past a limit once the changes are made.
  package var ceilings: [RecordTable: Int]
  /// Each record becomes this; nil: is removed. Marks for ids only the commit knows are allowed
  /// (``MessageID/beforeThisCommit``).
  package var changes: [RecordAddress: String?]
  /// Whole tables that go.
  package var removedTables: [RecordTable]
  /// Appended in this order, after the changes, so that a threshold counts the members as they are then.
  package var announcements: [Announcement]
  /// Entries whose content changes: each is said in an entry of its own, appended after the announcements.
  package var updates: [Update]
  /// What accounts must learn: in the same commit where their own space is in the partition of this one; of others it
  /// is written to the partition's outbox, then relayed.
  package var indexChanges: [IndexChange]
  /// Entries for accounts that do not belong to the space: told in their own spaces, each once.
  package var deliveries: [Delivery]
  /// The space's place in a directory; nil leaves it.
  package var listing: ListingChange?
  /// When to look at the space again, milliseconds since 1970, unless that is due earlier anyway: some
  /// broker will (``RoomTimer``).
  package var wakeAtMilliseconds: Int64?
  /// What the operator's other devices are told.
  package var echo: DeviceEcho?
  /// Accounts whose membership changes: their consumers must read it again before they see more.
  package var changedMemberships: [AccountID]

  /// Whether it does anything at all.
  package var isEmpty: Bool {
    changes.isEmpty && removedTables.isEmpty && announcements.isEmpty && updates.isEmpty && !hasRelays
      && wakeAtMilliseconds == nil
  }

  /// Whether accounts or a directory have to learn of it.
  package var hasRelays: Bool { !indexChanges.isEmpty || !deliveries.isEmpty || listing != nil }

  package init(_ space: SpaceID) {
    self.space = space
    preconditions = [:]
    ceilings = [:]
    changes = [:]
    removedTables = []
    announcements = []
    updates = []
    indexChanges = []
    deliveries = []
    changedMemberships = []
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
package struct Update: Sendable, Hashable {
  /// The notification as it is now, `updateTime` included.
  package var notification: Notification
  /// Who saw the entry sees the update.
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
  package enum Kind: String, Sendable, Codable, CaseIterable {
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

/// One notification for one account that is not, or no longer, in the space it is about. It goes to the
/// account's own space.
package struct Delivery: Sendable, Hashable, Codable {
  package var account: AccountID
  package var content: NotificationContent

  package init(_ content: NotificationContent, to account: AccountID) {
    self.account = account
    self.content = content
  }
}

/// A space appears in, or disappears from, a directory that anybody may page through.
package struct ListingChange: Sendable, Hashable, Codable {
  package enum Directory: String, Sendable, Codable, CaseIterable {
    /// Public groups.
    case groups
    /// Open rooms.
    case rooms
  }

  package var directory: Directory
  package var isListed: Bool
  /// What the directory is ordered by, milliseconds since 1970: when the space was created.
  package var createdAt: Int64

  package init(_ directory: Directory, isListed: Bool, createdAt: Int64) {
    self.directory = directory
    self.isListed = isListed
    self.createdAt = createdAt
  }
}

/// Tells an account's other devices what it did on one of them: an event of the moment, kept nowhere.
package struct DeviceEcho: Sendable, Hashable {
  package var account: AccountID
  /// The device that acted; it is not told.
  package var device: DeviceID?
  package var operation: OperationName
  /// What it was done to, such as `{"groupId": "7", "accids": ["bob"]}`.
  package var target: JSONValue

  package init(account: AccountID, device: DeviceID?, operation: OperationName, target: JSONValue) {
    self.account = account
    self.device = device
    self.operation = operation
    self.target = target
  }
}
