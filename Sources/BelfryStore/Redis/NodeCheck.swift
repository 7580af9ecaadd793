import BelfryRedis

/// Looks, on each new connection, whether this is a Redis that all of a keyspace's data can be written to and read from.
enum NodeCheck {
  static func setUp(at place: String, then following: RedisSetUp) -> RedisSetUp {
    RedisSetUp([RedisCommand("INFO", "server"), RedisCommand("INFO", "replication")]) {
      replies throws(RedisError) in
      _ = try RedisSetUp.refuseErrors(replies)
      let (server, replication) = (try RedisInfo(replies[0]), try RedisInfo(replies[1]))
      if let refusal = refusal(server, replication) {
        throw RedisError(.unsuitable, cause: refusal, place: place)
      }
      return following
    }
  }

  /// Whether a command was refused because the node is a replica, perhaps since a moment ago. Nothing was done then.
  static func isReplica(_ reply: RedisReply) -> Bool {
    if case .error(let message) = reply { isReplica(message) } else { false }
  }

  static func isReplica(_ message: String) -> Bool { message.hasPrefix("READONLY ") }

  static func refusal(_ server: RedisInfo, _ replication: RedisInfo) -> String? {
    switch server["redis_mode"] {
    case "cluster":
      // It would answer for its own slots, and all other accounts would be left without an answer.
      return
        "it is a node of a Redis Cluster, and Belfry keeps a keyspace on one Redis: name one without cluster-enabled"
    case "sentinel":
      return "it is a Sentinel, which holds no data: name the master that it watches"
    default:
      guard replication["role"] == "slave" else { return nil }
      let master = [replication["master_host"], replication["master_port"]].compactMap { $0.map(String.init) }
      return
        "it is a replica of \(master.joined(separator: ":")), where nothing can be written: name the master"
    }
  }
}
