package import BelfryModel
import BelfryRedis

/// Data that operators keep in addition to notifications: keys of back ends, and the record of the acts of
/// trusted callers. There are few of them, so they have keys of their own and belong to no partition.
extension RedisStore {
  // MARK: Keys of back ends

  /// The version changes each time that keys are made or revoked: it is a word that each new key brings, and
  /// the number of keys.
  package func backEndKeysVersion() async throws(StoreError) -> String {
    let place = "keys"
    let replies = try await pipeline(
      [
        RedisCommand("HGET", RedisLayout.keys, RedisLayout.keysVersion),
        RedisCommand("HLEN", RedisLayout.keys),
      ],
      at: place)
    return try reading(at: place) { () throws(RedisError) in
      Self.version(try replies[0].ifPresent?.string(), fields: try replies[1].integer())
    }
  }

  private static func version(_ word: String?, fields: Int64) -> String { "\(word ?? "")/\(fields)" }

  /// Records by id, and their version.
  package func backEndKeys() async throws(StoreError) -> (
    version: String, records: [(id: String, text: String)]
  ) {
    let place = "keys"
    let replies = try await pipeline([RedisCommand("HGETALL", RedisLayout.keys)], at: place)
    return try reading(at: place) { () throws(RedisError) in
      let fields = try replies[0].array()
      var word: String?
      var records: [(id: String, text: String)] = []
      for index in stride(from: 0, to: fields.count - 1, by: 2) {
        let (name, value) = (try fields[index].string(), try fields[index + 1].string())
        if name == RedisLayout.keysVersion { word = value } else { records.append((name, value)) }
      }
      return (Self.version(word, fields: Int64(fields.count / 2)), records)
    }
  }

  /// - Parameter version: a word that was not used before.
  package func putBackEndKey(_ id: EntityID, _ record: String, version: String) async throws(StoreError) {
    let write = RedisCommand("HSET", RedisLayout.keys, id.text, record, RedisLayout.keysVersion, version)
    _ = try await refusingErrors([write], at: "keys")
  }

  /// Revokes a key. This takes no memory: a back end that has filled Redis may be the one to lock out.
  /// - Returns: true if there was such a key.
  package func removeBackEndKey(_ id: EntityID) async throws(StoreError) -> Bool {
    let place = "keys"
    let replies = try await refusingErrors([RedisCommand("HDEL", RedisLayout.keys, id.text)], at: place)
    return try reading(at: place) { () throws(RedisError) in try replies[0].integer() == 1 }
  }

  // MARK: The audit record

  /// Entries of the audit record: 23 MB, measured with entries of 195 bytes. Whole nodes of the stream are dropped at
  /// its end.
  package static let auditEntriesMax = 100_000

  package func appendAudit(_ entry: String) async throws(StoreError) {
    let append = RedisCommand(
      "XADD", RedisLayout.audit, "MAXLEN", "~", Self.auditEntriesMax, "*", "entry", entry)
    _ = try await refusingErrors([append], at: "audit")
  }

  /// Entries of the audit record, the latest first.
  /// - Parameters:
  ///   - before: only entries older than this one.
  ///   - since: no entry older than this time, in milliseconds.
  package func auditEntries(
    before: AuditPlace?, since: Int64, count: Int
  ) async throws(StoreError) -> [(place: AuditPlace, text: String)] {
    let place = "audit"
    let end = before.map { "(\($0.text)" } ?? "+"
    let command = RedisCommand("XREVRANGE", RedisLayout.audit, end, "\(max(since, 0))", "COUNT", count)
    let replies = try await pipeline([command], at: place)
    return try reading(at: place) { () throws(RedisError) in
      var entries: [(place: AuditPlace, text: String)] = []
      let found = try replies[0].array()
      for index in 0..<found.count {
        let entry = try found[index].array(count: 2)
        let fields = try entry[1].array()
        guard let id = AuditPlace(text: try entry[0].string()), fields.count > 1 else { continue }
        entries.append((id, try fields[1].string()))
      }
      return entries
    }
  }

  func refusingErrors(_ commands: [RedisCommand], at place: String) async throws(StoreError)
    -> [RedisReply]
  {
    let replies = try await pipeline(commands, at: place)
    for case .error(let message) in replies {
      throw StoreError(RedisError.replied(message, to: place), at: place)
    }
    return replies
  }
}
