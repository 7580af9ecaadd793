/// The role of a node, by its own answer on each new connection.
struct NodeRole: Hashable {
  enum Kind: Hashable {
    case single
    /// A node of a cluster, master or replica.
    case clusterNode
  }

  var kind: Kind
  var isReplica: Bool
  /// The process by its `run_id`: each process has another one.
  var process: String

  static let commands = [RedisCommand("INFO", "server"), RedisCommand("INFO", "replication")]

  /// - Throws: `unsuitable` if it is neither a cluster's node nor a master that all data can be written to and read from.
  init(_ replies: [RedisReply], at endpoint: RedisEndpoint) throws(RedisError) {
    _ = try RedisSetUp.refuseErrors(replies)
    let (server, replication) = (try RedisInfo(replies[0]), try RedisInfo(replies[1]))
    isReplica = replication["role"] == "slave"
    kind = server.mode == "cluster" ? .clusterNode : .single
    guard let id = server["run_id"] else {
      throw RedisError(.unexpectedReply, cause: "INFO names no run_id", place: "connection set-up")
    }
    process = String(id)
    if isReplica, kind == .single, endpoint.sentinels != nil {
      // A failover is going on, so the Sentinels are asked again.
      throw RedisError(.unavailable, cause: "the Sentinels still name a replica", place: endpoint.description)
    }
    if let refusal = refusal(server.mode, replication, endpoint) {
      throw RedisError(.unsuitable, cause: refusal, place: endpoint.description)
    }
  }

  private func refusal(_ mode: Substring?, _ replication: RedisInfo, _ endpoint: RedisEndpoint) -> String? {
    if mode == "sentinel" {
      return "it is a Sentinel, which holds no data: write redis+sentinel:// and the name of its master, "
        + "as in redis+sentinel://host:26379/NAME"
    }
    if kind == .clusterNode, endpoint.sentinels != nil {
      return "it is a node of a cluster, which needs no Sentinels: name one of its nodes with redis://"
    }
    if kind == .clusterNode {
      return endpoint.database == 0
        ? nil : "a cluster has only database 0: leave the number out of the URL"
    }
    guard isReplica else { return nil }
    let master = [replication["master_host"], replication["master_port"]].compactMap { $0.map(String.init) }
    return
      "it is a replica of \(master.joined(separator: ":")), which cannot be written to: name the master"
  }
}
