package import BelfryModel

extension MemoryStore {
  package func sweep(_ partition: Partition) {
    let floor = limits.retentionFloor(nowMilliseconds: clockMilliseconds)
    for space in everySpace(in: partition) {
      let excess = (logs[space]?.entries.count ?? 0) - limits.entriesPerSpace
      let oldest = Set((logs[space]?.entries ?? []).prefix(max(0, excess)).map(\.id))
      remove(from: space) { $0.id < floor || oldest.contains($0.id) }
      sweepFormerMembers(of: space, floor)
      if isOver(space) { retire(space) }
    }
    for table in tables.keys where table.space.partition == partition && table.table.expires {
      tables[table] = tables[table]?.filter { _, text in
        ExpiringText(text: text).map { $0.expiresAtMilliseconds > clockMilliseconds } ?? true
      }
    }
    sends = sends.filter { key, send in
      key.space.partition != partition || clockMilliseconds < send.expiresAtMilliseconds
    }
    for account in indexes.keys where SpaceID.personal(account).partition == partition {
      sweepIndex(of: account, floor)
    }
    for account in readStates.keys where SpaceID.personal(account).partition == partition {
      var state = readState(of: account)
      state.above = state.above.filter { $0 >= floor }
      readStates[account] = state
    }
    for account in arrived.keys where SpaceID.personal(account).partition == partition {
      arrived[account] = arrived[account]?.filter { $0.version >= floor }
    }
  }

  /// Those that have nothing in their log, too.
  private func everySpace(in partition: Partition) -> Set<SpaceID> {
    Set((Array(logs.keys) + tables.keys.map(\.space)).filter { $0.partition == partition })
  }

  /// Removes entries from a log, and whatever became of entries that are not there.
  func remove(from space: SpaceID, where isToGo: (LogEntry) -> Bool) {
    logs[space]?.entries.removeAll(where: isToGo)
    let left = Set((logs[space]?.entries ?? []).map(\.id.text))
    let amendments = TableAddress(space, .amendments)
    tables[amendments] = tables[amendments]?.filter { id, _ in left.contains(id) }
  }

  private func sweepFormerMembers(of space: SpaceID, _ floor: MessageID) {
    let address = TableAddress(space, .former)
    tables[address] = tables[address]?.filter { _, text in
      guard let member = MemberRecord(text: text) else { return true }
      return !member.isForgotten(retentionFloor: floor, nowMilliseconds: clockMilliseconds)
    }
  }

  /// Nothing is left to read, and nothing more will come.
  private func isOver(_ space: SpaceID) -> Bool {
    guard (logs[space]?.entries ?? []).isEmpty else { return false }
    return space.kind == .letter || space.kind.isRemovable && dates(of: space)?.removedAt != nil
  }

  private func dates(of space: SpaceID) -> SpaceDates? {
    text(.settings(space)).flatMap { RecordJSON.value(SpaceDates.self, $0) }
  }

  /// Its members' indexes and its directory still name it: it is taken out of them first.
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

  /// A letter, or a space the account has left, goes once nothing in it can still be seen.
  private func sweepIndex(of account: AccountID, _ floor: MessageID) {
    indexes[account] = indexes[account]?.filter { space, entry in
      entry.version >= floor || (entry.isMember && space.kind != .letter)
    }
  }
}
