import BelfryRedis
import BelfryStore

// What is looked at before anything is changed.

/// What INFO says of a node that a move depends on.
struct MoveNodeFacts {
  let process: String
  let version: String
  private let versionNumbers: [Int]
  let usedBytes: Int
  /// 0: as much as there is.
  let maxBytes: Int
  let dropsKeys: Bool

  init(_ node: RedisSession) async throws(BackupError) {
    let (server, memory) = (try await node.facts("server"), try await node.facts("memory"))
    process = String(server["run_id"] ?? "")
    version = String(server["redis_version"] ?? "")
    versionNumbers = version.split(separator: ".").prefix(2).map { Int($0) ?? 0 }
    usedBytes = memory["used_memory"].flatMap { Int($0) } ?? 0
    maxBytes = memory["maxmemory"].flatMap { Int($0) } ?? 0
    dropsKeys = maxBytes > 0 && memory["maxmemory_policy"] != "noeviction"
  }

  func isOlder(than other: MoveNodeFacts) -> Bool {
    versionNumbers.lexicographicallyPrecedes(other.versionNumbers)
  }
}

extension MoveRun {
  /// By how much the clocks of two machines may differ. Keys expire by them.
  static let clockDifferenceMax: Int64 = 10_000
  /// What a value needs at the target, for each byte at the source: other pages, other tables.
  private static let roomFactor = 1.1

  /// The outline without keys.
  func outline(ofFormat format: String) async throws(BackupError) -> MoveOutline {
    guard let partitions = partitionCount(ofFormat: format) else {
      throw BackupError(
        .partitionsDiffer,
        "its format record says \"\(format)\", and this release moves data of version \(Keyspace.dataVersion)",
        at: source.place)
    }
    if let wanted = partitionsWanted, wanted != partitions {
      throw BackupError(
        .partitionsDiffer,
        "this keyspace has \(partitions) partitions, and a move to another number is not possible yet",
        at: source.place, advice: "leave --partitions out, or say --partitions \(partitions)")
    }
    let (here, there) = (try await MoveNodeFacts(source.nodes[0]), try await MoveNodeFacts(target.nodes[0]))
    return MoveOutline(
      from: source.place, to: target.place, fromVersion: here.version, toVersion: there.version,
      masters: target.isCluster ? target.nodes.count : nil, partitions: partitions)
  }

  /// Two databases of one Redis have the same live channels.
  func checkAreTwo() async throws(BackupError) {
    let here = try await MoveNodeFacts(source.nodes[0])
    for node in target.nodes where try await MoveNodeFacts(node).process == here.process {
      throw MoveSide.unsuitable(node.endpoint, "it is the same Redis as \(source.place)")
    }
  }

  func checkNodes() async throws(BackupError) {
    let here = try await MoveNodeFacts(source.nodes[0])
    for node in target.nodes {
      let there = try await MoveNodeFacts(node)
      guard !there.isOlder(than: here) else {
        throw MoveSide.unsuitable(
          node.endpoint, "it is Redis \(there.version), which cannot read the values of Redis \(here.version)"
        )
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
          advice: "set the clocks right: what expires would expire earlier or later")
      }
    }
  }

  /// Counts what is to be moved, and looks whether each node has the memory for its part.
  func measure(_ outline: MoveOutline) async throws(BackupError) -> MoveOutline {
    var outline = outline
    var needed = [Int](repeating: 0, count: target.nodes.count)
    var seen: Set<[UInt8]> = []
    try await source.scan { _, found throws(BackupError) in
      let keys = found.filter { seen.insert($0).inserted }
      let sizes = try await sizes(of: keys)
      for (key, size) in zip(keys, sizes) {
        needed[target.node(of: key)] += size
        outline.bytes += size
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
          "it needs \(wanted) bytes with its part of the keyspace, and maxmemory is \(facts.maxBytes)",
          at: node.endpoint.description)
      }
    }
    return outline
  }

  /// Estimates of what keys take in the source's memory; 0 of one that is gone.
  func sizes(of keys: [[UInt8]]) async throws(BackupError) -> [Int] {
    let replies = try await source.nodes[0].ask(keys.map { RedisCommand("MEMORY", "USAGE", $0) })
    return try MoveSide.reading { () throws(RedisError) in
      try replies.map { reply throws(RedisError) in Int(try reply.ifPresent?.integer() ?? 0) }
    }
  }
}
