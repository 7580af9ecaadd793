import BelfryBytes

enum ClusterCommands {
  static let specs: [CommandSpec] = [CommandSpec("CLUSTER", -2, .whileStale, .none, tell)]

  static func tell(_ call: CommandCall) throws(CommandError) -> SimulatedReply {
    guard let cluster = call.redis.cluster else {
      throw CommandError("ERR This instance has cluster support disabled")
    }
    switch String(decoding: call.arguments[1].uppercased, as: UTF8.self) {
    case "MYID": return .text(cluster.nodes[cluster.own].id)
    case "INFO": return .text(info(cluster))
    case "SLOTS": return slots(cluster)
    case "NODES": return .text(nodes(cluster))
    case "KEYSLOT" where call.arguments.count == 3:
      return .integer(ClusterSlot.of(key: call.arguments[2][...]))
    case "COUNTKEYSINSLOT" where call.arguments.count == 3:
      let slot = Int(try call.integer(2))
      return .integer(call.redis.database.keys.keys.count { ClusterSlot.of(key: $0[...]) == slot })
    default:
      throw CommandError(
        "ERR unknown subcommand '\(String(decoding: call.arguments[1], as: UTF8.self))'. Try CLUSTER HELP.")
    }
  }

  private static func info(_ cluster: ClusterView) -> String {
    let served = cluster.owners.count { $0 != nil }
    let facts = [
      "cluster_state:\(cluster.isServing ? "ok" : "fail")", "cluster_slots_assigned:\(served)",
      "cluster_slots_ok:\(served)", "cluster_known_nodes:\(cluster.nodes.count)",
      "cluster_size:\(Set(cluster.owners.compactMap(\.self)).count)",
      "cluster_current_epoch:\(cluster.epoch)", "cluster_my_epoch:\(cluster.epoch)",
    ]
    return facts.map { $0 + "\r\n" }.joined()
  }

  private static func slots(_ cluster: ClusterView) -> SimulatedReply {
    .array(
      cluster.ranges.map { range in
        let replicas = cluster.nodes.filter { $0.master == range.owner }
        let nodes = [cluster.nodes[range.owner]] + replicas
        return .array([.integer(range.first), .integer(range.last)] + nodes.map(node))
      })
  }

  private static func node(_ node: ClusterView.Node) -> SimulatedReply {
    .array([.text(node.host), .integer(node.port), .text(node.id), .array([])])
  }

  private static func nodes(_ cluster: ClusterView) -> String {
    cluster.nodes.enumerated().map { index, node in
      let role = node.master == nil ? "master" : "slave"
      var words = [
        node.id, "\(node.address)@\(node.port + 10_000)", index == cluster.own ? "myself,\(role)" : role,
        node.master.map { cluster.nodes[$0].id } ?? "-", "0", "0", String(cluster.epoch), "connected",
      ]
      words += cluster.ranges.filter { $0.owner == index }.map { range in
        range.first == range.last ? "\(range.first)" : "\(range.first)-\(range.last)"
      }
      if index == cluster.own { words += openSlots(cluster) }
      return words.joined(separator: " ") + "\n"
    }.joined()
  }

  private static func openSlots(_ cluster: ClusterView) -> [String] {
    cluster.leaving.sorted { $0.key < $1.key }.map { "[\($0.key)->-\(cluster.nodes[$0.value].id)]" }
      + cluster.coming.sorted { $0.key < $1.key }.map { "[\($0.key)-<-\(cluster.nodes[$0.value].id)]" }
  }
}
