import Synchronization

/// A master and its replica with three Sentinels that watch them, on free ports of the loopback interface. Each of the
/// five can be killed, frozen and started again.
package final class RedisSentinelServers: Sendable {
  package struct Options: Sendable {
    /// The options of the two nodes; their settings take precedence over those of the fixture.
    package var node = RedisServer.Options()
    /// The password of the Sentinels.
    package var password: String?

    package init() {}
  }

  /// The Sentinels' name for the master.
  package static let name = "belfry"
  package static let quorum = 2
  package static let downAfterMilliseconds = 1_000
  package static let failoverTimeoutMilliseconds = 3_000

  /// The one that began as the master, and the one that began as its replica.
  package let nodes: [RedisServer]
  package let sentinels: [RedisServer]
  private let options: Options

  private init(_ nodes: [RedisServer], _ sentinels: [RedisServer], _ options: Options) {
    (self.nodes, self.sentinels, self.options) = (nodes, sentinels, options)
  }

  /// For a broker that is told of all Sentinels.
  package var url: String { url(of: sentinels) }

  /// - Parameter name: the master's.
  package func url(of sentinels: some Sequence<RedisServer>, name: String = name) -> String {
    let hosts = sentinels.map { "127.0.0.1:\($0.port ?? 0)" }.joined(separator: ",")
    let user = options.node.password.map { ":\($0)@" } ?? ""
    return "redis+sentinel://\(user)\(hosts)/\(name)"
      + (options.password.map { "?sentinel_password=\($0)" } ?? "")
  }

  /// Five servers that know of each other. The caller has to call `remove()` in the end.
  package static func started(
    _ options: Options = Options()
  ) async throws(FixtureError) -> RedisSentinelServers {
    var (nodes, sentinels): ([RedisServer], [RedisServer]) = ([], [])
    do {
      nodes.append(try await startNode(options, of: nil))
      nodes.append(try await startNode(options, of: nodes[0]))
      for _ in 0..<3 { sentinels.append(try await startSentinel(options, of: nodes[0])) }
      let servers = RedisSentinelServers(nodes, sentinels, options)
      try await servers.untilWatched()
      return servers
    } catch {
      for server in nodes + sentinels { await server.remove() }
      throw FixtureError("the Sentinels do not come together: \(error)")
    }
  }

  package func remove() async {
    for server in sentinels + nodes { await server.remove() }
  }
}

/// Gives the body the five servers, and always removes them with their data afterwards. The error of a body that
/// fails then says what the servers have logged: only they know why one was elected.
package func withRedisSentinels<R>(
  _ options: RedisSentinelServers.Options = RedisSentinelServers.Options(),
  _ body: (RedisSentinelServers) async throws -> R
) async throws -> R {
  let servers = try await RedisSentinelServers.started(options)
  do {
    let result = try await body(servers)
    await servers.remove()
    return result
  } catch {
    let logs = (servers.nodes + servers.sentinels).map { "port \($0.port ?? 0):\n\($0.log)" }
    await servers.remove()
    throw FixtureError("\(error)\n\(logs.joined(separator: "\n"))")
  }
}

// MARK: - Starting

extension RedisSentinelServers {
  private static func startNode(
    _ given: Options, of master: RedisServer?
  ) async throws(FixtureError) -> RedisServer {
    var options = given.node
    options.listensOnTCP = true
    var settings = ["repl-diskless-sync-delay": "0", "repl-ping-replica-period": "1"]
    if let master { settings["replicaof"] = "127.0.0.1 \(master.port ?? 0)" }
    if let password = options.password { settings["masterauth"] = password }
    options.settings = settings.merging(options.settings) { _, given in given }
    return try await RedisServer.started(options)
  }

  private static func startSentinel(
    _ given: Options, of master: RedisServer
  ) async throws(FixtureError) -> RedisServer {
    var options = RedisServer.Options()
    (options.listensOnTCP, options.password) = (true, given.password)
    var lines = [
      "sentinel monitor \(name) 127.0.0.1 \(master.port ?? 0) \(quorum)",
      "sentinel down-after-milliseconds \(name) \(downAfterMilliseconds)",
      "sentinel failover-timeout \(name) \(failoverTimeoutMilliseconds)",
    ]
    if let password = given.node.password { lines.append("sentinel auth-pass \(name) \(password)") }
    if let password = given.password { lines.append("sentinel sentinel-pass \(password)") }
    options.sentinelLines = lines
    return try await RedisServer.started(options)
  }

  /// Until each Sentinel knows the replica and the two others, and the replica is in step.
  package func untilWatched() async throws(FixtureError) {
    do {
      try await eventually(every: .milliseconds(50)) {
        for sentinel in sentinels {
          let words = try sentinel.command("SENTINEL", "MASTER", Self.name).split(separator: "\n")
          func fact(_ name: Substring) -> Substring? {
            words.firstIndex(of: name).map { words[words.index(after: $0)] }
          }
          guard fact("num-slaves") == "1", fact("num-other-sentinels") == "2", fact("flags") == "master"
          else {
            return false
          }
        }
        return try master.command("INFO", "replication").contains("state=online")
      }
    } catch {
      throw FixtureError("\(error)")
    }
  }
}

// MARK: - Who is what

extension RedisSentinelServers {
  /// The node that is a master now, of those that answer.
  package var master: RedisServer {
    get throws(FixtureError) {
      for node in nodes where node.answers {
        if try node.command("ROLE").hasPrefix("master") { return node }
      }
      throw FixtureError("no node is master")
    }
  }

  /// Waits until a node is master and the Sentinels that answer say so.
  package func untilMaster(_ node: RedisServer) async throws {
    try await eventually("it does not become master", every: .milliseconds(10)) {
      guard try node.command("ROLE").hasPrefix("master") else { return false }
      return try sentinels.filter(\.answers).allSatisfy {
        try $0.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", Self.name).hasSuffix("\n\(node.port ?? 0)")
      }
    }
  }

  /// Starts a node that was killed as a replica of the other, which no Sentinel elects. It is empty: on a machine that is held
  /// up, the Sentinels would otherwise take the other for down and leave it for this one.
  package func startReplica(_ node: RedisServer) async throws(FixtureError) {
    let other = nodes[0] === node ? nodes[1] : nodes[0]
    try await node.start(with: ["replicaof": "127.0.0.1 \(other.port ?? 0)", "replica-priority": "0"])
  }

  /// Waits until a node is a replica in step with the other.
  package func untilReplica(_ node: RedisServer) async throws {
    try await eventually("it does not become a replica", every: .milliseconds(10)) {
      try node.command("ROLE").hasPrefix("slave") && node.command("ROLE").contains("connected")
    }
  }
}
