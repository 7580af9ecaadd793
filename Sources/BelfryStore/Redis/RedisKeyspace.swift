import BelfryModel
import BelfryRedis

// The records that the keyspace keeps of itself, and operations on it as a whole.

extension RedisStore {
  /// Told on each new connection, and by ``compareFormat()``.
  package var onSettings: ((SettingsFinding) -> Void)? {
    get { format.onSettings }
    set { format.onSettings = newValue }
  }

  /// Compares again what the keyspace says of itself: another broker may have been told to write its settings there.
  /// If it has become another keyspace, the connection is given up, and is refused when it is made again.
  package func compareFormat() async throws(StoreError) {
    let place = "format record"
    try await checkRole(at: place)
    let found = try await pipeline([format.read], at: place)
    if try compare(found[0], at: place) {
      if format.isSecretBehind { _ = try await pipeline([format.writingSecret], at: place) }
      return try await completeKeyspace()
    }
    // Somebody removed it while this broker worked here; until another broker writes one, it is as it was.
    let written = try await pipeline(format.writing + [format.read], at: place)
    _ = try compare(written[written.count - 1], at: place)
    try await completeKeyspace()
  }

  /// Does what could not be done when the connection was made, say because the master had too few replicas.
  private func completeKeyspace() async throws(StoreError) {
    try await makeMissingHashes()
    if redis.isCluster || noted.isNoted { return }
    let process = scanMark(of: partitions.all[0])
    let isDone = FunctionLibrary.areDone(
      try await call(FunctionLibrary.beginHistory(of: layout), at: "history"))
    if isDone, process == scanMark(of: partitions.all[0]) { noted.isNoted = true }
  }

  /// Whoever only reads would not be told that a single Redis has become a replica. In a cluster, its map tells.
  private func checkRole(at place: String) async throws(StoreError) {
    if redis.isCluster { return }
    let replies = try await pipeline([RedisCommand("INFO", "replication")], at: place)
    try reading(at: place) { () throws(RedisError) in
      guard try RedisInfo(replies[0])["role"] == "slave" else { return }
      redis.lookAgain()
      throw RedisError(.unsuitable, cause: "it has become a replica", place: place)
    }
  }

  /// Whether one of the nodes is full.
  package func isMemoryFull() async throws(StoreError) -> Bool {
    var (isFull, answers, failure): (Bool, Int, StoreError?) = (false, 0, nil)
    for (_, result) in await redis.sendToAll(RedisCommand("INFO", "memory")) {
      do throws(StoreError) {
        let info = try reading(at: "memory") { () throws(RedisError) in try RedisInfo(try result.get()) }
        isFull = isFull || Self.isMemoryFull(info)
        answers += 1
      } catch {
        failure = error
      }
    }
    // One node that is away says nothing of the others.
    if answers == 0, let failure { throw failure }
    return isFull
  }

  private static func isMemoryFull(_ info: RedisInfo) -> Bool {
    guard let used = info["used_memory"].flatMap({ Int($0) }),
      let limit = info["maxmemory"].flatMap({ Int($0) })
    else { return false }
    return limit > 0 && used > limit
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

/// Whether all partitions have noted the history in which the connected Redis gives ids.
final class HistoryNote {
  var isNoted = false
}
