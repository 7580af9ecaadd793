/// One node's view of all nodes of a cluster: the reply to CLUSTER NODES.
///
/// Source: redis.io, "CLUSTER NODES": `id ip:port@bus flags master ping pong epoch link slot…`.
struct ClusterNodesTable {
  struct Row: Equatable {
    let id: String
    let port: UInt16
    let isMaster: Bool
    /// Whether this node takes it for failed, or has reason to.
    let isFailed: Bool
    /// nil of a master.
    let masterID: String?
    let epoch: Int
    let slots: [ClosedRange<Int>]

    /// The facts that nodes agree on when they have heard of everything.
    struct Part: Equatable {
      let isMaster: Bool
      let masterID: String?
      let slots: [ClosedRange<Int>]
    }
    var part: Part { Part(isMaster: isMaster, masterID: masterID, slots: slots) }
  }

  let rows: [Row]
  /// The one that was asked.
  let own: Row

  init(_ text: String) throws(FixtureError) {
    var rows: [Row] = []
    var own: Row?
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      guard words.count >= 8,
        let port = UInt16(words[1].prefix { $0 != "@" }.split(separator: ":").last ?? "")
      else { throw FixtureError("not a line of CLUSTER NODES: \(line)") }
      let flags = words[2].split(separator: ",")
      let row = Row(
        id: words[0], port: port, isMaster: flags.contains("master"),
        isFailed: flags.contains("fail") || flags.contains("fail?"),
        masterID: words[3] == "-" ? nil : words[3], epoch: Int(words[6]) ?? 0,
        // A slot on the move is also listed in brackets.
        slots: words[8...].filter { !$0.hasPrefix("[") }.compactMap(slotRange))
      rows.append(row)
      if flags.contains("myself") { own = row }
    }
    guard let own else { throw FixtureError("a node that does not know itself:\n\(text)") }
    self.rows = rows
    self.own = own
  }
}

private func slotRange(_ word: String) -> ClosedRange<Int>? {
  let ends = word.split(separator: "-").compactMap { Int($0) }
  guard let first = ends.first, let last = ends.last else { return nil }
  return first...last
}

extension RedisServer {
  package var clusterID: String {
    get throws(FixtureError) { try command("CLUSTER", "MYID") }
  }

  /// As it says itself.
  package var isMaster: Bool {
    get throws(FixtureError) { try command("ROLE").hasPrefix("master") }
  }

  var nodesTable: ClusterNodesTable {
    get throws(FixtureError) { try ClusterNodesTable(command("CLUSTER", "NODES")) }
  }
}
