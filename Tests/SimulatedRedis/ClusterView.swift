import BelfryBytes

/// The cluster as one node knows it.
package struct ClusterView: Hashable, Sendable {
  package struct Node: Hashable, Sendable {
    /// 40 hexadecimal digits.
    package var id: String
    package var host: String
    package var port: Int
    /// The place of its master among the nodes; nil of a master.
    package var master: Int?

    package init(id: String, host: String, port: Int, master: Int? = nil) {
      (self.id, self.host, self.port, self.master) = (id, host, port, master)
    }

    var address: String { "\(host):\(port)" }
  }

  package var nodes: [Node]
  /// The place of this node among them.
  package var own: Int
  /// For each slot the place of its master; nil if nobody serves it.
  package var owners: [Int?]
  /// Slots on their way from this node, and the places of the nodes that get them.
  package var leaving: [Int: Int] = [:]
  /// Slots on their way to this node, and the places of the nodes that had them.
  package var coming: [Int: Int] = [:]
  package var epoch = 1
  /// False if this node is cut off from most masters, or a slot is served by nobody.
  package var isServing = true

  package init(nodes: [Node], own: Int, owners: [Int?]) {
    (self.nodes, self.own, self.owners) = (nodes, own, owners)
  }

  /// The slots of each master in ranges.
  var ranges: [(first: Int, last: Int, owner: Int)] {
    var ranges: [(first: Int, last: Int, owner: Int)] = []
    for (slot, owner) in owners.enumerated() {
      guard let owner else { continue }
      if let range = ranges.last, range.owner == owner, range.last == slot - 1 {
        ranges[ranges.count - 1].last = slot
      } else {
        ranges.append((slot, slot, owner))
      }
    }
    return ranges
  }
}

extension SimulatedRedis {
  /// Gives the node another view of its cluster.
  /// - Returns: messages to subscribers whose channels are now served elsewhere. Their connections have to be told with
  ///   ``SimulatedClient/forget(_:)``.
  package func joinCluster(_ view: ClusterView) -> [Push] {
    cluster = view
    var ended: [Push] = []
    for channel in listeners.keys.sorted(by: { $0.precedes($1) }) {
      let owner = view.owners[ClusterSlot.of(key: channel[...])]
      guard owner != view.own, owner == nil || view.nodes[view.own].master != owner else { continue }
      for client in listeners.removeValue(forKey: channel) ?? [] {
        let left = listeners.values.count { $0.contains(client) }
        ended.append(Push(client: client, message: ChannelCommands.ended(channel, left: left)))
      }
    }
    return ended
  }

  /// The error that sends a command elsewhere, or nil if this node can carry it out.
  func redirection(
    of spec: CommandSpec, _ arguments: [Bytes], _ client: SimulatedClient
  ) -> CommandError? {
    guard let cluster else { return nil }
    let isEnd = spec.name == "EXEC"
    var commands = [(spec, arguments)]
    if isEnd {
      commands = (client.queue ?? []).compactMap { command in
        CommandTable.spec(of: command).map { ($0, command) }
      }
    }
    let keys = commands.flatMap { $0.0.keys(of: $0.1) }
    let isOfChannels = commands.contains { $0.0.traits.contains(.ofChannels) }
    return cluster.redirection(of: keys, isAsking: client.isAsking, isOfChannels) { findKey($0) != nil }
  }
}

extension ClusterView {
  /// Redis's `getNodeByQuery`.
  func redirection(
    of keys: [Bytes], isAsking: Bool, _ isOfChannels: Bool, isThere: (Bytes) -> Bool
  ) -> CommandError? {
    guard let first = keys.first else { return nil }
    let slot = ClusterSlot.of(key: first[...])
    guard let owner = owners[slot] else { return CommandError("CLUSTERDOWN Hash slot not served") }
    if keys.contains(where: { ClusterSlot.of(key: $0[...]) != slot }) {
      return CommandError("CROSSSLOT Keys in request don't hash to the same slot")
    }
    if !isServing { return CommandError("CLUSTERDOWN The cluster is down") }
    let isOpen = !isOfChannels && (owner == own ? leaving[slot] != nil : coming[slot] != nil)
    let missing = isOpen ? keys.count { !isThere($0) } : 0
    if owner == own, let next = leaving[slot], missing > 0 {
      return missing < keys.count ? .tryAgain : CommandError("ASK \(slot) \(nodes[next].address)")
    }
    if owner != own, coming[slot] != nil, isAsking {
      return Set(keys).count > 1 && missing > 0 ? .tryAgain : nil
    }
    return owner == own ? nil : CommandError("MOVED \(slot) \(nodes[owner].address)")
  }
}

extension CommandError {
  fileprivate static let tryAgain = CommandError("TRYAGAIN Multiple keys request during rehashing of slot")
}

extension SimulatedClient {
  /// Notes that the channel's slot has moved away, after ``SimulatedRedis/join(_:)``.
  package mutating func forget(_ channel: Bytes) { channels.removeAll { $0 == channel } }
}
