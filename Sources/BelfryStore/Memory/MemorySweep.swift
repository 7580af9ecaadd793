package import BelfryModel

extension MemoryStore {
  package func sweep(_ partition: Partition) {
    let floor = limits.retentionFloor(nowMilliseconds: clockMilliseconds)
    for space in spaces(in: partition) {
      let excess = (logs[space]?.entries.count ?? 0) - limits.entriesPerSpace
      let oldest = Set((logs[space]?.entries ?? []).prefix(max(0, excess)).map(\.id))
      remove(from: space) { $0.id < floor || oldest.contains($0.id) }
      sweepFormerMembers(of: space, floor)
      if isOver(space) { retire(space) }
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
  }

  /// Removes entries from a log, and whatever became of entries that are not there.
  func remove(from space: SpaceID, where isToGo: (LogEntry) -> Bool) {
    logs[space]?.entries.removeAll(where: isToGo)
    let left = Set((logs[space]?.entries ?? []).map(\.id.text))
    let amendments = TableAddress(space, .amendments)
    tables[amendments] = tables[amendments]?.filter { id, _ in left.contains(id) }
  }

  /// Forgets the stays whose every entry is beyond retention.
  private func sweepFormerMembers(of space: SpaceID, _ floor: MessageID) {
    let address = TableAddress(space, .former)
    for (field, text) in tables[address] ?? [:] {
      guard var record = MemberRecord(text: text) else { continue }
      record.standing.forget(before: floor)
      tables[address]?[field] = record.standing.belonging.isEmpty ? nil : record.text
    }
  }

  /// Nothing is left to read, and nothing more will come.
  private func isOver(_ space: SpaceID) -> Bool {
    guard logs[space]?.entries.isEmpty == true else { return false }
    switch space.kind {
    case .letter: return true
    case .server:
      let settings = text(.settings(space)).flatMap { RecordJSON.value(ServerRecord.self, $0) }
      return settings?.removedAt != nil
    case .account, .group, .room: return false
    }
  }

  /// Its members' indexes still name it: they are told first.
  private func retire(_ space: SpaceID) {
    let members = (tables[TableAddress(space, .roster)] ?? [:]).keys.sorted().compactMap { AccountID($0) }
    let version = logs[space]?.head ?? .zero
    for account in members { index(account, of: space, isMember: false, version: version) }
    logs[space] = nil
    for table in tables.keys where table.space == space { tables[table] = nil }
  }

  /// A letter, or a space the account has left, goes once nothing in it can still be seen.
  private func sweepIndex(of account: AccountID, _ floor: MessageID) {
    indexes[account] = indexes[account]?.filter { space, entry in
      entry.version >= floor || (entry.isMember && space.kind != .letter)
    }
  }
}
