package import BelfryModel
package import BelfryStore

/// Reads a stretch of an account's feed from the logs: the merge of all its spaces, oldest first.
///
/// The stretch begins at a cursor and ends, in each partition, at the last id that had been allotted when
/// the scan began. That bound is what makes the merge complete: whatever is appended meanwhile, in
/// whichever space, has a larger id than anything the scan gives for that partition, so a cursor that
/// has passed the scan has skipped nothing. A log that has nothing in its stretch is not asked.
package final class FeedScan {
  package struct Found {
    /// Which of the scan's logs it is from.
    let log: Int
    package let entry: LogEntry
  }

  /// A log that is read, and what the account is there: what hundreds of entries have in common.
  package struct Log {
    let space: SpaceID
    fileprivate let membership: Membership
    /// Where the cursor stood in it.
    fileprivate let place: MessageID
  }

  /// Entries fetched in one round trip over all logs together.
  private static let entriesPerRound = 512
  /// Of one log at first, however many logs there are. Then twice as many each time, up to the same most, or where
  /// there are few logs up to their share: each time takes a turn of the loop, in which a busy one sends to hundreds
  /// of others; and all that was fetched stays in memory until the reader's socket takes it.
  private static let entriesPerLog = 2...128

  private struct Source {
    let log: Int
    /// Its last entry, or the end of the stretch.
    let through: MessageID
    /// Read up to here.
    var after: MessageID
    /// What was trimmed up to here is known.
    var lostThrough: MessageID
    /// Entries to ask for next.
    var batch: Int
    var buffered: ArraySlice<LogEntry> = []

    var isExhausted: Bool { after >= through }

    mutating func take(_ entries: [LogEntry], batchMax: Int) {
      after = entries.count < batch ? through : entries.last?.id ?? through
      if buffered.isEmpty { buffered = entries[...] } else { buffered += entries }
      batch = min(2 * batch, batchMax)
    }
  }

  private let store: any Store
  private var sources: [Source] = []
  /// How many entries are of use at once.
  private let wanted: Int
  private let batchMax: Int
  private let retentionFloor: MessageID
  let snapshot: FeedSnapshot
  let logs: [Log]
  /// Whether the index knows more than the cursor has taken into account: then another scan has to follow.
  package let isPartial: Bool
  private var gap: FeedGap?

  /// - Parameters:
  ///   - cursor: nil: from the beginning of what is kept.
  ///   - promised: from where a reader without a place was promised everything, if that is before the floor.
  ///   - wanted: how many entries will be taken in all, and at once; nil if as many as there are.
  package init(
    _ snapshot: FeedSnapshot, at cursor: FeedCursor?, through last: MessageID = .last,
    retentionFloor: MessageID, promisedFrom promised: MessageID = .zero, wanted: Int? = nil,
    in store: any Store
  ) {
    self.store = store
    self.snapshot = snapshot
    self.retentionFloor = retentionFloor
    let unknown = Self.unknown(to: cursor, of: snapshot)
    isPartial = !unknown.isEmpty
    var logs: [Log] = []
    for (space, end, lostThrough) in snapshot.ends {
      guard var membership = snapshot.view.memberships[space] else { continue }
      if let known = unknown[space] { membership.intervals.keep(begunBefore: known) }
      let through = min(end, last)
      var joined = MessageID.last
      for interval in membership.intervals.all { joined = min(joined, interval.after) }
      let partition = snapshot.partition(of: space)
      // What is older than retention and has yet to be trimmed is read by who comes with a cursor: they are told
      // that it is lost, if they had not come that far.
      let place =
        cursor.map { $0.position(in: space, of: partition) }.flatMap { $0 > .zero ? $0 : nil }
        ?? (promised > .zero ? min(promised, retentionFloor) : retentionFloor).predecessor
      let after = max(place, joined, snapshot.view.read.watermark(of: space, in: partition))
      guard after < through else { continue }
      sources.append(
        Source(log: logs.count, through: through, after: after, lostThrough: lostThrough, batch: 0))
      logs.append(Log(space: space, membership: membership, place: place))
    }
    self.logs = logs
    self.wanted = wanted ?? Self.entriesPerRound
    let share = (self.wanted + sources.count - 1) / max(sources.count, 1)
    batchMax = wanted ?? max(share, Self.entriesPerLog.upperBound)
    let batch = min(max(share, Self.entriesPerLog.lowerBound), wanted ?? Self.entriesPerLog.upperBound)
    for index in sources.indices { sources[index].batch = batch }
  }

  /// The spaces of which the index has learned something that the cursor has yet to take into account, and before
  /// which id a stay there must have begun to be known to it; zero: no stay is.
  private static func unknown(to cursor: FeedCursor?, of snapshot: FeedSnapshot) -> [SpaceID: MessageID] {
    guard let cursor, cursor.indexed < snapshot.lastID(in: snapshot.home) else { return [:] }
    var unknown: [SpaceID: MessageID] = [:]
    for entry in snapshot.view.index where entry.addedAt > cursor.indexed {
      unknown[entry.space] = entry.state(through: cursor.indexed)?.version ?? .zero
    }
    return unknown
  }

  package func space(of found: Found) -> SpaceID { logs[found.log].space }

  /// Whether it is a notification that is too old to be shown, and would be shown otherwise.
  package func isLost(_ found: Found, read: ReadState) -> Bool {
    found.entry.id < retentionFloor && found.entry.updates == nil
      && isForAccount(found, read, retentionFloor: .zero)
  }

  /// Whether it is a notification for the account.
  /// - Parameter read: as of now, if more is known than when the snapshot was taken.
  package func isVisible(_ found: Found, read: ReadState) -> Bool {
    found.entry.updates == nil && isForAccount(found, read, retentionFloor: retentionFloor)
  }

  /// Whether it says what has become of a notification that the account was shown before the scan. What comes with the
  /// scan is read as it is now.
  package func isUpdate(_ found: Found, read: ReadState) -> Bool {
    guard let updated = found.entry.updates, updated <= logs[found.log].place else { return false }
    return isForAccount(found, read, retentionFloor: retentionFloor)
  }

  private func isForAccount(_ found: Found, _ read: ReadState, retentionFloor: MessageID) -> Bool {
    Visibility.of(
      found.entry.notificationID, found.entry.audience, in: logs[found.log].space, for: snapshot.view.account,
      membership: logs[found.log].membership, read: read, retentionFloor: retentionFloor
    ).isVisible
  }

  /// Everything has been given.
  var isComplete: Bool { sources.isEmpty }

  /// The next entries in order, visible or not; nil when the scan is complete.
  /// - Parameter wanted: how many are of use, if no longer as many as it was made for; there may be fewer of them, or
  ///   more.
  package func next(wanted: Int? = nil) async throws(StoreError) -> [Found]? {
    try await refill(wanted: wanted ?? self.wanted)
    // Beyond what has been read of a log that has more, an entry of that log may still come first.
    var horizon = MessageID.last
    for source in sources where !source.isExhausted { horizon = min(horizon, source.after) }
    let found = takeBuffered(through: horizon)
    sources.removeAll { $0.isExhausted && $0.buffered.isEmpty }
    return found.isEmpty ? nil : found
  }

  private func takeBuffered(through horizon: MessageID) -> [Found] {
    // Sorted by their places: to move the entries themselves about would cost more than all else here.
    var places: [(id: MessageID, source: Int, index: Int)] = []
    for (number, source) in sources.enumerated() {
      for index in source.buffered.indices {
        let id = source.buffered[index].id
        if id > horizon { break }
        places.append((id, number, index))
      }
    }
    places.sort { $0.id < $1.id }
    let found = places.map { place in
      Found(log: sources[place.source].log, entry: sources[place.source].buffered[place.index])
    }
    // Of each log they are the first, in their order: behind its last goes on what is left.
    var rest = sources.map { $0.buffered.startIndex }
    for place in places { rest[place.source] = place.index + 1 }
    for number in sources.indices { sources[number].buffered = sources[number].buffered[rest[number]...] }
    return found
  }

  /// Reads on in the logs of which nothing is left, and on the way in those that will be next to hold up the
  /// others: otherwise logs whose entries lie one behind the other would take a round trip each.
  private func refill(wanted: Int) async throws(StoreError) {
    var open: [(after: MessageID, source: Int)] = []
    var isAnyDry = false
    for (number, source) in sources.enumerated() where !source.isExhausted {
      open.append((source.after, number))
      if source.buffered.isEmpty { isAnyDry = true }
    }
    guard isAnyDry else { return }
    open.sort { $0.after < $1.after }
    var requests: [LogRequest] = []
    var asked: [Int] = []
    var count = 0
    for (after, number) in open {
      let source = sources[number]
      if count >= wanted, !source.buffered.isEmpty { continue }
      requests.append(
        LogRequest(logs[source.log].space, after: after, through: source.through, limit: source.batch))
      asked.append(number)
      count += source.batch
    }
    let answers = try await store.entries(requests)
    // Asked afterwards: what was trimmed since the snapshot, before it was read, must not be passed over in silence. A
    // reader that takes its time may read hours later than the snapshot.
    let ends = try await store.ends(of: requests.map(\.space))
    for (index, number) in asked.enumerated() {
      noteTrimmed(from: number, before: answers[index].first?.id, ends[index].lostThrough)
      sources[number].take(answers[index], batchMax: batchMax)
    }
  }

  /// - Parameter next: the first that was found; nil if nothing was.
  private func noteTrimmed(from number: Int, before next: MessageID?, _ lostThrough: MessageID) {
    let source = sources[number]
    let place = max(source.after, source.lostThrough)
    guard lostThrough > place else { return }
    sources[number].lostThrough = lostThrough
    // It was read before it was trimmed, and so was all before it.
    if let next, next <= lostThrough { return }
    gap.extend(
      after: place, trimmedThrough: min(lostThrough, source.through),
      in: logs[source.log].membership.intervals)
  }

  /// What was trimmed before the scan came to it, and has not been taken yet.
  package func takeGap() -> FeedGap? {
    defer { gap = nil }
    return gap
  }
}
