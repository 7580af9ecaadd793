package import BelfryModel
package import BelfryStore

/// Reads a stretch of an account's feed from the logs: the merge of all its spaces, oldest first.
///
/// The stretch begins at a cursor. In each partition it ends at the last id that had been allotted when the snapshot
/// was taken. That bound makes the merge complete: entries that are appended meanwhile have larger ids than all
/// entries of the scan in that partition, so a cursor that has passed the scan has skipped nothing. A log without
/// entries in its stretch is not asked.
package final class FeedScan {
  package struct Found {
    /// The index of the entry's log among the scan's logs.
    let log: Int
    package let entry: LogEntry
  }

  /// A log that is read, with the account's membership in its space. Hundreds of entries share one of these.
  package struct Log {
    let space: SpaceID
    let membership: Membership
    /// The position of the cursor in the log when the scan began.
    fileprivate let place: MessageID
  }

  /// Entries fetched in one round trip over all logs together.
  private static let entriesPerRound = 512
  /// Entries fetched of one log in its first round, depending on how many logs there are. The number doubles each round, up
  /// to the larger of the upper bound and the log's share of a round. Small numbers cost turns of the loop, and in each
  /// turn a busy loop sends to hundreds of other consumers. Large ones keep entries in memory until the reader's socket
  /// takes them.
  private static let entriesPerLog = 2...128

  private struct Source {
    let log: Int
    /// The log's last entry, or the end of the stretch.
    let through: MessageID
    /// The log has been fetched up to this id.
    var after: MessageID
    /// Trimming up to this id has been taken into account.
    var notedThrough: MessageID
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
  private let recent: RecentStretches?
  private let hidden: HiddenStretches?
  private var sources: [Source] = []
  /// How many entries the reader can use at once.
  private let wanted: Int
  private let batchMax: Int
  /// The same while most entries are for others, whose text nobody keeps.
  private let hiddenBatchMax: Int
  private let retentionFloor: MessageID
  package let snapshot: FeedSnapshot
  /// The account's read state, as far as it matters for the entries that were given last.
  private var read: ReadState
  let logs: [Log]
  /// True if the index knows more than the cursor has taken into account: then another scan has to follow.
  package let isPartial: Bool
  private var gap: FeedGap?

  /// - Parameters:
  ///   - cursor: nil: the scan begins with the oldest entries that are kept.
  ///   - promised: the id from which on a reader without a position was promised everything, if it is before the
  ///     floor.
  ///   - wanted: how many entries the reader can use at once; nil: as many as there are.
  ///   - isPatient: true for a reader that keeps what it gets for no longer than a moment. Fewer round trips bring it to what it
  ///     sees, and its last one may bring more than it wanted.
  ///   - recent: nil for readers of contents.
  ///   - hidden: by which it passes entries for others that somebody has fetched before.
  package init(
    _ snapshot: FeedSnapshot, at cursor: FeedCursor?, through last: MessageID = .last,
    retentionFloor: MessageID, promisedFrom promised: MessageID = .zero, wanted: Int? = nil,
    isPatient: Bool = false, in store: any Store, sharing recent: RecentStretches? = nil,
    passing hidden: HiddenStretches? = nil
  ) {
    self.store = store
    self.recent = recent
    self.hidden = hidden
    self.snapshot = snapshot
    read = snapshot.view.read
    self.retentionFloor = retentionFloor
    let unknown = Self.unknown(to: cursor, of: snapshot)
    isPartial = !unknown.isEmpty
    var logs: [Log] = []
    for (space, end, lostThrough) in snapshot.ends {
      guard var membership = snapshot.view.memberships[space] else { continue }
      if let known = unknown[space] { membership.keep(knownTo: known, in: space) }
      let through = min(end, last)
      var joined = MessageID.last
      for interval in membership.intervals.all { joined = min(joined, interval.after) }
      // A reader with a cursor also reads entries that are older than retention and not trimmed yet, so that it can
      // be told that it has missed them.
      let place =
        cursor.map { $0.position(in: space, snapshot.partitions) }.flatMap { $0 > .zero ? $0 : nil }
        ?? (promised > .zero ? min(promised, retentionFloor) : retentionFloor).predecessor
      let after = max(place, joined, snapshot.view.read.watermark(of: space, snapshot.partitions))
      guard after < through else { continue }
      sources.append(
        Source(log: logs.count, through: through, after: after, notedThrough: lostThrough, batch: 0))
      logs.append(Log(space: space, membership: membership, place: place))
    }
    self.logs = logs
    self.wanted = wanted ?? Self.entriesPerRound
    let share = (self.wanted + sources.count - 1) / max(sources.count, 1)
    batchMax = wanted ?? max(share, Self.entriesPerLog.upperBound)
    hiddenBatchMax = isPatient ? max(batchMax, Self.entriesPerRound) : batchMax
    let batch = min(max(share, Self.entriesPerLog.lowerBound), wanted ?? Self.entriesPerLog.upperBound)
    for index in sources.indices { sources[index].batch = batch }
  }

  /// The spaces with changes in the index that the cursor has not taken into account, each with an id. The cursor knows the
  /// membership intervals that began before the id. Zero means that it knows none.
  private static func unknown(to cursor: FeedCursor?, of snapshot: FeedSnapshot) -> [SpaceID: MessageID] {
    guard let cursor, cursor.indexed < snapshot.lastID(in: snapshot.home) else { return [:] }
    var unknown: [SpaceID: MessageID] = [:]
    for entry in snapshot.view.index where entry.addedAt > cursor.indexed {
      unknown[entry.space] = entry.state(through: cursor.indexed)?.version ?? .zero
    }
    return unknown
  }

  package func space(of found: Found) -> SpaceID { logs[found.log].space }

  // Ask these about an entry before fetching the next ones. The scan knows only of the entries that it gave last whether they
  // are marked.

  /// True if the entry is a notification that would be shown if it were not older than retention.
  package func isLost(_ found: Found) -> Bool {
    found.entry.id < retentionFloor && found.entry.updates == nil
      && visibility(of: found, retentionFloor: .zero).isVisible
  }

  /// True if the entry is a notification that the account is to be shown.
  package func isVisible(_ found: Found) -> Bool {
    found.entry.updates == nil && visibility(of: found, retentionFloor: retentionFloor).isVisible
  }

  /// True if the entry says what has become of a notification that the account was shown before the scan. Those of the
  /// scan itself need no update: they are read as they are now.
  package func isUpdate(_ found: Found) -> Bool {
    guard let updated = found.entry.updates, updated <= logs[found.log].place else { return false }
    return found.entry.isRecalled
      ? isPerhapsShown(found, retentionFloor: retentionFloor)
      : visibility(of: found, retentionFloor: retentionFloor).isVisible
  }

  /// True if the entry is a notification that is not shown any more and may be on a device.
  func isPerhapsShown(_ found: Found) -> Bool {
    found.entry.updates == nil && isPerhapsShown(found, retentionFloor: retentionFloor)
  }

  private func isPerhapsShown(_ found: Found, retentionFloor: MessageID) -> Bool {
    Visibility.isPerhapsShown(
      found.entry.notificationID, found.entry.audience, in: logs[found.log].space,
      for: snapshot.view.account, membership: logs[found.log].membership, read: read,
      retentionFloor: retentionFloor)
  }

  private func visibility(of found: Found, retentionFloor: MessageID) -> Visibility {
    Visibility.of(
      found.entry.notificationID, found.entry.audience, type: found.entry.type,
      isRecalled: found.entry.isRecalled,
      in: logs[found.log].space, for: snapshot.view.account, membership: logs[found.log].membership,
      read: read, preferences: snapshot.view.preferences, retentionFloor: retentionFloor,
      nowMilliseconds: nowMilliseconds)
  }

  /// A scan for a slow reader takes hours, in which notifications expire.
  private var nowMilliseconds: Int64 { store.estimatedMilliseconds ?? snapshot.takenAtMilliseconds }

  /// Everything has been given.
  package var isComplete: Bool { sources.isEmpty }

  /// The next entries in order, visible or not; nil when the scan is complete.
  /// - Parameter wanted: how many the reader can use now, if no longer as many as the scan was made for. It may get
  ///   fewer, or more.
  package func next(wanted: Int? = nil) async throws(StoreError) -> [Found]? {
    try await refill(wanted: wanted ?? self.wanted)
    // An entry may be given only if no log can still have an earlier one that has not been fetched.
    var horizon = MessageID.last
    for source in sources where !source.isExhausted { horizon = min(horizon, source.after) }
    let found = takeBuffered(through: horizon)
    sources.removeAll { $0.isExhausted && $0.buffered.isEmpty }
    try await askForMarks(among: found)
    return found.isEmpty ? nil : found
  }

  /// Asks the store which of the entries the account has marked one by one. It is asked about no more than the account
  /// would be shown or told of, so the answer does not grow with what the account has marked.
  private func askForMarks(among found: [Found]) async throws(StoreError) {
    guard snapshot.view.read.hasUnknownMarks else { return }
    read.above = []
    // Those beyond retention, too: an account is told that it has missed them.
    let doubtful = found.filter { isPerhapsShown($0, retentionFloor: .zero) }
    let ids = Set(doubtful.map(\.entry.notificationID)).sorted()
    if ids.isEmpty { return }
    read.applyAnswer(try await store.readState(of: snapshot.view.account, among: ids))
  }

  private func takeBuffered(through horizon: MessageID) -> [Found] {
    // Positions are sorted and not the entries: moving entries would cost more than everything else here.
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
    // Entries are taken from the beginning of a log, so the rest begins behind the last one taken.
    var rest = sources.map { $0.buffered.startIndex }
    for place in places { rest[place.source] = place.index + 1 }
    for number in sources.indices { sources[number].buffered = sources[number].buffered[rest[number]...] }
    return found
  }

  /// Fetches more of the logs that have run out, and in the same round trip of those that will run out next. Otherwise logs
  /// whose entries lie one behind the other would take a round trip each.
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
    for (_, number) in open {
      if count >= wanted, !sources[number].buffered.isEmpty { continue }
      passHidden(number)
      let source = sources[number]
      requests.append(
        LogRequest(logs[source.log].space, after: source.after, through: source.through, limit: source.batch))
      asked.append(number)
      count += source.batch
    }
    let answers: [[LogEntry]]
    if let recent {
      answers = try await recent.entries(requests, history: store.history) { missing throws(StoreError) in
        try await store.entries(missing)
      }
    } else {
      answers = try await store.entries(requests)
    }
    // The ends are asked for after the entries, so that every trim between the snapshot and this reading is noticed. A slow
    // reader may read hours after the snapshot.
    let ends = try await store.ends(of: requests.map(\.space))
    for (index, number) in asked.enumerated() {
      noteTrimmed(from: number, before: answers[index].first?.id, ends[index].lostThrough)
      let request = requests[index]
      let isHidden = logs[sources[number].log].isMostlyHidden(
        answers[index], upTo: request.limit, from: snapshot.view.account)
      if isHidden, let era = era(of: request.space), era == LogEra(ends[index]) {
        hidden?.keepStretch(answers[index], of: request, lostThrough: ends[index].lostThrough, in: era)
      }
      sources[number].take(answers[index], batchMax: isHidden ? hiddenBatchMax : batchMax)
    }
  }

  /// Passes entries of a log that are known to be for others.
  private func passHidden(_ number: Int) {
    let (source, account) = (sources[number], snapshot.view.account)
    let log = logs[source.log]
    guard let hidden, let era = era(of: log.space) else { return }
    sources[number].after = hidden.placePastHidden(
      after: source.after, through: source.through, in: log.space, era
    ) { log.wasSent(to: account, $0, $1) }
  }

  private func era(of space: SpaceID) -> LogEra? { snapshot.bounds[snapshot.partition(of: space)]?.era }

  /// Notes what was trimmed between the source's place and the first entry that was fetched.
  ///
  /// The log may have been trimmed twice, before the entries were fetched and again before its end was read. The end then
  /// lies beyond the first entry and does not say what the first trim took. So all up to that entry counts as trimmed: a
  /// reader may be told of a gap in which nothing was, and never misses an entry in silence.
  /// - Parameter next: the first entry that was fetched; nil if there was none.
  private func noteTrimmed(from number: Int, before next: MessageID?, _ lostThrough: MessageID) {
    let source = sources[number]
    let place = max(source.after, source.notedThrough)
    let end = min(lostThrough, next?.predecessor ?? source.through)
    guard end > place else { return }
    sources[number].notedThrough = end
    gap.extend(after: place, trimmedThrough: end, in: logs[source.log].membership.intervals)
  }

  /// The entries that were trimmed before the scan came to them, since the last call.
  package func takeGap() -> FeedGap? {
    defer { gap = nil }
    return gap
  }
}
