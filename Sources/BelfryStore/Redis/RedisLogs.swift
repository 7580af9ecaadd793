import BelfryBytes
package import BelfryModel
import BelfryRedis

extension RedisStore {
  /// Entries asked for in one pipeline. The largest has some 80 KiB, so its replies stay within 160 MiB, and within
  /// ``RedisLimits/replyBytesMax`` by far.
  static let entriesPerPipeline = 2_000

  package func entries(_ requests: [LogRequest]) async throws(StoreError) -> [[LogEntry]] {
    var answers: [[LogEntry]] = []
    var first = 0
    while first < requests.count {
      var last = first
      var entries = requests[first].limit
      while last + 1 < requests.count, entries + requests[last + 1].limit <= Self.entriesPerPipeline {
        last += 1
        entries += requests[last].limit
      }
      answers += try await read(requests[first...last])
      first = last + 1
    }
    return answers
  }

  package func lastIDs(of partitions: [Partition]) async throws(StoreError) -> [MessageID] {
    let commands = partitions.map { RedisCommand("HGET", layout.partitionHash($0), RedisLayout.lastField) }
    let replies = try await pipeline(commands, at: "last ids")
    return try reading(at: "last ids") { () throws(RedisError) in
      try replies.map { reply throws(RedisError) in try reply.ifPresent?.messageID() ?? .zero }
    }
  }

  /// The last ids of those partitions whose node answers.
  /// - Throws: if none answers.
  package func knownLastIDs(of partitions: [Partition]) async throws(StoreError) -> [Partition: MessageID] {
    let questions = partitions.map {
      (partition: $0, command: RedisCommand("HGET", layout.partitionHash($0), RedisLayout.lastField))
    }
    let answers = try await ask(questions, at: "last ids") { reply throws(RedisError) in
      try reply.ifPresent?.messageID() ?? .zero
    }
    return Dictionary(answers.map { ($0.partition, $0.answer) }) { $1 }
  }

  /// An upper bound: the hash of a partition has a few facts, too, next to its spaces.
  package func spaceCount() async throws(StoreError) -> Int {
    let questions = partitions.all.map { RedisCommand("HLEN", layout.partitionHash($0)) }
    return try await ask(questions, at: "spaces").reduce(0) { $0 + $1.number }
  }

  /// One command for all spaces of a partition.
  package func ends(of spaces: [SpaceID]) async throws(StoreError) -> [LogEnd] {
    // For each space the index of its partition's command, and for each partition that index by its number.
    var asked: [Int] = []
    var places = [Int?](repeating: nil, count: partitions.count)
    var commands: [RedisCommand] = []
    for space in spaces {
      let partition = layout.partition(of: space)
      let place = places[partition.number] ?? commands.count
      if place == commands.count {
        places[partition.number] = place
        var command = RedisCommand("HMGET")
        command.append(layout.partitionHash(partition))
        command.append(RedisLayout.lastField)
        command.append(RedisLayout.rewoundField)
        command.append(RedisLayout.historyField)
        commands.append(command)
      }
      commands[place].append(space.key)
      asked.append(place)
    }
    let replies = try await pipeline(commands, isAwaited: true, at: "ends of logs")
    return try reading(at: "ends of logs") { () throws(RedisError) in
      var answers = try replies.map { reply throws(RedisError) in try LastIDs(reply) }
      return try zip(spaces, asked).map { space, place throws(RedisError) in
        var end = try answers[place].next()
        end.present = scanMark(of: layout.partition(of: space))
        return end
      }
    }
  }

  /// Spaces that one call of `locate` looks through: a millisecond of Redis's time.
  static let locatedPerStep = 512

  package func search(for id: MessageID) async throws(StoreError) -> EntrySearch {
    // A caller may send any id, also one of a partition that this keyspace does not have.
    var search = EntrySearch()
    for partition in partitions.holding(id) where search.space == nil {
      try await extend(&search, for: id, in: partition)
    }
    return search
  }

  private func extend(
    _ search: inout EntrySearch, for id: MessageID, in partition: Partition
  ) async throws(StoreError) {
    let place = "locate \(id)"
    var hashScan = HashScan()
    for _ in 0..<Limits.spacesPerLocating / Self.locatedPerStep {
      var call = layout.call(.locate, in: partition)
      call.append(id.streamForm)
      call.append(hashScan.cursor)
      call.append(Self.locatedPerStep)
      let (reply, mark) = try await scanStep(call, in: partition, at: place)
      let (next, space, logs) = try reading(at: place) { () throws(RedisError) in
        let parts = try reply.array(count: 3)
        return (try parts[0].string(), SpaceID(key: try parts[1].string()), Int(try parts[2].integer()))
      }
      search.logsRead += logs
      search.space = space
      if space != nil { return }
      if hashScan.take(next, of: mark), next == "0" { return }
    }
  }
}

// MARK: - Reading

extension RedisStore {
  private func read(_ requests: ArraySlice<LogRequest>) async throws(StoreError) -> [[LogEntry]] {
    var pages: [LogPage] = requests.map { LogPage($0) }
    var updatedSpaces: Set<SpaceID> = []
    // One round, unless an element of a log cannot be read and another has to take its place.
    while true {
      let open = pages.indices.filter { !pages[$0].isComplete }
      if open.isEmpty { break }
      var commands: [RedisCommand] = []
      commands.reserveCapacity(2 * open.count)
      for index in open {
        let space = pages[index].request.space
        commands.append(pages[index].command(layout))
        commands.append(RedisCommand("HLEN", at: layout.table(TableAddress(space, .updates))))
      }
      let replies = try await pipeline(commands, isAwaited: true, at: "entries")
      try reading(at: "entries") { () throws(RedisError) in
        for (index, reply) in zip(open, stride(from: 0, to: replies.count, by: 2)) {
          try pages[index].take(replies[reply])
          if try replies[reply + 1].integer() > 0 { updatedSpaces.insert(pages[index].request.space) }
        }
      }
    }
    return try await applyUpdates(pages, in: updatedSpaces)
  }

  /// Applies the updates of entries in these spaces.
  private func applyUpdates(_ pages: [LogPage], in spaces: Set<SpaceID>) async throws(StoreError)
    -> [[LogEntry]]
  {
    var answers = pages.map { $0.entries }
    if spaces.isEmpty { return answers }
    let updated = pages.indices.filter { spaces.contains(pages[$0].request.space) && !answers[$0].isEmpty }
    let commands = updated.map { index in
      var command = RedisCommand(
        "HMGET", at: layout.table(TableAddress(pages[index].request.space, .updates)))
      for entry in answers[index] { command.append(entry.notificationID.text) }
      return command
    }
    let replies = try await pipeline(commands, isAwaited: true, at: "entries")
    for (index, reply) in zip(updated, replies) {
      let place = "updates \(pages[index].request.space)"
      let count = answers[index].count
      let texts = try reading(at: place) { () throws(RedisError) in try reply.array(count: count) }
      for (position, text) in texts.enumerated() {
        let update = try reading(at: place) { () throws(RedisError) in try text.ifPresent?.string() }
        if let update { try answers[index][position].apply(update, at: place) }
      }
    }
    return answers
  }
}

/// The reply of a partition's command: its last id, and then the log ends of the spaces asked for, in order.
private struct LastIDs {
  private let allotted: MessageID
  private let rewinds: [Rewind]
  private let history: String
  private var reader: RedisReplies.Reader

  init(_ reply: RedisReply) throws(RedisError) {
    reader = try reply.array().reader
    guard let last = try reader.bytesIfPresent() else {
      throw RedisError(
        .unavailable, cause: PartitionHashes.incompleteCause, place: "partition hash")
    }
    allotted = try MessageID(replied: last)
    let words = try reader.bytesIfPresent()?.split(separator: UInt8(ascii: " ")) ?? []
    var rewinds: [Rewind] = []
    for index in stride(from: 0, to: words.count - 2, by: 3) {
      rewinds.append(
        Rewind(
          ended: words[index].elementsEqual("-".utf8) ? "" : String(decoding: words[index], as: UTF8.self),
          kept: try MessageID(replied: words[index + 1]),
          first: try MessageID(replied: words[index + 2])))
    }
    self.rewinds = rewinds
    history = try reader.bytesIfPresent().map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// `<last>[ <lost through>]`
  mutating func next() throws(RedisError) -> LogEnd {
    var end = LogEnd(allotted: allotted, appended: .zero, rewinds: rewinds, history: history)
    guard let bytes = try reader.bytesIfPresent() else { return end }
    var words = Words(rest: bytes)
    end.appended = try MessageID(replied: words.next() ?? [])
    if let lost = words.next() { end.lostThrough = try MessageID(replied: lost) }
    return end
  }
}

/// The entries that were read for one request so far.
private struct LogPage {
  let request: LogRequest
  private(set) var entries: [LogEntry] = []
  private(set) var isComplete: Bool
  /// The place to read on from, as XRANGE takes it; nil at the beginning. It is a text, since an element that
  /// was not written by Belfry may have any id.
  private var start: [UInt8]?

  init(_ request: LogRequest) {
    self.request = request
    isComplete = request.limit <= 0 || request.after >= request.through
  }

  private var missing: Int { request.limit - entries.count }

  func command(_ layout: RedisLayout) -> RedisCommand {
    var command = RedisCommand("XRANGE", at: layout.log(request.space))
    if let start {
      command.append(start)
    } else if request.after == .zero {
      command.append("-")
    } else {
      var after = request.after.streamText
      after.prepend("(")
      command.append(after)
    }
    if request.through == .last { command.append("+") } else { command.append(request.through.streamText) }
    command.append("COUNT")
    command.append(missing)
    return command
  }

  /// Skips elements that cannot be read, such as one added by hand: they must neither hide what follows nor make a full
  /// page look like the last one.
  mutating func take(_ reply: RedisReply) throws(RedisError) {
    let items = try reply.array()
    isComplete = items.count < missing
    entries.reserveCapacity(entries.count + items.count)
    var reader = items.reader
    let bytes = reader.allBytes
    var id = 0..<0
    for _ in 0..<items.count {
      try reader.array(count: 2)
      id = try reader.place()
      if let entry = try LogEntry(id, of: bytes, &reader) { entries.append(entry) }
    }
    if missing <= 0 { isComplete = true }
    if !isComplete { start = [UInt8(ascii: "(")] + bytes[id] }
  }
}

extension LogEntry {
  /// Reads the fields of an entry, which the reader passes in any case. The bytes are read in place, since
  /// entries are most of Redis's answers.
  fileprivate init?(
    _ id: Range<Int>, of bytes: [UInt8], _ reader: inout RedisReplies.Reader
  ) throws(RedisError) {
    guard reader.isAtArray else {
      reader.skip()
      return nil
    }
    let count = try reader.array()
    // A notification has its audience and its content. An update has four fields more before them: the entry
    // that it updates, and when.
    guard count == 2 || count == 6 else {
      for _ in 0..<count { reader.skip() }
      return nil
    }
    let update = count == 6 ? try Self.update(of: bytes, &reader) : nil
    let audience = try reader.place()
    let content = try reader.place()
    guard let id = MessageID(streamBytes: bytes.span.extracting(id)), count == 2 || update != nil
    else { return nil }
    self.init(
      id: id, audience: bytes[audience], content: bytes[content], updateTime: update?.time,
      updates: update?.updated)
  }

  private static func update(
    of bytes: [UInt8], _ reader: inout RedisReplies.Reader
  ) throws(RedisError) -> (updated: MessageID, time: Int64)? {
    let fields = try (reader.place(), reader.place(), reader.place(), reader.place())
    guard bytes.span.extracting(fields.0).isEqual(to: updatesField),
      let updated = MessageID(streamBytes: bytes[fields.1]),
      bytes.span.extracting(fields.2).isEqual(to: updateTimeField),
      let time = Int64(digits: bytes[fields.3])
    else { return nil }
    return (updated, time)
  }

  private static let updatesField = Array("updates".utf8)
  private static let updateTimeField = Array("updateTime".utf8)
}

extension MessageID {
  fileprivate init(replied bytes: ArraySlice<UInt8>) throws(RedisError) {
    guard let id = MessageID(streamBytes: bytes) else {
      throw RedisError(.unexpectedReply, cause: "expected a stream id", place: "reply")
    }
    self = id
  }
}

extension RedisReply {
  func messageID() throws(RedisError) -> MessageID { try MessageID(replied: try bytes()) }
}
