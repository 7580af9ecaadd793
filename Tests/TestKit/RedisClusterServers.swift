import Glibc
import Synchronization

/// A Redis Cluster of the test's own: redis-servers on free ports of the loopback interface. Its nodes can be killed,
/// frozen and promoted (``RedisServer/kill()``, ``RedisServer/pause()``, ``failOver(to:_:)``), and slots can be moved,
/// whole or half.
package final class RedisClusterServers: Sendable {
  package static let slotCount = 16_384

  /// How long Redis waits for a node before it counts as failed. Elections take as long again.
  package static let nodeTimeoutMilliseconds = 2_000

  /// How many nodes began as masters.
  package let masterCount: Int
  let options: RedisServer.Options
  private let allNodes = Mutex<[RedisServer]>([])

  /// Those that began as masters, then the replica of each, then those that joined later.
  package var nodes: [RedisServer] { allNodes.withLock { $0 } }
  /// Those that began as masters.
  package var masters: ArraySlice<RedisServer> { nodes.prefix(masterCount) }
  /// The first of the slots with which that master began.
  package func firstSlot(ofMaster master: Int) -> Int { master * Self.slotCount / masterCount }
  /// The one that began as the replica of that master.
  package func replica(of master: Int) -> RedisServer { nodes[masterCount + master] }

  /// The URL of one of its nodes, from which a client finds the others.
  package var url: String { urls[0] }
  package var urls: [String] { nodes.compactMap(\.tcpURL) }

  private init(masterCount: Int, _ options: RedisServer.Options) {
    self.masterCount = masterCount
    self.options = options
  }

  /// A cluster that has converged. The caller has to call `remove()` in the end.
  ///
  /// - Parameter replicas: true if each master has a replica.
  /// - Parameter options: the options of each node; its settings take precedence over those of the fixture.
  package static func started(
    masters: Int, replicas: Bool, _ options: RedisServer.Options = RedisServer.Options()
  ) async throws(FixtureError) -> RedisClusterServers {
    let cluster = RedisClusterServers(masterCount: masters, options)
    do {
      for _ in 0..<(replicas ? 2 * masters : masters) { try await cluster.startNode() }
      try await cluster.join()
      return cluster
    } catch {
      await cluster.remove()
      throw FixtureError("the cluster does not form: \(error)")
    }
  }

  package func remove() async {
    for node in nodes { await node.remove() }
  }
}

/// Gives the body a cluster, and removes it with its data afterwards, even if the body throws.
package func withRedisCluster<R>(
  masters: Int = 3, replicas: Bool = false, _ options: RedisServer.Options = RedisServer.Options(),
  _ body: (RedisClusterServers) async throws -> R
) async throws -> R {
  let cluster = try await RedisClusterServers.started(masters: masters, replicas: replicas, options)
  do {
    let result = try await body(cluster)
    await cluster.remove()
    return result
  } catch {
    await cluster.remove()
    throw error
  }
}

// MARK: - Joining

extension RedisClusterServers {
  /// Adds a master without slots. Returns when all know it.
  package func addMaster() async throws -> RedisServer {
    let node = try await startNode()
    try meet(node)
    try await untilConverged()
    return node
  }

  /// Adds a replica. Returns when it is linked.
  package func addReplica(of master: RedisServer) async throws -> RedisServer {
    let node = try await startNode()
    try meet(node)
    try await replicate(master, by: node)
    try await untilConverged()
    return node
  }

  @discardableResult
  private func startNode() async throws(FixtureError) -> RedisServer {
    var options = options
    options.listensOnTCP = true
    var settings = [
      "cluster-enabled": "yes", "cluster-node-timeout": "\(Self.nodeTimeoutMilliseconds)",
      "cluster-require-full-coverage": "no",
      // A replica of any age takes over, and nothing waits for replicas that may come.
      "cluster-replica-validity-factor": "0", "repl-diskless-sync-delay": "0",
      "enable-debug-command": "yes",
    ]
    if let password = options.password { settings["masterauth"] = password }
    options.settings = settings.merging(options.settings) { _, given in given }
    let node = try await RedisServer.started(options)
    allNodes.withLock { $0.append(node) }
    return node
  }

  private func join() async throws {
    for (index, master) in masters.enumerated() {
      try master.command("CLUSTER", "SET-CONFIG-EPOCH", "\(index + 1)")
      let (first, last) = (firstSlot(ofMaster: index), firstSlot(ofMaster: index + 1) - 1)
      try master.command("CLUSTER", "ADDSLOTSRANGE", "\(first)", "\(last)")
    }
    let nodes = nodes
    for node in nodes.dropFirst() { try meet(node) }
    for (master, replica) in zip(nodes, nodes.dropFirst(masterCount)) {
      try await replicate(master, by: replica)
    }
    try await untilConverged()
  }

  private func meet(_ node: RedisServer) throws(FixtureError) {
    let busPort = try node.command("CONFIG", "GET", "cluster-port").split(separator: "\n").last ?? ""
    guard let one = nodes.first(where: { $0.answers && $0 !== node }) else {
      throw FixtureError("there is no node to meet")
    }
    try one.command("CLUSTER", "MEET", "127.0.0.1", "\(node.port ?? 0)", "\(busPort)")
  }

  /// Until the node has heard of its master, it refuses.
  private func replicate(_ master: RedisServer, by replica: RedisServer) async throws {
    let id = try master.clusterID
    try await eventually(every: .milliseconds(20)) {
      try replica.command("CLUSTER", "REPLICATE", id)
      return true
    }
  }
}
