/// The decision of an operation: the records that it relies on, its changes, and its announcements.
///
/// One Redis function commits a transaction: everything below happens, or nothing does.
package struct Transaction: Sendable {
  /// The space of all records and entries below, which therefore lie in one partition.
  package var space: SpaceID
  /// The text that each record must still have; nil: the record must still be absent.
  package var preconditions: [RecordAddress: String?]
  /// If a transaction with this key was committed within the dedupe window, this one is a duplicate.
  package var dedupe: Dedupe?
  /// The content that the sender of its one announcement gave, if a callback changed it. A repetition is
  /// compared by it.
  package var given: NotificationContent?
  /// For a personal space: the commit is refused if the mailbox would hold more.
  package var mailboxCapacity: MailboxCapacity?
  /// The account whose share of mailboxes the deliveries and direct messages use; nil: nobody's.
  package var charged: AccountID?
  /// Tables that must not have grown past a limit once the changes are made.
  package var ceilings: [RecordTable: Int]
  /// The new text of each record; nil: the record is removed. A text may have marks for ids that only the commit knows
  /// (``MessageID/beforeThisCommit``).
  package var changes: [RecordAddress: String?]
  /// Tables that are removed as a whole.
  package var removedTables: [RecordTable]
  /// Appended in this order, after the changes, so that a threshold counts the members as they are then.
  package var announcements: [Announcement]
  /// Updates of earlier entries. Each is an entry of its own, appended after the announcements.
  package var updates: [Update]
  /// Changes of accounts' indexes: made in the same commit for accounts of the same partition, and relayed by the outbox
  /// for others.
  package var indexChanges: [IndexChange]
  /// Notifications for accounts that do not belong to the space, appended to their personal spaces, each once.
  package var deliveries: [Delivery]
  /// The space's place in a directory; nil leaves it.
  package var listing: ListingChange?
  /// The time at which the space is due next, milliseconds since 1970, unless it is due earlier already; see
  /// `RoomTimer`.
  package var wakeAtMilliseconds: Int64?
  /// The echo for the actor's other devices.
  package var echo: DeviceEcho?
  /// Accounts whose memberships change: their consumers read them again before they see more.
  package var changedMemberships: [AccountID]

  /// True if committing the transaction would change nothing.
  package var isEmpty: Bool {
    changes.isEmpty && removedTables.isEmpty && announcements.isEmpty && updates.isEmpty && !hasRelays
      && wakeAtMilliseconds == nil
  }

  /// True if it takes an id even if it appends nothing. Then its changes have a later id than everything
  /// before: the changes for other accounts and directories, and an account's preferences.
  package var takesID: Bool { hasRelays || (space.kind == .account && !changedMemberships.isEmpty) }

  /// True if accounts or a directory have to learn of the transaction.
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

/// The change of an entry that was appended earlier.
package struct Update: Sendable, Hashable {
  package var messageServerId: MessageID
  /// Milliseconds since 1970.
  package var time: Int64
  /// The content as it is now; nil: the notification is recalled.
  package var content: NotificationContent?
  /// Includes everybody who sees the entry.
  package var audience: Audience
  /// The entry of an earlier update, in a personal space, whose place this one takes; nil if there is none.
  package var superseded: MessageID?

  package init(
    of id: MessageID, atMilliseconds time: Int64, _ content: NotificationContent?, to audience: Audience,
    instead superseded: MessageID? = nil
  ) {
    messageServerId = id
    self.time = time
    self.content = content
    self.audience = audience
    self.superseded = superseded
  }
}

/// The key of a send within its space: the sender, and the sender's own id for it.
package struct Dedupe: Sendable, Hashable {
  /// Nil for a trusted caller that sends in nobody's name.
  package var sender: AccountID?
  package var messageClientId: String

  package init(sender: AccountID?, messageClientId: String) {
    self.sender = sender
    self.messageClientId = messageClientId
  }
}

/// A change in the partitions of accounts that concerns a space: the accounts belong to it, or are invited.
package struct IndexChange: Sendable, Hashable, Codable {
  package enum Kind: String, Sendable, Codable, CaseIterable {
    /// The accounts belong to the space now.
    case joined
    /// The accounts left the space, which remains in their feeds until retention has passed what they may see.
    case left
    /// The accounts are invited. Each account has a list of its invitations next to its index; the request itself stays in the
    /// space.
    case invited
  }

  package var kind: Kind
  /// The channel that the accounts are invited to; nil: the space itself.
  package var channel: EntityID?
  package var accounts: [AccountID]

  package init(_ kind: Kind, to channel: EntityID? = nil, _ accounts: [AccountID]) {
    self.kind = kind
    self.channel = channel
    self.accounts = accounts
  }

  /// As the functions of the store take it: `joined`, `left`, `invited`, or `invited 9` for a channel.
  package var word: String { channel.map { "\(kind.rawValue) \($0.text)" } ?? kind.rawValue }
}

/// A notification for an account that does not belong to the space the notification is about. It is appended to the
/// account's personal space.
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
  /// The time at which the space was created, milliseconds since 1970, which orders the directory.
  package var createdAt: Int64

  package init(_ directory: Directory, isListed: Bool, createdAt: Int64) {
    self.directory = directory
    self.isListed = isListed
    self.createdAt = createdAt
  }
}

/// Tells an account's other devices of an act on one of them. It is kept nowhere: a device that is away
/// misses it.
package struct DeviceEcho: Sendable, Hashable {
  package var account: AccountID
  /// The device that acted, which is not told.
  package var device: DeviceID?
  package var operation: OperationName
  /// The target of the operation, such as `{"groupId": "7", "accids": ["bob"]}`.
  package var target: JSONValue

  package init(account: AccountID, device: DeviceID?, operation: OperationName, target: JSONValue) {
    self.account = account
    self.device = device
    self.operation = operation
    self.target = target
  }
}
