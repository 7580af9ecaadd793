import BelfryModel
import BelfryRedis

// Trims the beginning of a log that all of its readers have read, before retention does.
extension RedisStore {
  /// Entries looked at in one step, and readers asked about in one pipeline.
  private static let entriesPerStep = 200
  private static let readersPerStep = 50

  /// - Parameter spaces: those that have entries, with the first of each.
  func trimWhatAllHaveRead(
    _ spaces: [(space: SpaceID, first: MessageID)], _ floor: MessageID, nowMilliseconds now: Int64
  ) async throws(StoreError) {
    let candidates = try await withFewReaders(spaces)
    for (space, first) in candidates {
      if let slowReader = slowReaders[space], try await hasYetToRead(slowReader, first, in: space, now) {
        continue
      }
      slowReaders[space] = nil
      while try await trimStep(of: space, floor, now) {}
    }
  }

  /// The spaces with so few readers, former members included, that the read state of each can be asked for.
  private func withFewReaders(
    _ spaces: [(space: SpaceID, first: MessageID)]
  ) async throws(StoreError) -> [(space: SpaceID, first: MessageID)] {
    let kept = spaces.filter { $0.space.kind.hasMembers || $0.space.kind == .direct }
    let tables = kept.flatMap { [TableAddress($0.space, .roster), TableAddress($0.space, .former)] }
    let counts = try await counts(tables)
    return kept.enumerated().filter { index, _ in
      counts[2 * index] + counts[2 * index + 1] <= ReadByAll.readersMax
    }.map { $1 }
  }

  /// Asked first: the reader who had not read the log the last time mostly still has not.
  private func hasYetToRead(
    _ slowReader: AccountID, _ first: MessageID, in space: SpaceID, _ now: Int64
  ) async throws(StoreError) -> Bool {
    let entries = try await entries([LogRequest(space, after: first.predecessor, through: first, limit: 1)])[
      0]
    var prefix = ReadByAll(entries, of: space, retentionFloor: .zero, nowMilliseconds: now)
    let membership =
      space.kind == .direct
      ? Membership.always : try await memberRecords(of: slowReader, in: [space])[0]?.membership ?? .never
    let read = try await readState(of: slowReader, among: [entries.first?.notificationID ?? first])
    prefix.keepOnly(readBy: LogReader(slowReader, membership: membership, read: read))
    return prefix.entries.isEmpty && !entries.isEmpty
  }

  /// - Returns: whether there may be more to trim.
  private func trimStep(
    of space: SpaceID, _ floor: MessageID, _ now: Int64
  ) async throws(StoreError) -> Bool {
    let request = LogRequest(space, after: .zero, limit: Self.entriesPerStep)
    let entries = try await entries([request])[0]
    // A reader whose index has yet to learn of the space may have a watermark that covers entries it never saw; learning
    // makes the space a lagging one. So nothing is trimmed while the outbox holds anything, and the outbox is asked before
    // the read states are.
    let outbox = RedisCommand("XLEN", layout.outbox(layout.partition(of: space)))
    let waiting = try await pipeline([outbox], at: "trim \(space)")[0]
    guard try reading(at: "trim \(space)", { () throws(RedisError) in try waiting.integer() }) == 0 else {
      return false
    }
    var prefix = ReadByAll(entries, of: space, retentionFloor: floor, nowMilliseconds: now)
    guard !prefix.entries.isEmpty, let readers = try await readers(of: space, entries), !readers.isEmpty
    else { return false }
    for start in stride(from: 0, to: readers.count, by: Self.readersPerStep) {
      let some = Array(readers[start..<min(start + Self.readersPerStep, readers.count)])
      let answers = try await readings(by: some, of: space, prefix.entries)
      for (reader, (isKnown, read)) in zip(some, answers) {
        if isKnown {
          prefix.keepOnly(readBy: LogReader(reader.account, membership: reader.membership, read: read))
          guard prefix.entries.isEmpty else { continue }
        }
        note(reader.account, of: space)
        return false
      }
    }
    guard let last = prefix.entries.last?.id else { return false }
    var call = layout.call(.trimRead, in: layout.partition(of: space))
    call.append(space.key)
    call.append(last.streamForm)
    let place = "trim \(space)"
    let reply = try await self.call(call, at: place)
    _ = try reading(at: place) { () throws(RedisError) in try reply.integer() }
    return prefix.entries.count == Self.entriesPerStep
  }

  private typealias Reader = (account: AccountID, membership: Membership)

  /// True for each reader whose index knows the space, with what the reader has read. An index that a failover has made forget
  /// the space never showed its entries, and a watermark may have passed them. The sweep restores the index later
  /// (`compareRosters`).
  private func readings(
    by readers: [Reader], of space: SpaceID, _ entries: some Collection<LogEntry>
  ) async throws(StoreError) -> [(isKnown: Bool, read: ReadState)] {
    let question = ReadStateQuestion(entries.map(\.notificationID))
    // Redis answers for one account in this order, at the same place: an index that learns of the space in between makes it a
    // lagging one, and an index cannot forget it in between.
    let commands = readers.flatMap { reader in
      [RedisCommand("HGET", layout.spaces(of: reader.account), space.key)]
        + question.commands(reader.account, layout)
    }
    let place = "readers of \(space)"
    let replies = try await pipeline(commands, isAwaited: true, at: place)
    let width = 1 + question.commandCount
    return try reading(at: place) { () throws(RedisError) in
      try readers.enumerated().map { index, reader throws(RedisError) in
        let entry = try replies[index * width].ifPresent?.bytes()
        let state = try question.state(replies.dropFirst(index * width + 1).prefix(question.commandCount))
        return (Self.isKnown(reader, of: space, entries.first?.id ?? .zero, to: entry), state)
      }
    }
  }

  /// - Parameters:
  ///   - first: the first entry in question. A reader who had left before it cannot see any.
  ///   - text: the entry of the reader's index; nil for none.
  private static func isKnown(
    _ reader: Reader, of space: SpaceID, _ first: MessageID, to text: ArraySlice<UInt8>?
  ) -> Bool {
    // A direct message leaves the index of each reader who has read it.
    if space.kind == .direct { return true }
    guard let latest = reader.membership.intervals.all.last, latest.through.map({ $0 >= first }) ?? true
    else { return true }
    guard let text, let entry = IndexEntry(field: Array(space.key.utf8)[...], text: text) else {
      return false
    }
    return latest.after < entry.version
  }

  /// Nil if not all readers are known: a record cannot be read, or the roster of a server or a group is empty. These always have
  /// an owner, so such a roster is missing, as after a move of slots whose source has died.
  private func readers(
    of space: SpaceID, _ entries: [LogEntry]
  ) async throws(StoreError) -> [Reader]? {
    if space.kind == .direct {
      return Set(entries.flatMap(\.directMessageReaders)).sorted().map { ($0, .always) }
    }
    // The roster twice: an account that joins or leaves in between is in one of the three answers.
    let commands = [RecordTable.roster, .former, .roster].map {
      RedisCommand("HGETALL", layout.table(TableAddress(space, $0)).text)
    }
    let replies = try await pipeline(commands, at: "readers of \(space)")
    var readers: [Reader] = []
    for (place, reply) in replies.enumerated() {
      let words = try reading(at: "readers of \(space)") { () throws(RedisError) in
        try reply.array().map { word throws(RedisError) in try word.string() }
      }
      if words.isEmpty, place != 1, space.kind != .room { return nil }
      for index in stride(from: 0, to: words.count - 1, by: 2) {
        guard let account = AccountID(words[index]), let member = MemberRecord(text: words[index + 1]) else {
          return nil
        }
        readers.append((account, member.membership))
      }
    }
    return readers
  }

  private func note(_ slowReader: AccountID, of space: SpaceID) {
    if slowReaders.count >= Self.slowReadersMax { slowReaders.removeAll() }
    slowReaders[space] = slowReader
  }

  /// Beyond so many they are forgotten, and found again by asking all readers.
  private static let slowReadersMax = 10_000
}
