package import BelfryModel

extension MemoryStore {
  package func relayOutbox(of partition: Partition) { _ = relayOutbox(of: partition, writes: .max) }

  /// As far as a broker comes that dies after so many writes: one for each account and each directory that
  /// is told, and one for striking off the item of which all is told.
  /// - Returns: how many writes it made.
  package func relayOutbox(of partition: Partition, writes limit: Int) -> Int {
    var written = 0
    while let item = outboxes[partition]?.first {
      for write in tellings(item) + [{ self.strikeOffFirst(of: partition) }] {
        guard written < limit else { return written }
        write()
        written += 1
      }
    }
    return written
  }

  package func partitionsToRelay() -> [Partition] { outboxes.keys.sorted() }

  private func strikeOffFirst(of partition: Partition) {
    outboxes[partition]?.removeFirst()
    if outboxes[partition]?.isEmpty == true { outboxes[partition] = nil }
  }

  /// What telling an item comes to, in its order. Whatever comes twice changes nothing.
  private func tellings(_ item: OutboxItem) -> [() -> Void] {
    var tellings: [() -> Void] = []
    for change in item.relays.index {
      for account in change.accounts {
        tellings.append {
          self.index(account, of: item.space, isMember: change.kind == .joined, version: item.version)
        }
      }
    }
    for (position, delivery) in item.relays.deliveries.enumerated() {
      tellings.append { self.deliver(delivery, Arrival(version: item.version, position: position)) }
    }
    if let listing = item.relays.listing { tellings.append { self.list(item.space, listing) } }
    return tellings
  }

  /// A change that comes after a later one changes nothing either.
  func index(_ account: AccountID, of space: SpaceID, isMember: Bool, version: MessageID) {
    let known = indexes[account]?[space]
    if let known, known.version >= version { return }
    let personal = SpaceID.personal(account)
    var entry: IndexEntry
    if let known, known.isMember, !isMember {
      // Who leaves has had the space in their feed all along, so no cursor has to take it in anew; but who leaves
      // without being known to be there has had a stay in between, of which nobody will tell any more.
      entry = known
      entry.isMember = false
      entry.known.version = version
    } else {
      let earlier = known.map { ([$0.known] + $0.earlier).prefix(IndexEntry.earlierMax) } ?? []
      entry = IndexEntry(
        space: space, isMember: isMember,
        known: .init(version: version, addedAt: allotID(in: personal.partition)), earlier: Array(earlier))
    }
    indexes[account, default: [:]][space] = entry
    publish(.index, in: personal)
  }

  /// One that arrived before, or that comes so late that it may have been forgotten, is not appended.
  private func deliver(_ delivery: Delivery, _ arrival: Arrival) {
    let account = delivery.account
    guard arrival.version >= limits.retentionFloor(nowMilliseconds: clockMilliseconds) else { return }
    guard arrived[account, default: []].insert(arrival).inserted else { return }
    // What cannot be written was not committed.
    let content = delivery.content.json
    let personal = SpaceID.personal(account)
    append(
      LogEntry(id: allotID(in: personal.partition), audience: delivery.audience, contentJSON: content),
      in: personal)
  }

  func list(_ space: SpaceID, _ listing: ListingChange) {
    let place = DirectoryPlace(space, createdAtMilliseconds: listing.createdAt)
    if listing.isListed {
      directories[listing.directory, default: []].insert(place)
    } else {
      directories[listing.directory]?.remove(place)
    }
  }
}

// MARK: - Directories

extension MemoryStore {
  package func page(
    of directory: ListingChange.Directory, after cursor: PageCursor?, limit: Int
  ) throws(StoreError) -> DirectoryPage {
    var places = (directories[directory] ?? []).sorted { $0.text > $1.text }
    if let cursor {
      let last = try DirectoryPlace(cursor, of: directory)
      places.removeAll { $0.text >= last.text }
    }
    return DirectoryPage(places, limit: limit)
  }
}

// MARK: - Spaces to look at

extension MemoryStore {
  /// A millisecond before an earlier time that is set already, so that whoever has read that one cannot
  /// postpone what they have not seen.
  func wake(_ space: SpaceID, atMilliseconds time: Int64) {
    wakes[space] = wakes[space].map { min(time, $0 - 1) } ?? time
  }

  package func dueSpaces(nowMilliseconds: Int64) -> [DueSpace] {
    let due = wakes.filter { $0.value <= nowMilliseconds }
      .map { DueSpace(space: $0.key, atMilliseconds: $0.value) }
    return Dictionary(grouping: due, by: \.space.partition).sorted { $0.key < $1.key }.flatMap { _, due in
      due.sorted { ($0.atMilliseconds, $0.space.key) < ($1.atMilliseconds, $1.space.key) }
        .prefix(DueSpace.perPartition)
    }
  }

  package func postpone(_ due: DueSpace, toMilliseconds time: Int64?) {
    if wakes[due.space] == due.atMilliseconds { wakes[due.space] = time }
  }
}
