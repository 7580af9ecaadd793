import BelfryModel
import BelfryRedis

// The records that the keyspace keeps of itself, and operations on it as a whole.

extension RedisStore {
  /// Called on each new connection, and by ``compareFormat()``.
  package var onSettings: ((SettingsFinding) -> Void)? {
    get { format.onSettings }
    set { format.onSettings = newValue }
  }

  /// Compares the keyspace's record again: another broker may have been told to write its settings there. If
  /// it has become another keyspace, the connection is given up, and is refused when it is made again.
  package func compareFormat() async throws(StoreError) {
    let place = "format record"
    try await checkRole(at: place)
    let found = try await pipeline([format.read], at: place)
    if try compare(found[0], at: place) {
      if format.hasToAdopt { try await adoptSettings(at: place) }
      if format.isSecretBehind { _ = try await pipeline([format.writingSecret], at: place) }
      return try await completeKeyspace()
    }
    // Somebody removed the record, or emptied Redis, while this broker worked here.
    format.onSettings?(.recordRemoved)
    let written = try await pipeline(format.writing + [format.read], at: place)
    _ = try compare(written[written.count - 1], at: place)
    try await completeKeyspace()
  }

  /// Redis refused to replace the keyspace's settings when the connection was made.
  private func adoptSettings(at place: String) async throws(StoreError) {
    let reply = try await pipeline([format.writingSettings], at: place)[0]
    _ = try reading(at: place) { () throws(RedisError) in try reply.integer() }
    format.noteAdopted()
  }

  /// Does the work that could not be done when the connection was made, for example because the master had
  /// too few replicas.
  private func completeKeyspace() async throws(StoreError) {
    try await makeMissingHashes()
    if redis.isCluster || noted.isNoted { return }
    let process = scanMark(of: partitions.all[0])
    let isDone = FunctionLibrary.areDone(
      try await call(FunctionLibrary.beginHistory(of: layout), at: "history"))
    if isDone, process == scanMark(of: partitions.all[0]) { noted.isNoted = true }
  }

  /// A broker that only reads would not learn that a single Redis has become a replica, so it asks. In a
  /// cluster, the map tells.
  private func checkRole(at place: String) async throws(StoreError) {
    if redis.isCluster { return }
    let replies = try await pipeline([RedisCommand("INFO", "replication")], at: place)
    try reading(at: place) { () throws(RedisError) in
      guard try RedisInfo(replies[0])["role"] == "slave" else { return }
      redis.lookAgain()
      throw RedisError(.unsuitable, cause: "it has become a replica", place: place)
    }
  }

  /// Asks all nodes for their memory and their disk. A node that is away is left out.
  package func readRoom() async throws(StoreError) -> RedisRoom {
    try await checkRights()
    var room = RedisRoom()
    var (mayDiskBeFull, failure): (Bool, StoreError?) = (false, nil)
    for (_, result) in await redis.sendToAll(RedisCommand("INFO", "memory", "persistence")) {
      do throws(StoreError) {
        let info = try reading(at: "room") { () throws(RedisError) in try RedisInfo(try result.get()) }
        room.memory.append(NodeMemory(info))
        room.risks.formUnion(Self.findRisks(in: info))
        mayDiskBeFull = mayDiskBeFull || Self.hasDiskError(info)
      } catch {
        failure = error
      }
    }
    // If one node is away, the others are not affected.
    if room.memory.isEmpty, let failure { throw failure }
    if mayDiskBeFull { room.isDiskFull = await isWriteRefusedForDisk() }
    room.partitionsAway = partitions.all.count { !redis.isServed(layout.slot(of: $0)) }
    return room
  }

  /// Gives the connections up if this program's user lacks a right. A function that needs it would end halfway. The connections
  /// are made again when the user has it.
  /// - Throws: `accessRefused`.
  private func checkRights() async throws(StoreError) {
    for (node, result) in await redis.sendToAll(FunctionLibrary.findMissingRights) {
      guard case .success(let reply) = result else { continue }
      do throws(RedisError) {
        try FunctionLibrary.refuseMissingRights(namedBy: reply)
      } catch {
        redis.reconnect(because: error)
        throw StoreError(error, at: "rights at \(node)")
      }
    }
  }

  private static func hasDiskError(_ info: RedisInfo) -> Bool {
    info["aof_last_write_status"] == "err" || info["rdb_last_bgsave_status"] == "err"
  }

  private static func findRisks(in info: RedisInfo) -> Set<DataRisk> {
    var risks: Set<DataRisk> = []
    if info["aof_enabled"] == "0" { risks.insert(.noLog) }
    // A Redis that does not tell its policy is not known to drop keys.
    if NodeMemory(info).limitBytes > 0, let policy = info["maxmemory_policy"], policy != "noeviction" {
      risks.insert(.eviction)
    }
    return risks
  }

  /// True if Redis refuses writes because of its disk. Whether it does so after an error of its disk depends
  /// on its configuration, which not every Redis shows. So each partition is asked for a write that changes
  /// nothing: no hash of a partition has this field.
  private func isWriteRefusedForDisk() async -> Bool {
    let writes = partitions.all.map { RedisCommand("HDEL", layout.partitionHash($0), "none") }
    return await pipelineEach(writes, at: "disk").contains { result in
      guard case .success(.error(let message)) = result else { return false }
      return RedisError.replied(message, to: "disk").writeRefusal == .disk
    }
  }

  /// Takes other secrets, when those of the deployment are rotated.
  package func take(secretFingerprint: String, others: [String]) {
    format.take(secretFingerprint: secretFingerprint, others: others)
  }

  private func compare(_ reply: RedisReply, at place: String) throws(StoreError) -> Bool {
    try reading(at: place) { () throws(RedisError) in
      do throws(RedisError) {
        return try format.compare(try FormatRecord(reply))
      } catch {
        if error.code == .unsuitable { redis.reconnect(because: error) }
        throw error
      }
    }
  }
}

extension NodeMemory {
  /// Redis leaves the buffers for replicas and for the append-only file out when it compares its memory with `maxmemory`.
  fileprivate init(_ info: RedisInfo) {
    func bytes(_ name: Substring) -> Int { info[name].flatMap { Int($0) } ?? 0 }
    self.init(
      usedBytes: bytes("used_memory") - bytes("mem_not_counted_for_evict"), limitBytes: bytes("maxmemory"))
  }
}

/// Whether all partitions have noted the history in which the connected Redis gives ids.
final class HistoryNote {
  var isNoted = false
}
