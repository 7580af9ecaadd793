package import BelfryModel

extension MemoryStore {
  /// A last sweep that lies in the future was noted before the clock was set back, and does not count.
  package func beginSweep(of partition: Partition, everyMilliseconds interval: Int64) -> Bool {
    if let sweptAt = sweptAt[partition], sweptAt <= clockMilliseconds, clockMilliseconds < sweptAt + interval
    {
      return false
    }
    sweptAt[partition] = clockMilliseconds
    return true
  }

  package func sweep(_ partition: Partition) {
    let floor = limits.retentionFloor(nowMilliseconds: clockMilliseconds)
    let forgotten = limits.forgottenFloor(nowMilliseconds: clockMilliseconds)
    for space in everySpace(in: partition) {
      // A mailbox is kept short by refusing new entries, so that no unread entry is lost.
      let most = space.kind == .account ? Int.max : limits.entriesPerSpace
      let excess = (logs[space]?.entries.count ?? 0) - most
      let oldest = Set((logs[space]?.entries ?? []).prefix(max(0, excess)).map(\.id))
      let lost = logs[space]?.entries.last { $0.id < floor || oldest.contains($0.id) }
      if let lost { noteLost(through: lost.id, in: space) }
      remove(from: space) { $0.id < floor || oldest.contains($0.id) }
      sweepFormerMembers(of: space, forgotten)
      trimWhatAllHaveRead(of: space, floor)
      if isOver(space, forgotten) {
        retire(space)
      } else {
        restoreIndexes(of: space)
        endRemovedChannels(of: space, forgotten)
      }
    }
    for table in tables.keys where partitions.holding(table.space) == partition && table.table.expires {
      tables[table] = tables[table]?.filter { _, text in
        ExpiringText(text: text).map { $0.expiresAtMilliseconds > clockMilliseconds } ?? true
      }
    }
    sends = sends.filter { key, send in
      partitions.holding(key.space) != partition || clockMilliseconds < send.expiresAtMilliseconds
    }
    for account in indexes.keys where partitions.holding(.personal(account)) == partition {
      sweepIndex(of: account, floor, forgotten)
    }
    for account in readStates.keys where partitions.holding(.personal(account)) == partition {
      var state = readState(of: account)
      state.removeMarks(before: floor)
      readStates[account] = state
    }
    for account in delivered.keys where partitions.holding(.personal(account)) == partition {
      delivered[account] = delivered[account]?.filter { $0.version >= floor }
    }
  }

  private func trimWhatAllHaveRead(of space: SpaceID, _ floor: MessageID) {
    guard outboxes[partitions.holding(space)] == nil else { return }
    guard space.kind.hasMembers || space.kind == .direct, let entries = logs[space]?.entries,
      count(TableAddress(space, .roster)) + count(TableAddress(space, .former)) <= ReadByAll.readersMax
    else { return }
    var memberships: [AccountID: Membership] = [:]
    for table in [RecordTable.roster, .former] {
      for (name, text) in tables[TableAddress(space, table)] ?? [:] {
        guard let account = AccountID(name), let member = MemberRecord(text: text) else { return }
        memberships[account] = member.membership
      }
    }
    if space.kind == .direct {
      for account in entries.flatMap(\.directMessageReaders) { memberships[account] = .always }
    }
    if memberships.isEmpty { return }
    var prefix = ReadByAll(entries, of: space, retentionFloor: floor, nowMilliseconds: clockMilliseconds)
    for (account, membership) in memberships {
      prefix.keepOnly(readBy: LogReader(account, membership: membership, read: readState(of: account)))
    }
    let gone = Set(prefix.entries.map(\.id))
    remove(from: space) { gone.contains($0.id) }
  }

  /// Restores the space in the indexes of members that have forgotten it. While the outbox holds anything,
  /// some indexes may only be late.
  private func restoreIndexes(of space: SpaceID) {
    let partition = partitions.holding(space)
    guard outboxes[partition] == nil, space.kind.hasMembers else { return }
    let standing = (tables[TableAddress(space, .roster)] ?? [:]).sorted { $0.key < $1.key }.compactMap {
      name, text in
      AccountID(name).flatMap { account in
        MemberRecord(text: text).flatMap { StandingMembership(account, $0) }
      }
    }
    restoreIndexes(standing, in: space, asOf: lastID(in: partition))
  }

  /// All spaces of the partition, also those that have no entry in their log.
  private func everySpace(in partition: Partition) -> Set<SpaceID> {
    Set((Array(logs.keys) + tables.keys.map(\.space)).filter { partitions.holding($0) == partition })
  }

  /// Removes entries from a log, and the updates of entries that are gone.
  func remove(from space: SpaceID, where isToGo: (LogEntry) -> Bool) {
    logs[space]?.entries.removeAll(where: isToGo)
    let left = Set((logs[space]?.entries ?? []).map(\.id.text))
    let updates = TableAddress(space, .updates)
    tables[updates] = tables[updates]?.filter { id, _ in left.contains(id) }
  }

  private func sweepFormerMembers(of space: SpaceID, _ forgotten: MessageID) {
    let address = TableAddress(space, .former)
    tables[address] = tables[address]?.filter { _, text in
      guard let member = MemberRecord(text: text) else { return true }
      return !member.isForgotten(
        retentionFloor: forgotten, nowMilliseconds: clockMilliseconds, existing: existingChannels(of: space))
    }
  }

  private func existingChannels(of space: SpaceID) -> ExistingChannels {
    let ids = (tables[TableAddress(space, .channels)] ?? [:]).keys.compactMap { EntityID($0) }
    let last = lastID(in: partitions.holding(space))
    return ExistingChannels(Set(ids), before: last, after: last)
  }

  private func endRemovedChannels(of space: SpaceID, _ forgotten: MessageID) {
    guard outboxes[partitions.holding(space)] == nil else { return }
    let roster = TableAddress(space, .roster)
    tables[roster] = tables[roster]?.mapValues { text in
      guard var member = MemberRecord(text: text) else { return text }
      if member.membership.channels.isEmpty, member.channelMutes.isEmpty { return text }
      member.leaveRemovedChannels(existingChannels(of: space), forgottenFloor: forgotten)
      return member.text
    }
  }

  private func noteLost(through id: MessageID, in space: SpaceID) {
    var log = logs[space] ?? MemoryLog()
    log.lostThrough = max(log.lostThrough, id)
    if log.head == .zero { log.head = id }
    logs[space] = log
  }

  /// True if nothing is left to read or to tell, and nothing more will come.
  /// - Parameter forgotten: losses before it are no longer told.
  private func isOver(_ space: SpaceID, _ forgotten: MessageID) -> Bool {
    guard (logs[space]?.entries ?? []).isEmpty else { return false }
    guard logs[space]?.lostThrough ?? .zero < forgotten else { return false }
    return space.kind == .direct || space.kind.hasMembers && dates(of: space)?.removedAt != nil
  }

  private func dates(of space: SpaceID) -> SpaceDates? {
    text(.settings(space)).flatMap { SpaceDates($0) }
  }

  /// Takes the space out of its members' indexes and its directory, which still name it, before its tables
  /// go.
  private func retire(_ space: SpaceID) {
    let members = (tables[TableAddress(space, .roster)] ?? [:]).keys.sorted().compactMap { AccountID($0) }
    for account in members where indexes[account]?.removeValue(forKey: space) != nil {
      publish(.index, in: .personal(account))
    }
    if let directory = ListingChange.Directory(of: space.kind), let dates = dates(of: space) {
      list(space, ListingChange(directory, isListed: false, createdAt: dates.createdAt))
    }
    logs[space] = nil
    wakes[space] = nil
    for table in tables.keys where table.space == space { tables[table] = nil }
  }

  /// A space the account has left goes once no loss in it is told any more, and a direct message once nothing in it can still be
  /// seen. A direct message that is in the index was not read: an account that comes back is told by the personal space that it
  /// is lost. The loss is not noted beyond the partition's last id: a reader who has come to the end stands there, and would be
  /// told in each answer.
  private func sweepIndex(of account: AccountID, _ floor: MessageID, _ forgotten: MessageID) {
    let personal = SpaceID.personal(account)
    for (space, entry) in indexes[account] ?? [:]
    where entry.version < (space.kind == .direct ? floor : forgotten) {
      guard space.kind == .direct || !entry.isMember else { continue }
      indexes[account]?[space] = nil
      guard space.kind == .direct else { continue }
      let sameMillisecond = MessageID(
        unixMilliseconds: entry.version.unixMilliseconds, partition: partitions.holding(personal),
        sequence: 4_095)
      let allotted = lastID(in: partitions.holding(personal))
      noteLost(through: min(allotted, max(entry.addedAt, sameMillisecond)), in: personal)
    }
  }
}
