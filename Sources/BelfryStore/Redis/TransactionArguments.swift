import BelfryBytes
import BelfryModel
import BelfryRedis

/// The arguments of a call of `commit`, to which transactions of one partition are added. `Functions/commit.lua` and
/// `records.lua` read them.
struct CommitCall {
  private(set) var command: RedisCommand
  /// The space and the preconditions of the transaction added last.
  private var basis: (space: SpaceID, records: [RecordAddress: String?])?
  private let partitions: Partitions

  /// - Parameter command: the call of the partition's `commit`, with nothing appended.
  init(_ command: RedisCommand, _ limits: Limits, of partitions: Partitions) {
    self.partitions = partitions
    var command = command
    command.append(limits.dedupeWindowMilliseconds)
    command.append(limits.entriesPerSpace)
    command.append(limits.subscriptionThreshold)
    command.append(limits.retentionMilliseconds)
    command.append(limits.spacesPerIndex)
    command.append(limits.invitationMilliseconds)
    command.append(Limits.invitationsPerAccount)
    self.command = command
  }

  /// - Throws: if the transaction cannot be encoded. Nothing was added then.
  mutating func add(_ transaction: Transaction) throws(StoreError) {
    let relays = try RelayArguments(transaction, among: partitions)
    command.append(transaction.space.key)
    let contents = transaction.announcements.map(\.content.text)
    if let dedupe = transaction.dedupe {
      command.append(DedupeField(dedupe, in: transaction.space))
      command.append(SendFingerprint(transaction.given.map { [$0.text] } ?? contents).text)
    } else {
      command.append("")
    }
    if let basis, basis.space == transaction.space, basis.records == transaction.preconditions {
      command.append("=")
    } else {
      command.append(groups: transaction.preconditions)
      basis = (transaction.space, transaction.preconditions)
    }
    command.append(transaction.countWithRoom)
    for (announcement, content) in zip(transaction.announcements, contents) {
      command.append(announcement, content.bytes)
    }
    if transaction.onlyAnnounces { command.append("-") } else { command.append(transaction, relays) }
  }
}

/// The changes that a transaction makes for accounts and for a directory.
private struct RelayArguments {
  /// The changes in the transaction's own partition, which the commit makes.
  var applied = Relays(index: [])
  /// The same changes and those in other partitions, as JSON for the outbox; empty if there is none.
  var near = ""
  var far = ""

  init(_ transaction: Transaction, among partitions: Partitions) throws(StoreError) {
    guard transaction.hasRelays else { return }
    let relays = Relays(transaction).divided(by: partitions.holding(transaction.space), of: partitions)
    let place = "commit \(transaction.space)"
    applied = relays.near
    if !relays.near.isEmpty { near = try json(relays.near, at: place) }
    if !relays.far.isEmpty { far = try json(relays.far, at: place) }
  }
}

extension RedisCommand {
  /// Appends the changes of the transaction other than its entries.
  fileprivate mutating func append(_ transaction: Transaction, _ relays: RelayArguments) {
    append(transaction.changedMemberships.map(\.text).joined(separator: " "))
    append(relays.far)
    append(transaction.wakeAtMilliseconds.map(String.init) ?? "")
    append(relays.near)
    if !relays.near.isEmpty { append(relays.applied, of: transaction.space) }
    append(groups: transaction.changes)
    append(2 * transaction.ceilings.count)
    for (table, ceiling) in transaction.ceilings {
      append(table.name)
      append(ceiling)
    }
    append(transaction.removedTables.count)
    for table in transaction.removedTables { append(table.name) }
    append(5 * transaction.updates.count)
    for update in transaction.updates {
      append(update.messageServerId.streamForm)
      append(update.time)
      append(update.audience.text)
      append(update.content?.text.bytes ?? [])
      append(update.superseded?.streamForm ?? "")
    }
  }

  /// Appends the changes that are made in the partition of the commit.
  private mutating func append(_ relays: Relays, of space: SpaceID) {
    append(relays.charged?.text ?? "")
    append(IndexEntry.earlierMax(in: space))
    append(relays.index.reduce(0) { $0 + 2 * $1.accounts.count })
    for change in relays.index {
      for account in change.accounts {
        append(change.word)
        append(account.text)
      }
    }
    append(3 * relays.deliveries.count)
    for delivery in relays.deliveries {
      append(delivery.account.text)
      append(delivery.audience.text)
      append(delivery.content.text.bytes)
    }
    append(relays.listing == nil ? 0 : 3)
    if let listing = relays.listing { append(listing, of: space) }
  }

  /// Appends the arguments of the function that lists a space in a directory.
  mutating func append(_ listing: ListingChange, of space: SpaceID) {
    append(listing.directory.rawValue)
    append(DirectoryPlace(space, createdAtMilliseconds: listing.createdAt).text)
    append(listing.isListed ? "1" : "0")
  }

  fileprivate mutating func append(_ announcement: Announcement, _ content: [UInt8]) {
    append(announcement.content.setting.persistEnable ? "1" : "0")
    append(announcement.audience.text)
    append(content)
  }

  /// Appends fields and texts in groups, each of one table. A function handles a group in one call of Redis,
  /// whose arguments lie on Lua's stack, so groups are bounded.
  fileprivate mutating func append(groups records: [RecordAddress: String?]) {
    // Nearly all sends have one record.
    if records.count == 1, let (address, text) = records.first {
      append(1)
      append(address.table.name)
      append(1)
      append(address.field)
      append(text ?? "")
      return
    }
    var tables: [RecordTable: [(field: String, text: String)]] = [:]
    for (address, text) in records {
      tables[address.table, default: []].append((address.field, text ?? ""))
    }
    let fieldsMax = 500
    append(tables.values.reduce(0) { $0 + ($1.count + fieldsMax - 1) / fieldsMax })
    for (table, fields) in tables {
      for first in stride(from: 0, to: fields.count, by: fieldsMax) {
        let group = fields[first..<min(first + fieldsMax, fields.count)]
        append(table.name)
        append(group.count)
        for (field, _) in group { append(field) }
        for (_, text) in group { append(text) }
      }
    }
  }
}

extension Transaction {
  /// The number of entries that it announces. For a mailbox, the number that it may hold, in all and of the
  /// sender, and the sender follow: `1<7500<500<alice`.
  fileprivate var countWithRoom: String {
    guard let mailboxCapacity else { return String(announcements.count) }
    let share = mailboxCapacity.sender.map { "\(mailboxCapacity.perSender)<\($0)" } ?? "<"
    return "\(announcements.count)<\(mailboxCapacity.entries)<\(share)"
  }

  /// True if it changes nothing and only appends entries, as a send does.
  var onlyAnnounces: Bool {
    changes.isEmpty && removedTables.isEmpty && ceilings.isEmpty && updates.isEmpty
      && changedMemberships.isEmpty && !hasRelays && wakeAtMilliseconds == nil
  }
}

private func json(_ value: some Encodable, at place: String) throws(StoreError) -> String {
  do {
    return try RecordJSON.text(value)
  } catch {
    throw StoreError(.corrupt, error.detail, at: place)
  }
}
