package import BelfryModel

// MARK: - Indexes of spaces

extension MemoryStore {
  package func relayOutbox(of partition: Partition) {
    for item in outboxes[partition] ?? [] {
      for account in item.change.accounts { index(account, item) }
    }
    outboxes[partition] = nil
  }

  package func partitionsToRelay() -> [Partition] { outboxes.keys.sorted() }

  /// A change that comes twice, or after a later one, changes nothing.
  func index(_ account: AccountID, _ item: MemoryOutboxItem) {
    let known = indexes[account]?[item.space]
    if let known, known.version >= item.version { return }
    let personal = SpaceID.personal(account)
    let isMember = item.change.kind == .joined
    // Who leaves has had the space in their feed all along, so no cursor has to take it in anew.
    let addedAt = isMember ? nil : known?.addedAt
    indexes[account, default: [:]][item.space] = IndexEntry(
      space: item.space, isMember: isMember, version: item.version,
      addedAt: addedAt ?? allotID(in: personal.partition))
    publish(.index, in: personal)
  }

  package func index(of account: AccountID) -> [IndexEntry] {
    (indexes[account] ?? [:]).values.sorted { $0.space.key < $1.space.key }
  }

  package func serverCounts(of accounts: [AccountID]) -> [Int] {
    accounts.map { account in index(of: account).count { $0.isMember && $0.space.kind == .server } }
  }
}

// MARK: - Read state

extension MemoryStore {
  package func readState(of account: AccountID) -> ReadState { readStates[account] ?? ReadState() }

  package func markRead(_ mark: ReadMark, by account: AccountID) -> Int {
    var state = readState(of: account)
    let unread = Set(mark.items).filter { !state.contains($0) }
    state.mark(unread)
    if let watermark = mark.watermark { state.raise(to: watermark) }
    readStates[account] = state

    // A personal space has one reader; what that one has read, nobody needs any more.
    let personal = SpaceID.personal(account)
    remove(from: personal) { state.contains($0.id) }
    for letter in mark.letters { indexes[account]?[letter] = nil }
    publish(
      .read(ReadEcho(items: mark.items, watermark: mark.watermark, upTo: mark.upTo, device: mark.device)),
      in: personal)
    return unread.count
  }

  package func compactReadState(of account: AccountID, to watermark: MessageID) {
    readStates[account, default: ReadState()].raise(to: watermark)
  }
}
