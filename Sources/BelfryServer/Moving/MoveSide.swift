import BelfryBytes
import BelfryLoop
import BelfryRedis
import BelfryStore

/// One of the two places of a move: a single Redis, or the masters of a cluster. Each node has one
/// connection, which is made only once. If it is lost, all later requests fail, and so does the move.
struct MoveSide: Sendable {
  let endpoint: RedisEndpoint
  let nodes: [RedisSession]
  let isCluster: Bool
  /// The index of the node that has each slot; nil for a single Redis.
  private let owners: [Int]?

  var place: String { endpoint.description }

  func node(of key: [UInt8]) -> Int { owners.map { $0[ClusterSlot.of(key: key[...])] } ?? 0 }

  /// The node with the format record.
  var record: RedisSession { nodes[node(of: Array(FormatRecordField.key.utf8))] }

  func close() async {
    for node in nodes { await node.close() }
  }
}

// MARK: - Connecting

extension MoveSide {
  /// - Throws: if it is a replica, a Sentinel, or a cluster in which a slot is not served.
  static func open(_ endpoint: RedisEndpoint, on loop: EventLoop) async throws(BackupError) -> MoveSide {
    let seed = RedisSession(loop, endpoint, onceAs: OtherCommands.moves.connectionName)
    await seed.start()
    do throws(BackupError) {
      let server = try await seed.facts("server")
      switch server.mode {
      case "cluster": return try await openCluster(seed, on: loop)
      case "sentinel":
        throw unsuitable(endpoint, "it is a Sentinel, which holds no data: name the master that it watches")
      default:
        guard try await seed.facts("replication")["role"] != "slave" else {
          throw unsuitable(endpoint, "it is a replica, which cannot be written to: name the master")
        }
        return MoveSide(endpoint: endpoint, nodes: [seed], isCluster: false, owners: nil)
      }
    } catch {
      await seed.close()
      throw error
    }
  }

  private static func openCluster(
    _ seed: RedisSession, on loop: EventLoop
  ) async throws(BackupError) -> MoveSide {
    guard seed.endpoint.database == 0 else {
      throw unsuitable(seed.endpoint, "a cluster has only database 0: leave the number out of the URL")
    }
    let reply = try await seed.ask(RedisCommand("CLUSTER", "SLOTS"))
    let map = try reading { () throws(RedisError) in try SlotMap(reply, from: seed.endpoint.address) }
    var addresses: [SlotMap.Address] = []
    var owners: [Int] = []
    for slot in 0..<ClusterSlot.count {
      guard let owner = map.owner(of: slot) else {
        throw unsuitable(
          seed.endpoint, "no node of the cluster serves the slot \(slot)",
          advice: "redis-cli --cluster fix repairs it")
      }
      let index = addresses.firstIndex(of: owner) ?? addresses.count
      if index == addresses.count { addresses.append(owner) }
      owners.append(index)
    }
    await seed.close()
    let side = MoveSide(
      endpoint: seed.endpoint,
      nodes: addresses.map { address in
        var endpoint = seed.endpoint
        endpoint.address = address
        return RedisSession(loop, endpoint, onceAs: OtherCommands.moves.connectionName)
      }, isCluster: true, owners: owners)
    for node in side.nodes { await node.start() }
    do throws(BackupError) {
      try await side.checkState()
      return side
    } catch {
      await side.close()
      throw error
    }
  }

  /// Checks that each node is in a working cluster. A node that the others have lost reports a bad state, and
  /// may have been replaced.
  private func checkState() async throws(BackupError) {
    for node in nodes {
      let reply = try await node.ask(RedisCommand("CLUSTER", "INFO"))
      let state = try Self.reading { () throws(RedisError) in try RedisInfo(reply)["cluster_state"] }
      guard state == "ok" else {
        throw Self.unsuitable(
          node.endpoint, "it says that its cluster is not whole (cluster_state)",
          advice: "redis-cli --cluster check shows what is missing")
      }
    }
  }

  static func unsuitable(
    _ endpoint: RedisEndpoint, _ cause: String, advice: String? = nil
  ) -> BackupError {
    BackupError(.redisUnsuitable, cause, at: endpoint.description, advice: advice)
  }

  /// Reads a reply, and turns a Redis error into the error of the command.
  static func reading<Value>(_ read: () throws(RedisError) -> Value) throws(BackupError) -> Value {
    do throws(RedisError) {
      return try read()
    } catch {
      throw BackupError(error)
    }
  }
}

// MARK: - The format record

/// The fields of a format record, in Redis's order.
struct MoveFormatFields: Sendable {
  let all: [(name: String, value: String)]

  subscript(_ name: String) -> String? { all.first { $0.name == name }?.value }
  var format: String? { self[FormatRecordField.format] }
  var record: MoveRecord? { format.flatMap { MoveRecord($0) } }
  /// The last move that took part.
  var move: String? { self[FormatRecordField.move] }
  /// True if brokers may work on this side since that move.
  func isOpen(after id: String) -> Bool { format != nil && record == nil && move == id }
}

extension MoveSide {
  func readRecord() async throws(BackupError) -> MoveFormatFields {
    let reply = try await record.ask(RedisCommand("HGETALL", FormatRecordField.key))
    return try Self.reading { () throws(RedisError) in
      let words = try reply.array()
      var all: [(name: String, value: String)] = []
      for index in stride(from: 0, to: words.count - 1, by: 2) {
        all.append((try words[index].string(), try words[index + 1].string()))
      }
      return MoveFormatFields(all: all)
    }
  }

  /// Sets fields of the record in one step, if its format is still the expected one. An expected format of
  /// nil means that there is no record.
  /// - Returns: true if the fields were set.
  func setRecord(
    _ fields: [(name: String, value: String)], ifFormatIs expected: String?
  ) async throws(BackupError) -> Bool {
    var command = RedisCommand("EVAL", Self.settingRecord, 1, FormatRecordField.key, expected ?? "")
    for field in fields {
      command.append(field.name)
      command.append(field.value)
    }
    return try await record.ask(command) == .integer(1)
  }

  func removeRecord(ifFormatIs expected: String) async throws(BackupError) -> Bool {
    try await record.ask(
      RedisCommand("EVAL", Self.removingRecord, 1, FormatRecordField.key, expected)) == .integer(1)
  }

  // A full Redis is a reason to move, so both scripts may run above `maxmemory`.
  private static let settingRecord = """
    #!lua flags=allow-oom
    if (redis.call('HGET', KEYS[1], 'format') or '') ~= ARGV[1] then return 0 end
    redis.call('HSET', KEYS[1], unpack(ARGV, 2))
    return 1
    """
  private static let removingRecord = """
    #!lua flags=allow-oom
    if (redis.call('HGET', KEYS[1], 'format') or '') ~= ARGV[1] then return 0 end
    return redis.call('DEL', KEYS[1])
    """
}

// MARK: - Keys

extension MoveSide {
  /// Visits all keys of the keyspace except the format record, some of them perhaps twice.
  func scan(
    _ visit: (_ node: Int, [[UInt8]]) async throws(BackupError) -> Void
  ) async throws(BackupError) {
    let record = Array(FormatRecordField.key.utf8)
    for (index, node) in nodes.enumerated() {
      var cursor = RedisSession.scanBeginning
      repeat {
        let step = try await node.scanStep(KeyspaceKey.pattern, cursor)
        cursor = step.cursor
        let others = step.keys.filter { $0 != record }
        if !others.isEmpty { try await visit(index, others) }
      } while cursor != RedisSession.scanBeginning
    }
  }

  /// Removes all keys of the keyspace except the format record.
  func removeKeys() async throws(BackupError) {
    try await scan { index, keys throws(BackupError) in
      // Each command has one key, because the keys of a node are in many slots.
      _ = try await nodes[index].ask(keys.map { RedisCommand("UNLINK", $0) })
    }
  }

  /// Milliseconds since 1970 by the clock of a node.
  static func milliseconds(of node: RedisSession) async throws(BackupError) -> Int64 {
    let reply = try await node.ask(RedisCommand("TIME"))
    return try reading { () throws(RedisError) in
      let parts = try reply.array(count: 2)
      return try parts[0].integer() * 1_000 + parts[1].integer() / 1_000
    }
  }
}
