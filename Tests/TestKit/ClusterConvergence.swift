extension RedisClusterServers {
  /// Waits until the nodes that answer agree with each other: each slot is served by one of them, each says that it
  /// serves, and each replica among them is linked, so that `WAIT` counts it.
  package func untilConverged() async throws {
    try await eventually(every: .milliseconds(100)) {
      try checkConvergence()
      return true
    }
  }

  private func checkConvergence() throws(FixtureError) {
    let answering = nodes.filter(\.answers)
    var tables: [ClusterNodesTable] = []
    for node in answering { tables.append(try node.nodesTable) }
    let ids = Set(tables.map(\.own.id))
    guard let first = tables.first else { throw FixtureError("no node answers") }

    for (node, table) in zip(answering, tables) {
      let known = table.rows.filter { ids.contains($0.id) }
      guard known.count == ids.count else {
        throw FixtureError("\(table.own.port) knows \(known.count) nodes")
      }
      if let failed = known.first(where: \.isFailed) {
        throw FixtureError("\(table.own.port) takes \(failed.port) for failed")
      }
      for row in first.rows where ids.contains(row.id) {
        guard known.first(where: { $0.id == row.id })?.part == row.part else {
          throw FixtureError("\(table.own.port) and \(first.own.port) do not agree on \(row.port)")
        }
      }
      guard try node.command("CLUSTER", "INFO").contains("cluster_state:ok") else {
        throw FixtureError("\(table.own.port) does not serve")
      }
    }
    let servedCount = tables.filter(\.own.isMaster).flatMap(\.own.slots).reduce(0) { $0 + $1.count }
    guard servedCount == Self.slotCount else { throw FixtureError("only \(servedCount) slots are served") }
    for (node, table) in zip(answering, tables) {
      try checkReplication(
        of: node, by: tables.count { $0.own.masterID == table.own.id },
        isMaster: table.own.isMaster)
    }
  }

  private func checkReplication(
    of node: RedisServer, by replicaCount: Int, isMaster: Bool
  ) throws(FixtureError) {
    let info = try node.command("INFO", "replication").split(separator: "\r\n")
    guard info.contains(isMaster ? "role:master" : "role:slave") else {
      throw FixtureError("a role is changing")
    }
    let isLinked =
      isMaster
      ? info.count { $0.contains("state=online") } == replicaCount : info.contains("master_link_status:up")
    guard isLinked else { throw FixtureError("a replica is not linked") }
  }
}
