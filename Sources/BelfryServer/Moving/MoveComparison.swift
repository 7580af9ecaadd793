import BelfryRedis
import BelfryStore

// Compares both sides while nothing can write.

extension MoveRun {
  /// - Throws: if one key differs.
  func compare(_ plan: MovePlan, _ report: inout MoveReport) async throws(BackupError) {
    var done = 0
    var names = Set(plan.keys.map(\.there))
    if let division = plan.division {
      names.formUnion(try await compareDivided(division, &report))
      done += division.keys.count
    }
    for some in plan.keys.chunks(of: Self.keysAtOnce) {
      for batch in try await batches(of: some) { try await compareAtOnce(batch, &report) }
      done += some.count
      progress(.compared(keys: done, of: plan.count))
    }
    try await refuseOtherKeys(names)
  }

  private func compareAtOnce(_ keys: [MovedKey], _ report: inout MoveReport) async throws(BackupError) {
    let here = try await Self.values(of: keys.map(\.here), at: source.nodes[0])
    let there = try await valuesAtTarget(of: keys.map(\.there))
    var unordered: [MovedKey] = []
    for (key, (one, other)) in zip(keys, zip(here, there)) {
      guard let dump = one.dump, let otherDump = other.dump else {
        try await checkExpired(key.there, one, other)
        report.expired += 1
        continue
      }
      guard one.expiresAt == other.expiresAt else {
        throw differing(key.there, "it expires at a different time")
      }
      report.compared += 1
      if dump == otherDump { continue }
      if dump.first == otherDump.first, Self.unorderedTypes.contains(dump.first ?? 0) {
        unordered.append(key)
      } else {
        try await compareContents(of: key)
      }
    }
    try await compareUnordered(unordered)
    report.entries += try await countEntries(of: keys.map(\.here))
  }

  /// Counts the entries of logs that were found equal.
  private func countEntries(of keys: [[UInt8]]) async throws(BackupError) -> Int {
    let logs = keys.filter { KeyspaceKey(String(decoding: $0, as: UTF8.self))?.isLog == true }
    let replies = try await source.nodes[0].ask(logs.map { RedisCommand("XLEN", $0) })
    return try MoveSide.reading { () throws(RedisError) in
      var sum = 0
      for reply in replies { sum += Int(try reply.integer()) }
      return sum
    }
  }

  func differing(_ key: [UInt8], _ how: String) -> BackupError {
    BackupError(
      .countsDiffer,
      "the key \(String(decoding: key, as: UTF8.self)) differs from that at \(source.place): \(how)",
      at: target.place, advice: "did something else write there, or at the source?")
  }

  /// Handles a key that one side or both lack. This is right if the key has expired by the clock of one of
  /// them.
  private func checkExpired(
    _ key: [UInt8], _ one: MovedValue, _ other: MovedValue
  ) async throws(BackupError) {
    guard one.dump != nil || other.dump != nil else { return }
    let expiresAt = one.dump == nil ? other.expiresAt : one.expiresAt
    let now = max(
      try await MoveSide.milliseconds(of: source.nodes[0]),
      try await MoveSide.milliseconds(of: target.nodes[target.node(of: key)]))
    guard expiresAt > 0, expiresAt <= now else {
      throw differing(key, other.dump == nil ? "the target lacks it" : "only the target has it")
    }
  }

  private func refuseOtherKeys(_ keys: Set<[UInt8]>) async throws(BackupError) {
    try await target.scan { index, found throws(BackupError) in
      for key in found where !keys.contains(key) {
        let value = try await Self.values(of: [key], at: self.target.nodes[index])[0]
        try await self.checkExpired(key, MovedValue(dump: nil, expiresAt: -2), value)
      }
    }
  }
}

// MARK: - By what is in them

extension MoveRun {
  private static let entriesAtOnce = 1_000
  /// Sets and hashes that are tables, by the first byte of their `DUMP`: their elements have no order.
  private static let unorderedTypes: [UInt8] = [2, 4]

  /// Compares sets and hashes many at a time, for most of Belfry's hashes are tables.
  private func compareUnordered(_ keys: [MovedKey]) async throws(BackupError) {
    if keys.isEmpty { return }
    let types = try await source.nodes[0].ask(keys.map { RedisCommand("TYPE", $0.here) })
    let names = types.map { $0 == .status("hash") ? "HGETALL" : "SMEMBERS" }
    let here = try await source.nodes[0].ask(zip(names, keys).map { RedisCommand($0, $1.here) })
    for (number, node) in target.nodes.enumerated() {
      let places = keys.indices.filter { target.node(of: keys[$0].there) == number }
      let there = try await node.ask(places.map { RedisCommand(names[$0], keys[$0].there) })
      for (place, reply) in zip(places, there) {
        let isEqual = try MoveSide.reading { () throws(RedisError) in
          types[place] == .status("hash")
            ? try Self.pairs(here[place]) == Self.pairs(reply)
            : try Self.members(here[place]) == Self.members(reply)
        }
        if !isEqual { try await refuseUnlessExpired(keys[place]) }
      }
    }
  }

  /// Compares each field, member or entry of a key whose bytes differ. The bytes may differ because large
  /// hashes and sets have no order, and because releases of Redis have their own forms.
  private func compareContents(of key: MovedKey) async throws(BackupError) {
    let (one, other) = (source.nodes[0], target.nodes[target.node(of: key.there)])
    let type = try await Self.type(of: key.here, at: one)
    let otherType = try await Self.type(of: key.there, at: other)
    guard type == otherType else { throw differing(key.there, "it is a \(otherType) and not a \(type)") }
    let isEqual: Bool
    switch type {
    case "hash", "set": return try await compareUnordered([key])
    case "stream": isEqual = try await compareEntries(of: key, one, other)
    case "zset":
      let command = { RedisCommand("ZRANGE", $0, 0, -1, "WITHSCORES") }
      isEqual = try await one.ask(command(key.here)) == other.ask(command(key.there))
    case "list":
      let command = { RedisCommand("LRANGE", $0, 0, -1) }
      isEqual = try await one.ask(command(key.here)) == other.ask(command(key.there))
    case "string":
      isEqual = try await one.ask(RedisCommand("GET", key.here)) == other.ask(RedisCommand("GET", key.there))
    default: throw differing(key.there, "it is a \(type), which Belfry does not know")
    }
    if !isEqual { try await refuseUnlessExpired(key) }
  }

  /// The key may have expired between two requests.
  private func refuseUnlessExpired(_ key: MovedKey) async throws(BackupError) {
    let one = try await Self.values(of: [key.here], at: source.nodes[0])[0]
    let other = try await valuesAtTarget(of: [key.there])[0]
    guard one.dump == nil || other.dump == nil else { throw differing(key.there, "its contents differ") }
    try await checkExpired(key.there, one, other)
  }

  static func type(of key: [UInt8], at node: RedisSession) async throws(BackupError) -> String {
    let reply = try await node.ask(RedisCommand("TYPE", key))
    return try MoveSide.reading { () throws(RedisError) in try reply.string() }
  }

  static func pairs(
    _ reply: RedisReply
  ) throws(RedisError) -> [ArraySlice<UInt8>: ArraySlice<UInt8>] {
    var pairs: [ArraySlice<UInt8>: ArraySlice<UInt8>] = [:]
    let words = try reply.array()
    var reader = words.reader
    for _ in 0..<(words.count / 2) {
      let field = try reader.bytes()
      pairs[field] = try reader.bytes()
    }
    return pairs
  }

  static func members(_ reply: RedisReply) throws(RedisError) -> Set<ArraySlice<UInt8>> {
    var members: Set<ArraySlice<UInt8>> = []
    let words = try reply.array()
    var reader = words.reader
    for _ in 0..<words.count { members.insert(try reader.bytes()) }
    return members
  }

  private func compareEntries(
    of key: MovedKey, _ one: RedisSession, _ other: RedisSession
  ) async throws(BackupError) -> Bool {
    let (facts, otherFacts) = (
      try await Self.streamFacts(of: key.here, at: one), try await Self.streamFacts(of: key.there, at: other)
    )
    guard facts == otherFacts else { return false }
    var from = "-"
    while true {
      let command = { RedisCommand("XRANGE", $0, from, "+", "COUNT", Self.entriesAtOnce) }
      let (here, there) = (
        try await one.ask(command(key.here)), try await other.ask(command(key.there))
      )
      guard here == there else { return false }
      let last = try MoveSide.reading { () throws(RedisError) in
        let entries = try here.array()
        return entries.count < Self.entriesAtOnce ? nil : try entries[entries.count - 1].array()[0].string()
      }
      guard let last else { return true }
      from = "(" + last
    }
  }

  /// The facts that a stream reports, except for its layout in memory.
  private static func streamFacts(
    of key: [UInt8], at node: RedisSession
  ) async throws(BackupError) -> [String: RedisReply] {
    let reply = try await node.ask(RedisCommand("XINFO", "STREAM", key))
    let compared = [
      "length", "last-generated-id", "max-deleted-entry-id", "entries-added", "groups",
    ]
    return try MoveSide.reading { () throws(RedisError) in
      let words = Array(try reply.array())
      var facts: [String: RedisReply] = [:]
      for index in stride(from: 0, to: words.count - 1, by: 2) {
        let name = try words[index].string()
        if compared.contains(name) { facts[name] = words[index + 1] }
      }
      return facts
    }
  }
}
