import BelfryBytes
package import BelfryModel
import BelfryRedis

/// A reader of copies, which has its own position among them.
package struct CopyReader: Sendable, Hashable {
  let text: String

  package static func webhook(_ id: EntityID) -> CopyReader { CopyReader(text: id.text) }
  package static let push = CopyReader(text: "push")
}

/// A reader's state among the copies of a partition.
package struct CopyReaderState: Sendable, Hashable {
  /// All copies up to this one are delivered, or wait for others of their space.
  package var position: MessageID
  /// The number of copies up to the position; nil after a replay, until all are delivered.
  package var count: Int64?
  package var generation: String
  /// The number of copies that fell out of retention undelivered. The receiver has yet to be told of them.
  package var lost: Int64 = 0
  /// For push: the copies up to the position whose audiences are not entered to their ends, oldest first.
  package var unfinished: [UnfinishedCopy] = []
  /// For push, from a release that knew no unfinished copies: the last page that is done of the first copy after the position.
  package var place: PageCursor?

  package init(position: MessageID, count: Int64?, generation: String) {
    self.position = position
    self.count = count
    self.generation = generation
  }
}

/// A copy with a large audience, which push enters page by page.
package struct UnfinishedCopy: Sendable, Hashable {
  package var id: MessageID
  /// The place after the pages that are done; nil: at the beginning.
  package var place: PageCursor?

  package init(id: MessageID, place: PageCursor?) { (self.id, self.place) = (id, place) }
}

/// The state from which a new holder of the lease starts.
package struct CopyClaim: Sendable, Hashable {
  package var state: CopyReaderState
  /// The number of copies that were ever made, and the number that there are now.
  package var added: Int64
  package var length: Int64
  /// The id of the last copy.
  package var last: MessageID
  /// The number of spaces that are behind.
  package var behindCount: Int
}

/// An entry of a log as it is copied.
package struct EntryCopy: Sendable, Hashable {
  package var id: MessageID
  package var space: SpaceID
  /// The audience in words, as in the log.
  package var audience: ArraySlice<UInt8>
  /// The notification's content as JSON, an object. In an update it is the content after the update.
  package var content: ArraySlice<UInt8>
  /// The notification that this updates, and the time of the update.
  package var updates: MessageID?
  package var updateTime: Int64?

  /// True if the notification was recalled. There is no content then.
  package var isRecall: Bool { content.isEmpty && updates != nil }

  /// The notification as consumers receive it. For a recall, it names the notification that was recalled.
  package var notification: [UInt8] {
    var bytes: [UInt8] = []
    if isRecall, let updates {
      bytes.append("{\"messageServerId\":\"")
      bytes.append(decimal: updates.raw)
      bytes.append("\"}")
      return bytes
    }
    entry.appendNotification(to: &bytes)
    return bytes
  }

  /// The time at which the notification was sent, or was updated; milliseconds since 1970.
  package var timeMilliseconds: Int64 { updateTime ?? entry.time }

  private var entry: LogEntry {
    LogEntry(
      id: id, audience: Audience(.named), content: content, updateTime: updateTime, updates: updates)
  }
}

/// Copies of appended entries, and the states of their readers.
extension RedisStore {
  /// Calls a function of the reader in each partition.
  func callEverywhere(
    _ function: StoreFunction, _ reader: CopyReader, _ argument: (Partition) -> String? = { _ in nil }
  ) async throws(StoreError) -> [RedisReply] {
    try await callReader(function, reader, in: partitions.all, argument)
  }

  /// Calls a function of the reader in these partitions.
  func callReader(
    _ function: StoreFunction, _ reader: CopyReader, in some: [Partition], _ argument: (Partition) -> String?
  ) async throws(StoreError) -> [RedisReply] {
    let replies = try await call(
      some.map { partition in
        var command = layout.call(function, in: partition)
        command.append(reader.text)
        if let argument = argument(partition) { command.append(argument) }
        return command
      }, at: "webhooks")
    try Self.refuseErrors(replies, at: "webhooks")
    return replies
  }

  /// Ends the readers of copies that have no webhook. One is left if Redis or a broker ends while a webhook is made or removed, and
  /// then everything that is sent would be kept twice. A webhook that is being made has no record yet, so its reader has to be
  /// without one at two sweeps.
  func endStrayReaders(of partition: Partition) async throws(StoreError) {
    let before = strayReaders.removeValue(forKey: partition) ?? []
    let question = RedisCommand("SMEMBERS", layout.copyReaders(partition))
    let reply = try await pipeline([question], at: "webhooks")[0]
    let readers = try reading(at: "webhooks") { () throws(RedisError) in
      try reply.array().map { name throws(RedisError) in CopyReader(text: try name.string()) }
    }
    var strays = Set(readers).subtracting([.push])
    if strays.isEmpty { return }
    // The node that has the webhooks may be away, which keeps no sweep of another one waiting.
    guard let webhooks = try? await webhooks() else { return }
    strays.subtract(webhooks.map { CopyReader(text: $0.id) })
    for reader in strays.intersection(before) {
      _ = try await callReader(.endCopies, reader, in: [partition]) { _ in nil }
    }
    strayReaders[partition] = strays.subtracting(before)
  }

  static func refuseErrors(_ replies: [RedisReply], at place: String) throws(StoreError) {
    for case .error(let message) in replies {
      throw StoreError(RedisError.replied(message, to: place), at: place)
    }
  }

  /// Takes the lease of a reader in a partition, and reads its state; nil if another broker has the lease.
  package func claimCopies(
    _ reader: CopyReader, in partition: Partition, by owner: String, milliseconds: Int
  ) async throws(StoreError) -> CopyClaim? {
    var command = layout.call(.claimCopies, in: partition)
    command.append(reader.text)
    command.append(owner)
    command.append(milliseconds)
    let reply = try await call(command, at: "copies for \(reader.text)")
    return try reading(at: "copies for \(reader.text)") { () throws(RedisError) in
      let parts = try reply.array()
      guard parts.count == 5 else { return nil }
      return CopyClaim(
        state: try CopyReaderState(parts[4]), added: Int64(try parts[0].string()) ?? 0,
        length: Int64(try parts[1].string()) ?? 0,
        last: MessageID(streamForm: try parts[2].string()) ?? .zero,
        behindCount: Int(try parts[3].integer()))
    }
  }

  /// Writes the changes, and keeps the lease for so long; with 0 it is given back.
  /// - Parameter held: the copies that wait in spaces that are behind. A space without waiting copies is not
  ///   behind any more.
  /// - Returns: false if the lease is lost, or there was a replay. Nothing was written then.
  package func saveCopies(
    _ reader: CopyReader, in partition: Partition, by owner: String, milliseconds: Int,
    _ state: CopyReaderState,
    before: CopyReaderState, held: [SpaceID: HeldCopies] = [:]
  ) async throws(StoreError) -> Bool {
    var command = layout.call(.saveCopies, in: partition)
    command.append(reader.text)
    command.append(owner)
    command.append(milliseconds)
    command.append(state.generation)
    let changes = state.changes(since: before)
    command.append(2 * changes.count)
    for (field, text) in changes {
      command.append(field)
      command.append(text)
    }
    for (space, held) in held {
      command.append(space.key)
      command.append(held.first == nil ? "" : held.text)
      command.append(held.dueAtMilliseconds.map { String($0) } ?? "")
      command.append(held.first.map { String($0.unixMilliseconds) } ?? "")
    }
    let reply = try await call(command, at: "copies for \(reader.text)")
    return try reading(at: "copies for \(reader.text)") { () throws(RedisError) in
      try reply.string() == "saved"
    }
  }

  /// Copies after an id, oldest first.
  package func copies(
    in partition: Partition, after: MessageID, through: MessageID = .last, limit: Int
  ) async throws(StoreError) -> [EntryCopy] {
    var command = RedisCommand("XRANGE", layout.copies(partition))
    command.append("(" + after.streamForm)
    command.append(through == .last ? "+" : through.streamForm)
    command.append("COUNT")
    command.append(limit)
    let reply = try await pipeline([command], isAwaited: true, at: "copies")[0]
    return try reading(at: "copies") { () throws(RedisError) in
      try EntryCopy.all(in: reply)
    }
  }
}

// MARK: - The texts in Redis

extension CopyReaderState {
  init(_ reply: RedisReply) throws(RedisError) {
    let fields = try reply.array()
    self.init(position: .zero, count: nil, generation: "")
    for index in stride(from: 0, to: fields.count - 1, by: 2) {
      let (name, text) = (try fields[index].string(), try fields[index + 1].string())
      switch name {
      case "position": position = MessageID(streamForm: text) ?? .zero
      case "count": count = Int64(text)
      case "generation": generation = text
      case "lost": lost = Int64(text) ?? 0
      case "unfinished": unfinished = UnfinishedCopy.all(in: text)
      case "place": place = PageCursor(text: text)
      default: continue
      }
    }
    if generation.isEmpty {
      throw RedisError(.unexpectedReply, cause: "expected the state of a reader", place: "reply")
    }
  }

  /// Fields and texts to write; an empty text removes the field.
  func changes(since before: CopyReaderState) -> [(field: String, text: String)] {
    var changes: [(field: String, text: String)] = []
    if position != before.position { changes.append(("position", position.streamForm)) }
    if count != before.count { changes.append(("count", count.map { String($0) } ?? "?")) }
    if lost != before.lost { changes.append(("lost", lost == 0 ? "" : String(lost))) }
    if place != before.place { changes.append(("place", place?.text ?? "")) }
    if unfinished != before.unfinished { changes.append(("unfinished", UnfinishedCopy.text(of: unfinished))) }
    return changes
  }
}

extension UnfinishedCopy {
  private static let beginning = "-"

  /// Two words for each: the id and the place.
  static func text(of copies: [UnfinishedCopy]) -> String {
    copies.map { "\($0.id.streamForm) \($0.place?.text ?? beginning)" }.joined(separator: " ")
  }

  static func all(in text: String) -> [UnfinishedCopy] {
    let words = text.split(separator: " ")
    return stride(from: 0, to: words.count - 1, by: 2).compactMap { index in
      MessageID(streamForm: words[index]).map { id in
        let place = words[index + 1]
        return UnfinishedCopy(id: id, place: place == beginning ? nil : PageCursor(text: String(place)))
      }
    }
  }
}

extension EntryCopy {
  /// Those copies of a range of the stream that can be read.
  static func all(in range: RedisReply) throws(RedisError) -> [EntryCopy] {
    var copies: [EntryCopy] = []
    for element in try range.array() {
      let parts = try element.array(count: 2)
      guard let id = MessageID(streamForm: try parts[0].string()),
        let copy = try EntryCopy(id, try parts[1].array())
      else { continue }
      copies.append(copy)
    }
    return copies
  }

  private init?(_ id: MessageID, _ fields: RedisReplies) throws(RedisError) {
    var space: SpaceID?
    var audience: ArraySlice<UInt8>?
    var content: ArraySlice<UInt8>?
    var updates: MessageID?
    var updateTime: Int64?
    for index in stride(from: 0, to: fields.count - 1, by: 2) {
      let value = try fields[index + 1].bytes()
      let name = try fields[index].bytes()
      switch String(decoding: name, as: UTF8.self) {
      case "space": space = SpaceID(keyBytes: value)
      case "updates": updates = MessageID(streamBytes: value)
      case "updateTime": updateTime = Int64(String(decoding: value, as: UTF8.self))
      // The audience with the notification, as in a log.
      default: (audience, content) = (name, value)
      }
    }
    guard let space, let audience, let content else { return nil }
    self.init(
      id: id, space: space, audience: audience, content: content, updates: updates, updateTime: updateTime)
  }
}
