import BelfryModel
import BelfryRedis

// A transaction as the arguments of the functions `send` and `commit`; `Functions/records.lua` and
// `commit.lua` read them.

extension RedisCommand {
  init(committing transaction: Transaction, _ limits: Limits) throws(StoreError) {
    let isSend = transaction.isOneSend
    let place = "commit \(transaction.space)"
    self.init(calling: isSend ? .send : .commit, in: transaction.space.partition)
    append(transaction.space.key)
    append(limits.dedupeWindowMilliseconds)
    append(limits.entriesPerSpace)
    append(limits.subscriptionThreshold)
    append(transaction.dedupe.map { $0.name(in: transaction.space) } ?? "")
    if isSend {
      append(transaction.announcements[0])
      append(groups: transaction.preconditions)
      return
    }
    append(transaction.changedStandings.map(\.text).joined(separator: " "))
    append(transaction.hasRelays ? try json(Relays(transaction), at: place) : "")
    append(transaction.wakeAtMilliseconds.map(String.init) ?? "")
    append(groups: transaction.preconditions)
    append(groups: transaction.changes)
    append(2 * transaction.ceilings.count)
    for (table, ceiling) in transaction.ceilings {
      append(table.name)
      append(ceiling)
    }
    append(transaction.removedTables.count)
    for table in transaction.removedTables { append(table.name) }
    append(3 * transaction.announcements.count)
    for announcement in transaction.announcements { append(announcement) }
    append(transaction.amendments.count)
    for amendment in transaction.amendments {
      append(LiveText.amended(LogEntry(amendment)))
    }
  }

  private mutating func append(_ announcement: Announcement) {
    append(announcement.content.setting.persistEnable ? "1" : "0")
    append(announcement.audience.text)
    append(announcement.content.json)
  }

  /// The fields and texts, table by table. A function takes a group's fields in one call of Redis, so a
  /// group has at most so many as Lua's stack bears comfortably.
  private mutating func append(groups records: [RecordAddress: String?]) {
    // As nearly all sends have it.
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
  /// One notification and nothing else: what the lean function does.
  fileprivate var isOneSend: Bool {
    announcements.count == 1 && changes.isEmpty && removedTables.isEmpty && ceilings.isEmpty
      && amendments.isEmpty && changedStandings.isEmpty && !hasRelays && wakeAtMilliseconds == nil
  }
}

extension Dedupe {
  /// No name holds a NUL, so no two keys read the same.
  fileprivate func name(in space: SpaceID) -> String {
    "\(sender?.text ?? "")\0\(space.key)\0\(messageClientId)"
  }
}

private func json(_ value: some Encodable, at place: String) throws(StoreError) -> String {
  do {
    return try RecordJSON.text(value)
  } catch {
    throw StoreError(.corrupt, error.detail, at: place)
  }
}
