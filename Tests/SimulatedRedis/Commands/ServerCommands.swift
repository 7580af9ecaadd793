/// Commands about the process.
enum ServerCommands {
  static let specs: [CommandSpec] = [
    CommandSpec("TIME", 1, .always, .none, time),
    CommandSpec("INFO", -1, .always, .none, info),
  ]

  static func time(_ call: CommandCall) -> SimulatedReply {
    let (seconds, microseconds) = call.redis.now.quotientAndRemainder(dividingBy: 1_000_000)
    return .array([.text(String(seconds)), .text(String(microseconds))])
  }

  /// Tells the facts that Belfry looks at.
  static func info(_ call: CommandCall) -> SimulatedReply {
    let wanted = call.arguments(from: 1).map(\.lowercased)
    let lines = sections(call.redis).filter { name, _ in
      wanted.isEmpty || wanted.contains(Bytes(name.lowercased().utf8))
    }.map { name, facts in
      "# \(name)\r\n" + facts.map { "\($0.0):\($0.1)\r\n" }.joined()
    }
    return .text(lines.joined(separator: "\r\n"))
  }

  private typealias Fact = (String, String)

  private static func sections(_ redis: SimulatedRedis) -> [(String, [Fact])] {
    [
      ("Server", server(redis)), ("Memory", memory(redis)), ("Persistence", persistence(redis)),
      ("Replication", replication(redis)),
      ("Cluster", [("cluster_enabled", redis.cluster == nil ? "0" : "1")]),
    ]
  }

  private static func server(_ redis: SimulatedRedis) -> [Fact] {
    [
      ("redis_version", "7.0.15"), ("redis_mode", redis.cluster == nil ? "standalone" : "cluster"),
      ("run_id", redis.options.runID), ("tcp_port", String(redis.options.port)),
    ]
  }

  private static func memory(_ redis: SimulatedRedis) -> [Fact] {
    [
      ("used_memory", String(redis.usedMemory)), ("maxmemory", String(redis.memoryLimit ?? 0)),
      ("maxmemory_policy", "noeviction"),
    ]
  }

  private static func persistence(_ redis: SimulatedRedis) -> [Fact] {
    let isSnapshotBad = redis.diskFailure == .snapshot
    let isFileBad = redis.diskFailure != nil && !isSnapshotBad
    return [
      ("loading", redis.isLoading ? "1" : "0"), ("rdb_last_bgsave_status", isSnapshotBad ? "err" : "ok"),
      ("aof_enabled", "1"), ("aof_last_write_status", isFileBad ? "err" : "ok"),
    ]
  }

  private static func replication(_ redis: SimulatedRedis) -> [Fact] {
    var facts: [Fact] = [("role", redis.isReplica ? "slave" : "master")]
    if let master = redis.master {
      facts += [
        ("master_host", master.host), ("master_port", String(master.port)),
        ("master_link_status", master.isUp ? "up" : "down"),
      ]
    }
    let replicas = redis.confirmedOffsets.sorted { $0.key < $1.key }
    facts.append(("connected_slaves", String(replicas.count)))
    for (index, replica) in replicas.enumerated() {
      let line = "ip=10.0.0.\(replica.key),port=6379,state=online,offset=\(replica.value),lag=0"
      facts.append(("slave\(index)", line))
    }
    return facts + [("master_repl_offset", String(redis.log.offset))]
  }
}
