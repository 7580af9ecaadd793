import BelfryBytes
package import BelfryModel

/// A store in dictionaries: the oracle that tests compare Redis against.
///
/// It is meant to be read and believed. So each rule of ``Store`` is written in the plainest way there is,
/// even if that is slow, and its clock moves only when a test moves it. It never replaces Redis in a claim
/// about the product.
package final class MemoryStore: Store {
  /// Milliseconds since 1970: the clock that ids are made from. It may be set back, as real ones are.
  package var clockMilliseconds: Int64
  package let limits: Limits
  package let partitions: Partitions

  var tables: [TableAddress: [String: String]] = [:]
  var logs: [SpaceID: MemoryLog] = [:]
  /// The last id allotted in each partition, for any purpose.
  var lastIDs: [Partition: MessageID] = [:]
  /// The losses of ids in each partition.
  var rewinds: [Partition: [Rewind]] = [:]
  /// The history in which the last id of each partition was given.
  var histories: [Partition: String] = [:]
  package internal(set) var history = "0"
  var restores = 0
  var sends: [MemorySendKey: MemorySend] = [:]
  var outboxes: [Partition: [OutboxItem]] = [:]
  /// The deliveries that each account has had.
  var delivered: [AccountID: Set<DeliveryKey>] = [:]
  var directories: [ListingChange.Directory: Set<DirectoryPlace>] = [:]
  /// The times to look at spaces, milliseconds since 1970.
  var wakes: [SpaceID: Int64] = [:]
  /// When the last sweep of a partition began, milliseconds since 1970.
  var sweptAt: [Partition: Int64] = [:]
  var indexes: [AccountID: [SpaceID: IndexEntry]] = [:]
  var readStates: [AccountID: ReadState] = [:]
  var shares: [AccountID: MemoryShares] = [:]
  var invitations: [AccountID: InvitationList] = [:]
  /// The listeners, which hear the events of spaces in their order.
  var listeners: [(SpaceID, LiveMessage) -> Void] = []

  /// The clock begins in November 2025, well inside what an id can hold.
  package init(
    limits: Limits, partitions: Partitions = .standard, clockMilliseconds: Int64 = 1_763_700_000_000
  ) {
    self.limits = limits
    self.partitions = partitions
    self.clockMilliseconds = clockMilliseconds
  }

  package func nowMilliseconds() -> Int64 { clockMilliseconds }
  package var estimatedMilliseconds: Int64? { clockMilliseconds }

  func publish(_ message: LiveMessage, in space: SpaceID) {
    for listener in listeners { listener(space, message) }
  }
}

/// One space's log, oldest first.
struct MemoryLog {
  var entries: [LogEntry] = []
  /// The last entry ever appended, even if it is gone.
  var head = MessageID.zero
  /// Up to this id entries that may be unread were trimmed.
  var lostThrough = MessageID.zero
}

// MARK: - Ids

extension MemoryStore {
  package func lastIDs(of partitions: [Partition]) -> [MessageID] { partitions.map(lastID) }

  package func spaceCount() -> Int { logs.count }

  package func ends(of spaces: [SpaceID]) -> [LogEnd] {
    spaces.map {
      LogEnd(
        allotted: lastID(in: partitions.holding($0)), appended: logs[$0]?.head ?? .zero,
        lostThrough: logs[$0]?.lostThrough ?? .zero, rewinds: rewinds[partitions.holding($0)] ?? [],
        history: histories[partitions.holding($0)] ?? "", present: history)
    }
  }

  func lastID(in partition: Partition) -> MessageID { lastIDs[partition] ?? .zero }

  /// The next id: now, or right after the last one if the clock has not moved on since. A sequence that runs
  /// over borrows the next millisecond.
  func allotID(in partition: Partition) -> MessageID {
    let last = lastID(in: partition)
    let next = id(after: last, in: partition)
    if last == .zero {
      noteRewind(Rewind(ended: "", kept: last, first: next))
      histories[partition] = history
    }
    lastIDs[partition] = next
    return next
  }

  private func id(after last: MessageID, in partition: Partition) -> MessageID {
    let now = MessageID(unixMilliseconds: clockMilliseconds, partition: partition, sequence: 0)
    if now > last { return now }
    if last.sequence < 4_095 {
      return MessageID(
        unixMilliseconds: last.unixMilliseconds, partition: partition, sequence: last.sequence + 1)
    }
    return MessageID(unixMilliseconds: last.unixMilliseconds + 1, partition: partition, sequence: 0)
  }
}

// MARK: - Records

extension MemoryStore {
  func text(_ address: RecordAddress) -> String? { tables[address.tableAddress]?[address.field] }

  package func records(_ addresses: [RecordAddress]) -> Records {
    var texts: [RecordAddress: String?] = [:]
    for address in addresses { texts[address] = .some(text(address)) }
    return Records(texts)
  }

  package func counts(_ tables: [TableAddress]) -> [Int] { tables.map(count) }

  func count(_ table: TableAddress) -> Int { tables[table]?.count ?? 0 }

  package func page(of table: TableAddress, after cursor: PageCursor?, limit: Int) throws(StoreError)
    -> RecordPage
  {
    var fields = (tables[table] ?? [:]).sorted { $0.key < $1.key }
    if let cursor {
      let beginning = cursor.text.utf8.prefix(Self.cursorPrefix.utf8.count)
      guard beginning.elementsEqual(Self.cursorPrefix.utf8) else {
        throw StoreError(.badCursor, cursor.text, at: "page \(table.space) \(table.table.name)")
      }
      let last = UTF8Text(cursor.text[beginning.endIndex...])
      fields.removeAll { UTF8Text($0.key) <= last }
    }
    let page = fields.prefix(max(1, limit))
    let next = page.count < fields.count ? page.last : nil
    return RecordPage(
      records: page.map { (field: $0.key, text: $0.value) },
      next: next.map { PageCursor(text: Self.cursorPrefix + $0.key) })
  }

  private static let cursorPrefix = "after "
}

// MARK: - Logs

extension MemoryStore {
  package func entries(_ requests: [LogRequest]) throws(StoreError) -> [[LogEntry]] {
    var answers: [[LogEntry]] = []
    for request in requests {
      var answer: [LogEntry] = []
      for entry in logs[request.space]?.entries ?? []
      where request.after < entry.id && entry.id <= request.through && answer.count < request.limit {
        answer.append(try updated(entry, in: request.space))
      }
      answers.append(answer)
    }
    return answers
  }

  /// The entry as it is now, with its updates applied.
  private func updated(_ entry: LogEntry, in space: SpaceID) throws(StoreError) -> LogEntry {
    guard let text = text(.update(entry.notificationID, in: space)) else { return entry }
    var entry = entry
    try entry.apply(text, at: "entries \(space)")
    return entry
  }

  package func search(for id: MessageID) -> EntrySearch {
    EntrySearch(space: logs.first { $1.entries.contains { $0.id == id } }?.key, logsRead: logs.count)
  }
}
