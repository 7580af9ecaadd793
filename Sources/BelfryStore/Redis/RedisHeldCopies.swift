package import BelfryModel
import BelfryRedis

/// The copies of a space that wait for one another, since the first of them could not be delivered.
package struct HeldCopies: Sendable, Hashable {
  /// So many are known by their ids. Further ones are looked for among all copies once these are delivered,
  /// so that a space with many does not make its record long.
  package static let idsMax = 64

  /// The first ones, oldest first.
  package var ids: [MessageID] = []
  /// From this id on, further copies of the space have to be looked for; nil: all are known.
  package var rest: MessageID?
  /// The number of tries of the first copy.
  package var attempts = 0
  /// The time of the next try, milliseconds since 1970, 0 for at once; nil: the time that the store has.
  package var dueAtMilliseconds: Int64?

  package init(ids: [MessageID] = [], attempts: Int = 0, dueAtMilliseconds: Int64? = nil) {
    (self.ids, self.attempts, self.dueAtMilliseconds) = (ids, attempts, dueAtMilliseconds)
  }

  /// The first copy, or the id from which on it is looked for; nil if none is left, so that the space is not
  /// behind any more.
  package var first: MessageID? { ids.first ?? rest }

  /// Adds a copy that comes after all others of the space.
  package mutating func hold(_ id: MessageID) {
    if rest != nil { return }
    if ids.count < Self.idsMax { ids.append(id) } else { rest = id }
  }
}

/// The copies that a reader is behind with and is to try now.
package struct DueCopies: Sendable {
  package var spaces: [(space: SpaceID, held: HeldCopies)] = []
  /// When the next ones are due, milliseconds since 1970; nil if there are none.
  package var nextAtMilliseconds: Int64?

  package init() {}
}

/// Spaces with waiting copies; `Functions/copies.lua` describes their keys.
extension RedisStore {
  /// The waiting copies of those spaces that are behind.
  ///
  /// - Parameter generation: that of the caller's state.
  /// - Returns: nil if there was a replay since. It may have removed what waits, to read it again. A caller that went on would
  ///   take the space for one that is not behind, and deliver a later copy before those.
  package func heldCopies(
    for reader: CopyReader, in partition: Partition, of spaces: [SpaceID], generation: String
  ) async throws(StoreError) -> [SpaceID: HeldCopies]? {
    // Read after the copies: if it is still the caller's, no replay came before.
    let present = RedisCommand("HGET", layout.copyReaderState(reader, in: partition), "generation")
    let replies = try await pipeline(
      [waitingCopies(for: reader, in: partition, of: spaces), present], at: "copies for \(reader.text)")
    return try reading(at: "copies for \(reader.text)") { () throws(RedisError) in
      guard try replies[1].ifPresent?.string() == generation else { return nil }
      return try HeldCopies.all(of: spaces, in: replies[0])
    }
  }

  private func waitingCopies(
    for reader: CopyReader, in partition: Partition, of spaces: [SpaceID]
  ) -> RedisCommand {
    var command = RedisCommand("HMGET", layout.copiesBehind(reader, in: partition))
    for space in spaces { command.append(space.key) }
    return command
  }

  /// Spaces that are behind and due by a time, those that have been due for longest first.
  package func dueCopies(
    for reader: CopyReader, in partition: Partition, by time: Int64, limit: Int
  ) async throws(StoreError) -> DueCopies {
    let command = RedisCommand("ZRANGE", layout.copiesDue(reader, in: partition), 0, limit, "WITHSCORES")
    let reply = try await pipeline([command], at: "copies for \(reader.text)")[0]
    var due = DueCopies()
    try reading(at: "copies for \(reader.text)") { () throws(RedisError) -> Void in
      let fields = try reply.array()
      for index in stride(from: 0, to: fields.count - 1, by: 2) {
        let score = Int64(try fields[index + 1].string()) ?? 0
        guard due.spaces.count < limit, score <= time else {
          due.nextAtMilliseconds = score
          return
        }
        guard let space = SpaceID(key: try fields[index].string()) else { continue }
        // After a replay it is below zero.
        due.spaces.append((space, HeldCopies(dueAtMilliseconds: max(score, 0))))
      }
    }
    let spaces = due.spaces.map(\.space)
    if spaces.isEmpty { return due }
    let waiting = try await pipeline(
      [waitingCopies(for: reader, in: partition, of: spaces)], at: "copies for \(reader.text)")[0]
    let held = try reading(at: "copies for \(reader.text)") { () throws(RedisError) in
      try HeldCopies.all(of: spaces, in: waiting)
    }
    for (index, (space, kept)) in due.spaces.enumerated() {
      guard var found = held[space] else { continue }
      found.dueAtMilliseconds = kept.dueAtMilliseconds
      // After a replay or an outage the schedule starts again.
      if kept.dueAtMilliseconds == 0 { found.attempts = 0 }
      due.spaces[index].held = found
    }
    return due
  }

  /// Copies by their ids; nil for each that has fallen out of retention.
  package func copies(
    in partition: Partition, ids: [MessageID]
  ) async throws(StoreError) -> [EntryCopy?] {
    let commands = ids.map { id in
      RedisCommand("XRANGE", layout.copies(partition), id.streamForm, id.streamForm)
    }
    let replies = try await pipeline(commands, isAwaited: true, at: "copies")
    return try reading(at: "copies") { () throws(RedisError) in
      try replies.map { reply throws(RedisError) in try EntryCopy.all(in: reply).first }
    }
  }
}

// MARK: - The texts in Redis

extension HeldCopies {
  /// The text without the time at which it is due.
  var text: String {
    ([String(attempts), rest?.streamForm ?? "-"] + ids.map(\.streamForm)).joined(separator: " ")
  }

  init(text: String) {
    let words = text.split(separator: " ")
    attempts = words.first.flatMap { Int($0) } ?? 0
    rest = words.dropFirst().first.flatMap { MessageID(streamForm: $0) }
    ids = words.dropFirst(2).compactMap { MessageID(streamForm: $0) }
  }
}

extension RedisLayout {
  /// Hash: the waiting copies of a reader, by space.
  func copiesBehind(_ reader: CopyReader, in partition: Partition) -> String {
    prefix(partition) + "copies-behind:" + reader.text
  }

  /// Sorted set: the spaces with waiting copies of a reader, by the time at which they are due.
  func copiesDue(_ reader: CopyReader, in partition: Partition) -> String {
    prefix(partition) + "copies-due:" + reader.text
  }

  /// Sorted set: the same spaces, by the time of the first copy that waits.
  func copiesWaiting(_ reader: CopyReader, in partition: Partition) -> String {
    prefix(partition) + "copies-waiting:" + reader.text
  }
}

extension HeldCopies {
  /// Those of the spaces that are behind.
  fileprivate static func all(
    of spaces: [SpaceID], in reply: RedisReply
  ) throws(RedisError) -> [SpaceID: HeldCopies] {
    var found: [SpaceID: HeldCopies] = [:]
    for (space, value) in zip(spaces, try reply.array(count: spaces.count)) {
      if let text = try value.ifPresent?.string() { found[space] = HeldCopies(text: text) }
    }
    return found
  }
}
