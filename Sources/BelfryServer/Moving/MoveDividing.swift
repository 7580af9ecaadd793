import BelfryBytes
import BelfryModel
import BelfryRedis
import BelfryStore

// Handles keys that concern many spaces or accounts when the keyspace gets more partitions: reads, divides
// and writes them, and compares them with the target. ``KeyspaceDivision`` has the rules.

extension MoveRun {
  private static let elementsAtOnce = 1_000

  func copyDivided(_ division: MoveDivision, _ report: inout MoveReport) async throws(BackupError) {
    for key in division.keys {
      guard let (parts, expiresAt) = try await parts(of: key, division) else { continue }
      for (name, contents) in parts {
        let bytes = Array(name.utf8)
        let node = target.nodes[target.node(of: bytes)]
        // An earlier command may have written some of it.
        _ = try await node.ask(RedisCommand("UNLINK", bytes))
        for commands in Self.writing(contents, to: name).chunks(of: Self.elementsAtOnce) {
          _ = try await node.ask(commands)
        }
        if expiresAt > 0, !contents.isEmpty {
          _ = try await node.ask(RedisCommand("PEXPIREAT", bytes, expiresAt))
        }
      }
      report.copied += 1
    }
  }

  /// - Returns: the keys that the target has of these.
  func compareDivided(
    _ division: MoveDivision, _ report: inout MoveReport
  ) async throws(BackupError) -> Set<[UInt8]> {
    var names: Set<[UInt8]> = []
    for key in division.keys {
      let parts = try await parts(of: key, division)
      for (name, contents) in parts?.parts ?? [] {
        let bytes = Array(name.utf8)
        names.insert(bytes)
        let found = try await Self.contents(of: bytes, at: target.nodes[target.node(of: bytes)])
        if found.map({ $0 == contents }) ?? contents.isEmpty { continue }
        // The key may have expired between two requests.
        guard let again = try await self.parts(of: key, division) else { break }
        guard again.expiresAt > 0, found == nil else {
          throw differing(bytes, "it is not the expected part of \(key.key)")
        }
      }
      if parts == nil { report.expired += 1 } else { report.compared += 1 }
    }
    return names
  }

  /// Nil if the key is gone: it has expired.
  private func parts(
    of key: DividedKey, _ division: MoveDivision
  ) async throws(BackupError) -> (parts: [(key: String, contents: KeyContents)], expiresAt: Int64)? {
    let node = source.nodes[0]
    let isPartition = division.rules.partitionHashes.contains(key)
    let found = try await Self.contents(of: Array(key.key.utf8), at: node)
    guard let contents = found ?? (isPartition ? .hash([:]) : nil) else { return nil }
    let reply = try await node.ask(RedisCommand("PEXPIRETIME", key.key))
    let expiresAt = try MoveSide.reading { () throws(RedisError) in try reply.integer() }
    let next = try await nextCopy(of: key, contents, division)
    let parts = division.rules.divide(
      contents, of: key, lastMilliseconds: division.lastMilliseconds, next: next)
    return (parts, expiresAt)
  }

  /// The space of the next copy for a reader, if the key is the state of a reader.
  private func nextCopy(
    of key: DividedKey, _ contents: KeyContents, _ division: MoveDivision
  ) async throws(BackupError) -> SpaceID? {
    guard let (copies, position) = division.rules.copies(readBy: key, contents) else { return nil }
    let reply = try await source.nodes[0].ask(
      RedisCommand("XRANGE", copies, "(" + position, "+", "COUNT", 1))
    return try MoveSide.reading { () throws(RedisError) in
      try Self.entries(reply).first?["space"].flatMap { SpaceID(key: $0) }
    }
  }

  // MARK: Values

  /// Nil if there is no such key.
  private static func contents(
    of key: [UInt8], at node: RedisSession
  ) async throws(BackupError) -> KeyContents? {
    let type = try await type(of: key, at: node)
    switch type {
    case "none": return nil
    case "hash":
      let reply = try await node.ask(RedisCommand("HGETALL", key))
      return .hash(try MoveSide.reading { () throws(RedisError) in try pairs(reply) })
    case "set":
      let reply = try await node.ask(RedisCommand("SMEMBERS", key))
      return .set(try MoveSide.reading { () throws(RedisError) in try members(reply) })
    case "zset":
      let reply = try await node.ask(RedisCommand("ZRANGE", key, 0, -1, "WITHSCORES"))
      return .sortedSet(try MoveSide.reading { () throws(RedisError) in try pairs(reply) })
    case "stream": return .stream(try await entries(of: key, at: node))
    default:
      throw BackupError(
        .redisFailed,
        "its key \(String(decoding: key, as: UTF8.self)) is a \(type), which Belfry does not know",
        at: node.endpoint.description)
    }
  }

  private static func entries(
    of key: [UInt8], at node: RedisSession
  ) async throws(BackupError) -> [KeyContents.Entry] {
    var all: [KeyContents.Entry] = []
    var from = "-"
    while true {
      let reply = try await node.ask(RedisCommand("XRANGE", key, from, "+", "COUNT", elementsAtOnce))
      let some = try MoveSide.reading { () throws(RedisError) in try entries(reply) }
      all += some
      guard some.count == elementsAtOnce, let last = some.last else { return all }
      from = "(" + String(decoding: last.id, as: UTF8.self)
    }
  }

  private static func entries(_ reply: RedisReply) throws(RedisError) -> [KeyContents.Entry] {
    try reply.array().map { element throws(RedisError) in
      let parts = try element.array(count: 2)
      return KeyContents.Entry(
        id: try parts[0].bytes(),
        fields: try parts[1].array().map { field throws(RedisError) in try field.bytes() })
    }
  }

  private static func writing(_ contents: KeyContents, to key: String) -> [RedisCommand] {
    switch contents {
    case .hash(let pairs): pairs.map { command("HSET", key, [$0.key, $0.value]) }
    case .set(let members): members.map { command("SADD", key, [$0]) }
    case .sortedSet(let scores): scores.map { command("ZADD", key, [$0.value, $0.key]) }
    case .stream(let entries): entries.map { command("XADD", key, [$0.id] + $0.fields) }
    }
  }

  private static func command(_ name: String, _ key: String, _ arguments: [KeyContents.Bytes]) -> RedisCommand
  {
    var command = RedisCommand(name, key)
    for argument in arguments { command.append(bytes: argument) }
    return command
  }
}
