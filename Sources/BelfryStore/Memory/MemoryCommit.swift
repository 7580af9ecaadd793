package import BelfryModel

/// The facts that make two sends the same: the space, the sender, and the sender's own id.
struct MemorySendKey: Hashable {
  var space: SpaceID
  var dedupe: Dedupe
}

/// A send that may be repeated.
struct MemorySend {
  var id: MessageID
  /// As in ``Commit/appendedAt``.
  var appendedAt: Int64?
  /// The whole content that was sent, without the device. Redis keeps a fingerprint of it; the oracle has no
  /// need to.
  var contents: [String]
  var expiresAtMilliseconds: Int64
}

extension MemoryStore {
  package func commit(_ transactions: [Transaction]) -> [CommitResult] {
    transactions.map { .success(commit($0)) }
  }

  package func commit(_ transaction: Transaction) -> CommitOutcome {
    let space = transaction.space
    let repeated = (transaction.given.map { [$0] } ?? transaction.announcements.map(\.content))
      .map(\.fromAnyDevice.json)

    for (address, expected) in transaction.preconditions where text(address) != expected {
      return .conflict
    }
    if let dedupe = transaction.dedupe, let first = firstSend(dedupe, in: space) {
      guard first.contents == repeated else { return .differentContent }
      return .duplicate(of: first.id, appendedAt: first.appendedAt)
    }

    if let capacity = transaction.mailboxCapacity, !takes(transaction, capacity) { return .mailboxFull }

    let partition = partitions.holding(space)
    let before = lastID(in: partition)
    let ids = transaction.announcements.map { _ in allotID(in: partition) }
    let appendedAt = timeBesideID(in: partition)
    let updated = transaction.updates.map { LogEntry($0, id: allotID(in: partition)) }
    // The version of what is relayed, or of what an account prefers, is later than that of anything before it.
    if ids.isEmpty, updated.isEmpty, transaction.takesID { _ = allotID(in: partition) }
    let last = lastID(in: partition)
    let tablesBefore = tables
    apply(transaction, before: before, last: last)
    for (table, ceiling) in transaction.ceilings where count(TableAddress(space, table)) > ceiling {
      tables = tablesBefore
      lastIDs[partitions.holding(space)] = before
      return .ceiling(table)
    }

    if let dedupe = transaction.dedupe, let id = ids.first {
      sends[MemorySendKey(space: space, dedupe: dedupe)] = MemorySend(
        id: id, appendedAt: appendedAt, contents: repeated,
        expiresAtMilliseconds: clockMilliseconds + limits.dedupeWindowMilliseconds)
    }
    if let time = transaction.wakeAtMilliseconds { wake(space, atMilliseconds: time) }
    if !transaction.changedMemberships.isEmpty {
      publish(.memberships(transaction.changedMemberships), in: space)
    }
    for (announcement, id) in zip(transaction.announcements, ids) {
      append(announcement, id, appendedAt: appendedAt, in: space)
    }
    let superseded = Set(transaction.updates.compactMap(\.superseded))
    if !superseded.isEmpty { logs[space]?.entries.removeAll { superseded.contains($0.id) } }
    for entry in updated { append(entry, in: space) }
    if let capacity = transaction.mailboxCapacity, let account = AccountID(space.name) {
      charge(capacity.sender, transaction.entryCount, at: account)
    }
    relay(transaction, version: last, before: before)
    if let echo = transaction.echo { publish(.device(echo), in: .personal(echo.account)) }
    return .committed(Commit(ids: ids, before: before, appendedAt: ids.isEmpty ? nil : appendedAt))
  }

  private func relay(_ transaction: Transaction, version: MessageID, before: MessageID) {
    guard transaction.hasRelays else { return }
    let (space, partition) = (transaction.space, partitions.holding(transaction.space))
    let (near, far) = Relays(transaction).divided(by: partition, of: partitions)
    for message in OutboxItem(space: space, version: version, before: before, relays: near).messages(0) {
      apply(message)
    }
    if far.isEmpty { return }
    outboxes[partition, default: []].append(
      OutboxItem(space: space, version: version, before: before, relays: far))
  }

  /// True if the mailbox takes the entries. Each entry counts as if it were sent alone, except for those that
  /// take the place of others.
  private func takes(_ transaction: Transaction, _ capacity: MailboxCapacity) -> Bool {
    guard let account = AccountID(transaction.space.name) else { return true }
    var level = mailbox(of: account, writtenToBy: capacity.sender)
    let more = transaction.entryCount - 1
    level.entries += more - transaction.updates.count { $0.superseded != nil }
    level.fromSender += more
    return capacity.takesEntry(level)
  }

  /// The send that this one repeats, if it is still remembered.
  private func firstSend(_ dedupe: Dedupe, in space: SpaceID) -> MemorySend? {
    guard let send = sends[MemorySendKey(space: space, dedupe: dedupe)],
      clockMilliseconds < send.expiresAtMilliseconds
    else { return nil }
    return send
  }

  package func firstSends(of sends: [RepeatedSend]) -> [FirstSend] {
    sends.map { send in
      guard let first = firstSend(send.dedupe, in: send.space) else { return .unknown }
      guard first.contents == [send.content.fromAnyDevice.json] else { return .different }
      return .same(first.id, appendedAt: first.appendedAt)
    }
  }

  private func apply(_ transaction: Transaction, before: MessageID, last: MessageID) {
    for (address, text) in transaction.changes {
      tables[address.tableAddress, default: [:]][address.field] = text.map { text in
        let known = text.split(separator: MessageID.beforeThisCommitMark, omittingEmptySubsequences: false)
          .joined(separator: before.streamForm)
        return known.split(separator: MessageID.endOfThisCommitMark, omittingEmptySubsequences: false)
          .joined(separator: last.streamForm)
      }
    }
    for table in transaction.removedTables { tables[TableAddress(transaction.space, table)] = nil }
  }

  private func append(
    _ announcement: Announcement, _ id: MessageID, appendedAt: Int64?, in space: SpaceID
  ) {
    var content = announcement.content
    content.appendedAt = appendedAt
    let entry = LogEntry(
      id: id, audience: stamped(announcement.audience, in: space), contentJSON: content.json)
    guard announcement.content.setting.persistEnable else {
      publish(.ephemeral(entry), in: space)
      return
    }
    append(entry, in: space)
  }

  /// The clock's time if the partition's last id is ahead of it, and so does not say when its entry was appended.
  func timeBesideID(in partition: Partition) -> Int64? {
    lastID(in: partition).unixMilliseconds == clockMilliseconds ? nil : clockMilliseconds
  }

  func append(_ entry: LogEntry, in space: SpaceID) {
    let predecessor = logs[space]?.head ?? .zero
    logs[space, default: MemoryLog()].entries.append(entry)
    logs[space, default: MemoryLog()].head = entry.id
    publish(.appended(entry, predecessor: predecessor), in: space)
  }

  /// The audience with the threshold applied: the members are counted once the changes are made.
  private func stamped(_ audience: Audience, in space: SpaceID) -> Audience {
    guard audience.rule == .byThreshold else { return audience }
    var audience = audience
    let members = count(TableAddress(space, .roster))
    audience.rule = members <= limits.subscriptionThreshold ? .all : .subscribed
    return audience
  }
}

extension Transaction {
  var entryCount: Int { announcements.count + updates.count }
}

extension NotificationContent {
  fileprivate var fromAnyDevice: NotificationContent {
    var content = self
    content.fromDeviceId = nil
    return content
  }
}
