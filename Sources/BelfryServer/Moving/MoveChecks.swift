import BelfryBytes
import BelfryRedis
import BelfryStore

// The checks before anything is changed.

/// The facts in INFO of a node that a move depends on.
struct MoveNodeFacts {
  let process: String
  let product: String
  let usedBytes: Int
  /// 0: as much as the machine has.
  let maxBytes: Int
  let dropsKeys: Bool

  init(_ node: RedisSession) async throws(BackupError) {
    let (server, memory) = (try await node.facts("server"), try await node.facts("memory"))
    process = String(server["run_id"] ?? "")
    product = server.product
    usedBytes = memory["used_memory"].flatMap { Int($0) } ?? 0
    maxBytes = memory["maxmemory"].flatMap { Int($0) } ?? 0
    dropsKeys = maxBytes > 0 && memory["maxmemory_policy"] != "noeviction"
  }
}

extension MoveRun {
  /// The largest difference between the clocks of two machines. Keys expire by these clocks.
  static let clockDifferenceMax: Int64 = 10_000
  /// The memory that a value needs at the target for each byte at the source. Pages and tables differ there.
  private static let roomFactor = 1.1

  /// The outline without keys.
  func outline(ofFormat format: String, claimed: String? = nil) async throws(BackupError) -> MoveOutline {
    let (before, after) = try partitions(ofFormat: format, claimed: claimed)
    let (here, there) = (try await MoveNodeFacts(source.nodes[0]), try await MoveNodeFacts(target.nodes[0]))
    return MoveOutline(
      from: source.place, to: target.place, fromProduct: here.product, toProduct: there.product,
      masters: target.isCluster ? target.nodes.count : nil, before: before, after: after)
  }

  /// Refuses if both sides are the same Redis. Two databases of one Redis have the same live channels.
  func checkAreTwo() async throws(BackupError) {
    let here = try await MoveNodeFacts(source.nodes[0])
    for node in target.nodes where try await MoveNodeFacts(node).process == here.process {
      throw MoveSide.unsuitable(node.endpoint, "it is the same Redis as \(source.place)")
    }
  }

  func checkNodes() async throws(BackupError) {
    let here = try await MoveNodeFacts(source.nodes[0])
    for (index, node) in target.nodes.enumerated() {
      let there = try await MoveNodeFacts(node)
      guard try await readsValues(index) else {
        throw MoveSide.unsuitable(
          node.endpoint, "it is \(there.product), which cannot read the values of \(here.product)")
      }
      guard !there.dropsKeys else {
        throw MoveSide.unsuitable(
          node.endpoint, "it drops keys when its memory is full", advice: "set maxmemory-policy noeviction")
      }
      let difference =
        try await MoveSide.milliseconds(of: node) - MoveSide.milliseconds(of: source.nodes[0])
      guard abs(difference) <= Self.clockDifferenceMax else {
        throw MoveSide.unsuitable(
          node.endpoint,
          "its clock differs by \(abs(difference) / 1_000) seconds from that of \(source.place)",
          advice: "correct the clocks: otherwise keys would expire earlier or later")
      }
    }
  }

  /// True if the node accepts a value in the source's form. The version numbers do not show which release of
  /// Redis or Valkey reads the values of another. So the node is given one value for a moment.
  private func readsValues(_ index: Int) async throws(BackupError) -> Bool {
    let record = try await Self.values(of: [Array(FormatRecordField.key.utf8)], at: source.nodes[0])
    guard let dump = record.first?.dump else { throw overtaken(source) }
    // A key in one of the node's own slots. With this many names, one of them fits.
    let names = (0..<ClusterSlot.count).lazy.map { Array("belfry:move-trial:\($0)".utf8) }
    guard let key = names.first(where: { target.node(of: $0) == index }) else { return true }
    var restore = RedisCommand("RESTORE", key, 1_000)
    restore.append(bytes: dump)
    restore.append("REPLACE")
    let node = target.nodes[index]
    let replies = try await node.replies(to: [restore, RedisCommand("UNLINK", key)])
    guard case .error(let message) = replies[0] else { return true }
    // Source: Redis and Valkey, src/cluster.c, restoreCommand.
    if message.contains("DUMP payload version") { return false }
    throw BackupError(RedisError.replied(message, to: "RESTORE at \(node.endpoint)"))
  }

  /// Counts the keys to be moved, and checks that each node has enough memory for its part.
  func measure(_ outline: MoveOutline) async throws(BackupError) -> MoveOutline {
    var outline = outline
    var needed = [Int](repeating: 0, count: target.nodes.count)
    var seen: Set<[UInt8]> = []
    let rules = outline.isDivided ? KeyspaceDivision(from: outline.before, to: outline.after) : nil
    try await source.scan { _, found throws(BackupError) in
      let keys = found.filter { seen.insert($0).inserted }
      let sizes = try await sizes(of: keys)
      for (key, size) in zip(keys, sizes) {
        outline.bytes += size
        switch rules?.destination(of: String(decoding: key, as: UTF8.self)) {
        case .whole(let name): needed[target.node(of: Array(name.utf8))] += size
        case .divided(let key):
          // Any of the places may get all of it.
          for place in rules?.places(of: key) ?? [] { needed[target.node(of: Array(place.key.utf8))] += size }
        case .nowhere: continue
        case nil: needed[target.node(of: key)] += size
        }
      }
      outline.keys += keys.count
      progress(.counting(keys: outline.keys))
    }
    for (node, needed) in zip(target.nodes, needed) {
      let facts = try await MoveNodeFacts(node)
      let wanted = facts.usedBytes + Int(Double(needed) * Self.roomFactor)
      guard facts.maxBytes == 0 || wanted <= facts.maxBytes else {
        throw BackupError(
          .noRoom,
          "maxmemory is \(facts.maxBytes), and with its part of the keyspace the node needs \(wanted) bytes: raise maxmemory",
          at: node.endpoint.description)
      }
    }
    return outline
  }

  /// Estimates of the memory that keys take at the source; 0 for a key that is gone.
  func sizes(of keys: [[UInt8]]) async throws(BackupError) -> [Int] {
    let replies = try await source.nodes[0].ask(keys.map { RedisCommand("MEMORY", "USAGE", $0) })
    return try MoveSide.reading { () throws(RedisError) in
      try replies.map { reply throws(RedisError) in Int(try reply.ifPresent?.integer() ?? 0) }
    }
  }
}
