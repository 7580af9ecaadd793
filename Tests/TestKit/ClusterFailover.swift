extension RedisClusterServers {
  package enum Failover: String, Sendable, CaseIterable {
    /// Both agree, and nothing is lost.
    case graceful = ""
    /// The replica does not ask its master.
    case force = "FORCE"
    /// Nor any other.
    case takeover = "TAKEOVER"
  }

  /// A replica asks again after so long. Redis gives up a failover by itself after five seconds.
  private static let repetition: Duration = .seconds(6)

  /// Makes a replica the master in its master's place. Returns when it is, and when its master, if it answers, is a replica.
  package func failOver(to replica: RedisServer, _ kind: Failover = .graceful) async throws {
    let masterID = try replica.nodesTable.own.masterID
    let master = try nodes.first { try $0.answers && $0.clusterID == masterID }
    var asked: ContinuousClock.Instant?
    try await eventually("it does not become master") {
      if try replica.isMaster {
        guard let master, master.answers else { return true }
        return try !master.isMaster
      }
      if let asked, .now < asked + Self.repetition { return false }
      try replica.command(["CLUSTER", "FAILOVER"] + (kind == .graceful ? [] : [kind.rawValue]))
      asked = .now
      return false
    }
  }

  /// Waits until a replica has taken over by itself, because its master is gone.
  package func untilMaster(_ node: RedisServer) async throws {
    try await eventually("it does not become master") { try node.isMaster }
  }
}
