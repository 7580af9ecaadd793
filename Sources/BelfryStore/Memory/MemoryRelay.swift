package import BelfryModel

extension MemoryStore {
  package func relayOutbox(of partition: Partition) { _ = relayOutbox(of: partition, writes: .max) }

  /// Relays as a broker would that dies after so many writes: one for each call to another partition, and one
  /// for removing the items that are done.
  /// - Returns: the number of writes that it made.
  package func relayOutbox(of partition: Partition, writes limit: Int) -> Int {
    var written = 0
    while let items = outboxes[partition]?.prefix(OutboxItem.perPage) {
      var work = OutboxRounds(Array(items), held: [])
      while true {
        let round = work.nextRound()
        if round.isEmpty { break }
        for call in RelayCall.calls(for: round, among: partitions) {
          guard written < limit else { return written }
          apply(call)
          written += 1
        }
      }
      guard written < limit else { return written }
      strikeOff(items.count, of: partition)
      written += 1
    }
    return written
  }

  package func restoreIndexes(
    _ memberships: [StandingMembership], in space: SpaceID, asOf version: MessageID
  ) {
    _ = restoreIndexes(memberships, in: space, asOf: version, writes: .max)
  }

  /// Restores indexes as a broker would that dies after so many writes, one for each call.
  /// - Returns: the number of writes that it made.
  package func restoreIndexes(
    _ memberships: [StandingMembership], in space: SpaceID, asOf version: MessageID, writes limit: Int
  ) -> Int {
    var written = 0
    let messages = memberships.map { RelayMessage($0, in: space, asOf: version) }
    for call in RelayCall.calls(for: messages, among: partitions) where written < limit {
      apply(call)
      written += 1
    }
    return written
  }

  package func partitionsToRelay() -> [Partition] { outboxes.keys.sorted() }

  private func strikeOff(_ count: Int, of partition: Partition) {
    outboxes[partition]?.removeFirst(count)
    if outboxes[partition]?.isEmpty == true { outboxes[partition] = nil }
  }

  /// Applies a call. Each account is told once of all changes that the call makes to its index.
  private func apply(_ call: RelayCall) {
    var changed: [SpaceID] = []
    for message in call.messages {
      guard let personal = change(for: message), !changed.contains(personal) else { continue }
      changed.append(personal)
    }
    for personal in changed { publish(.index, in: personal) }
  }

  func apply(_ message: RelayMessage) {
    if let personal = change(for: message) { publish(.index, in: personal) }
  }

  /// Applies a message. A message that comes a second time changes nothing.
  /// - Returns: the personal space of the account whose index changed.
  private func change(for message: RelayMessage) -> SpaceID? {
    switch message.payload {
    case .index(let change, let account) where change.kind == .invited:
      let place = InvitationPlace(message.space, channel: change.channel)
      invitations[account, default: InvitationList()].add(place, at: message.version)
    case .index(let change, let account):
      return index(account, of: message, isMember: change.kind == .joined) ? .personal(account) : nil
    case .presence(let standing):
      if standing.isKnown(to: indexes[standing.account]?[message.space]) { return nil }
      return index(standing.account, of: message, isMember: true) ? .personal(standing.account) : nil
    case .delivery(let delivery, let position):
      deliver(delivery, DeliveryKey(version: message.version, position: position), charged: message.charged)
    case .listing(let listing): list(message.space, listing)
    }
    return nil
  }

  /// A change that arrives after a later one changes nothing either.
  /// - Returns: true if it changed the index.
  private func index(_ account: AccountID, of message: RelayMessage, isMember: Bool) -> Bool {
    let (space, version) = (message.space, message.version)
    let known = indexes[account]?[space]
    if let known, known.version >= version { return false }
    // A direct message leaves the index when it is read, so only its delivery key shows that the change was
    // made before.
    if known == nil, space.kind == .direct {
      let key = DeliveryKey(version: version, position: .max)
      guard delivered[account, default: []].insert(key).inserted else { return false }
    }
    if space.kind == .direct { charge(message.charged, at: account) }
    let personal = SpaceID.personal(account)
    var entry: IndexEntry
    if let known, known.isMember, !isMember {
      // A feed had the space until the account left, so no cursor has to take leaving into account. But if
      // the index never learned that the account had joined, this change is all that it will learn of that
      // membership interval.
      entry = known
      entry.isMember = false
      entry.state.version = version
    } else {
      let earlier = known.map { ([$0.state] + $0.earlier).prefix(IndexEntry.earlierMax(in: space)) } ?? []
      entry = IndexEntry(
        space: space, isMember: isMember,
        state: .init(version: version, addedAt: allotID(in: partitions.holding(personal))),
        earlier: Array(earlier))
      // The account has left, and its index never learned of the membership that ends: it lags since the last state that is known.
      let since = isMember ? message.before : known?.version ?? .zero
      readStates[account]?.learn(of: space, in: partitions.holding(space), since: since)
    }
    indexes[account, default: [:]][space] = entry
    return true
  }

  /// Does nothing if the delivery was made before, or is so old that its key may have been removed.
  private func deliver(_ delivery: Delivery, _ key: DeliveryKey, charged: AccountID?) {
    let account = delivery.account
    guard key.version >= limits.retentionFloor(nowMilliseconds: clockMilliseconds) else { return }
    guard delivered[account, default: []].insert(key).inserted else { return }
    charge(charged, at: account)
    let personal = SpaceID.personal(account)
    let home = partitions.holding(personal)
    let id = allotID(in: home)
    var content = delivery.content
    content.appendedAt = timeBesideID(in: home)
    append(LogEntry(id: id, audience: delivery.audience, contentJSON: content.json), in: personal)
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
  /// Sets the time to look at the space. If an earlier time is set already, that becomes a millisecond
  /// earlier: a caller that has read it has not seen this change, and must not postpone it.
  func wake(_ space: SpaceID, atMilliseconds time: Int64) {
    wakes[space] = wakes[space].map { min(time, $0 - 1) } ?? time
  }

  package func dueSpaces(nowMilliseconds: Int64) -> DueSpaces {
    let due = wakes.filter { $0.value <= nowMilliseconds }
      .map { DueSpace(space: $0.key, atMilliseconds: $0.value) }
    let ofPartitions = Dictionary(grouping: due, by: { partitions.holding($0.space) }).sorted {
      $0.key < $1.key
    }
    let spaces = ofPartitions.flatMap { _, due in
      due.sorted { ($0.atMilliseconds, $0.space.key) < ($1.atMilliseconds, $1.space.key) }
        .prefix(DueSpace.perPartition)
    }
    return DueSpaces(spaces: spaces)
  }

  package func postpone(_ due: DueSpace, toMilliseconds time: Int64?) {
    if wakes[due.space] == due.atMilliseconds { wakes[due.space] = time }
  }
}
