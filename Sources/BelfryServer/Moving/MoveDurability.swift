import BelfryRedis
import BelfrySystem

// Waits so that no node can lose a record that the move relies on. The target must have saved the copies
// before the source says that it was moved, and the source must have saved that record before the target
// opens. If the source lost the record, both sides would be open.

extension MoveRun {
  /// The time that replicas may take to receive what was written.
  private static let replicasMilliseconds = 60_000
  /// After this time Redis has begun to flush everything written before, with `appendfsync everysec`.
  private static let flushBegins: Duration = .milliseconds(1_300)
  /// The time that a flush may take.
  private static let flushMax: Duration = .seconds(60)

  /// Waits until all replicas and the disks of the target have the copies.
  func settleTarget(_ report: inout MoveReport) async throws(BackupError) {
    for node in target.nodes { try await waitForReplicas(of: node) }
    for node in try await waitForDisks(of: target) {
      report.remarks.append("\(node) has no append-only file (appendonly no)")
    }
  }

  /// Waits until the replicas of the source have its record. A replica that takes over without it would open the source again.
  func settleReplicasOfSource() async throws(BackupError) {
    for node in source.nodes { try await waitForReplicas(of: node) }
  }

  /// Waits until the replicas and the disk of the source have its record.
  func settleSource() async throws(BackupError) -> [String] {
    try await settleReplicasOfSource()
    return try await waitForDisks(of: source).map {
      "\($0) has no append-only file (appendonly no). If it restarts from an older snapshot, brokers with its address would "
        + "use the old data. Make sure that no broker has its address"
    }
  }

  private func waitForReplicas(of node: RedisSession) async throws(BackupError) {
    let facts = try await node.facts("replication")
    guard let count = facts["connected_slaves"].flatMap({ Int($0) }), count > 0 else { return }
    let reply = try await node.ask(RedisCommand("WAIT", count, Self.replicasMilliseconds))
    let reached = try MoveSide.reading { () throws(RedisError) in try reply.integer() }
    guard reached >= count else {
      throw BackupError(
        .redisFailed,
        "the latest writes reached \(reached) of its \(count) replicas: check the others, then run the command again",
        at: node.endpoint.description)
    }
  }

  /// Waits for a flush that began after the last write.
  /// - Returns: the nodes that have no append-only file.
  private func waitForDisks(of side: MoveSide) async throws(BackupError) -> [String] {
    var nodes: [RedisSession] = []
    var without: [String] = []
    for node in side.nodes {
      if try await node.facts("persistence")["aof_enabled"] == "1" {
        nodes.append(node)
      } else {
        without.append(node.endpoint.description)
      }
    }
    if !nodes.isEmpty { _ = Poll.readable([], until: .now + Self.flushBegins) }
    for node in nodes { try await waitForFlush(of: node) }
    return without
  }

  private func waitForFlush(of node: RedisSession) async throws(BackupError) {
    let deadline = ContinuousClock.now + Self.flushMax
    while true {
      let facts = try await node.facts("persistence")
      guard facts["aof_last_write_status"] == "ok", .now < deadline else {
        throw BackupError(
          .redisFailed, "it has not written its append-only file: is the disk full or slow?",
          at: node.endpoint.description)
      }
      if facts["aof_pending_bio_fsync"] == "0", facts["aof_buffer_length"] == "0" { return }
      _ = Poll.readable([], until: .now + .milliseconds(20))
    }
  }
}
