import BelfryBytes
import SimulatedRedis
import TestKit
import Testing

/// A node of a cluster sends commands elsewhere in the words of a real one.
@Suite struct ClusterTests {
  @Test func nodesAnswerAsThoseOfRedis() async throws {
    try await withRedisCluster(masters: 2) { servers in
      var pair = try NodePair(servers)
      // Nothing of the tag exists at first.
      try pair.check(Self.attempts)
      try pair.moveSlot()
      try pair.check(Self.attempts)
      try pair.check([["SET", "{b}1", "x"]], at: 1, isAsking: true)
      try pair.check(Self.attempts)
      try pair.check([["UNLINK", "{b}1"]], at: 0)
      try pair.check(Self.attempts)
    }
  }

  /// On both nodes. `b` has a slot of the first node, and `tag` one of the second.
  private static let attempts: [[String]] = [
    ["GET", "{b}1"], ["GET", "{b}2"], ["GET", "tag"], ["EXISTS", "{b}1", "{b}2"], ["EXISTS", "{b}1", "tag"],
    ["EXISTS", "{b}1", "{b}1"], ["SET", "{b}1", "x"], ["EXISTS", "{b}1", "{b}2"], ["EXISTS", "{b}3", "{b}2"],
    ["SPUBLISH", "{b}", "x"], ["SPUBLISH", "tag", "x"], ["MULTI"], ["GET", "{b}1"], ["GET", "tag"], ["EXEC"],
    ["MULTI"], ["GET", "{b}1"], ["GET", "{b}2"], ["EXEC"], ["MULTI"], ["PING"], ["EXEC"],
    ["EVAL", "return redis.call('GET', KEYS[1])", "1", "{b}1"],
    ["EVAL", "return redis.call('GET', 'tag')", "0"],
    ["EVAL", "return redis.call('GET', '{b}1')", "0"],
    ["EVAL", "#!lua\nredis.call('GET', '{b}1') return redis.call('GET', 'tag')", "1", "{b}1"],
    ["EVAL", "#!lua\nredis.call('GET', '{b}1') return redis.call('GET', 'b')", "0"],
    ["SELECT", "0"], ["SELECT", "1"], ["CLUSTER", "MYID"], ["CLUSTER", "KEYSLOT", "b"], ["SCAN", "0"],
    ["CLUSTER", "COUNTKEYSINSLOT", "3300"], ["XINFO", "STREAM", "tag"], ["COPY", "{b}1", "tag"],
  ]
}

/// Two masters and their simulations.
private struct NodePair {
  private let servers: [RedisServer]
  private let real: [RealRedis]
  private let simulated: [SimulatedRedis]
  private var clients: [SimulatedClient]
  private var view: ClusterView

  init(_ cluster: RedisClusterServers) throws {
    servers = Array(cluster.masters)
    real = try servers.map { try RealRedis($0) }
    let nodes = try servers.map { server in
      ClusterView.Node(
        id: try server.command("CLUSTER", "MYID"), host: "127.0.0.1", port: Int(server.port ?? 0))
    }
    let border = cluster.firstSlot(ofMaster: 1)
    view = ClusterView(nodes: nodes, own: 0, owners: (0..<ClusterSlot.count).map { $0 < border ? 0 : 1 })
    simulated = [SimulatedRedis(), SimulatedRedis()]
    clients = [SimulatedClient(id: 1), SimulatedClient(id: 2)]
    let (owner, other) = (view.owners[ClusterSlot.of(key: "b")], view.owners[ClusterSlot.of(key: "tag")])
    #expect(owner != other)
    if owner == 1 { throw FixtureError("the tag belongs to the second node") }
    join()
  }

  private func join() {
    for own in 0...1 {
      var view = view
      view.own = own
      if own == 0 { view.coming = [:] } else { view.leaving = [:] }
      _ = simulated[own].joinCluster(view)
    }
  }

  /// Begins to move the slot of the tag from the first node to the second.
  mutating func moveSlot() throws {
    let slot = ClusterSlot.of(key: "b")
    try servers[1].command("CLUSTER", "SETSLOT", "\(slot)", "IMPORTING", view.nodes[0].id)
    try servers[0].command("CLUSTER", "SETSLOT", "\(slot)", "MIGRATING", view.nodes[1].id)
    (view.leaving[slot], view.coming[slot]) = (1, 0)
    join()
  }

  mutating func check(_ commands: [[String]]) throws {
    for isAsking in [false, true] {
      for node in 0...1 { try check(commands, at: node, isAsking: isAsking) }
    }
  }

  mutating func check(_ commands: [[String]], at node: Int, isAsking: Bool = false) throws {
    for words in commands {
      if isAsking { try compare(["ASKING"], at: node) }
      try compare(words, at: node)
    }
  }

  private mutating func compare(_ words: [String], at node: Int) throws {
    let command = words.map { Bytes($0.utf8) }
    let expected = try real[node].ask(command)
    let answer = simulated[node].execute(command, on: &clients[node], at: 1_000_000).replies.last ?? .null
    let isSame = simulated[node].areEqual(expected, answer, to: command)
    #expect(isSame, "node \(node), \(words): Redis says \(expected.text), the simulated one \(answer.text)")
  }
}
