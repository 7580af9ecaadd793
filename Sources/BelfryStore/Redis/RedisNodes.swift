import BelfryModel
import BelfryRedis

/// The report of a node that holds partitions, for operators.
package struct NodeReport: Sendable, Encodable {
  package struct Replica: Sendable, Encodable {
    package var place: String
    /// `online` if it is in step.
    package var state: String
    /// The bytes that the master has written and the replica has not confirmed.
    package var bytesBehind: Int
  }

  package var place: String
  package var isConnected: Bool
  /// The number of partitions that it holds.
  package var partitions: Int
  package var replicas: [Replica] = []
  package var usedMemoryBytes: Int?
  /// The reason why it could not be asked.
  package var problem: String?
}

/// A partition on its way from one node to another.
package struct MovingPartition: Sendable, Encodable {
  package var partition: Int
  package var from: String
  /// The name that the cluster gives the other node.
  package var to: String
}

package struct NodesReport: Sendable, Encodable {
  package var isCluster: Bool
  /// The number of replicas that must have a write before it is acknowledged; 0: none.
  package var replicasPromised: Int
  package var nodes: [NodeReport]
  package var moving: [MovingPartition]
  /// Partitions that no node is known to hold.
  package var unserved: Int
  /// A warning of acknowledged data that may be lost; nil if no loss is known to be possible.
  package var warning: String?
}

extension NodesReport {
  /// Warns of a replica that no write waits for, since it may become the master.
  static func warning(_ nodes: [NodeReport], replicasPromised promised: Int) -> String? {
    guard promised > 0, let node = nodes.first(where: { $0.replicas.count > promised }) else { return nil }
    return
      "\(node.place) has \(node.replicas.count) replicas, but writes wait for only \(promised) of them, so a replica "
      + "without acknowledged writes may become the master. Set the broker's setting replicas to "
      + "\(node.replicas.count), or see docs/sentinel.md or docs/cluster.md"
  }
}

extension RedisStore {
  /// The nodes, by their answers now. A node that does not answer is listed, too.
  package func nodes() async -> NodesReport {
    var held: [String: Int] = [:]
    var unserved = 0
    for partition in partitions.all {
      if let place = redis.place(of: layout.slot(of: partition)) {
        held[place, default: 0] += 1
      } else {
        unserved += 1
      }
    }
    let infos = await redis.sendToAll(RedisCommand("INFO", "everything"))
    let nodes = infos.map { place, result in NodeReport(place, holding: held[place] ?? 0, result) }
    return NodesReport(
      isCluster: redis.isCluster, replicasPromised: redis.promise.replicas, nodes: nodes,
      moving: redis.isCluster ? await movingPartitions() : [], unserved: unserved,
      warning: NodesReport.warning(nodes, replicasPromised: redis.promise.replicas))
  }

  private func movingPartitions() async -> [MovingPartition] {
    var bySlot: [Int: Partition] = [:]
    for partition in partitions.all { bySlot[layout.slot(of: partition)] = partition }
    var moving: [MovingPartition] = []
    for (place, result) in await redis.sendToAll(RedisCommand("CLUSTER", "NODES")) {
      guard case .success(let reply) = result, let text = try? reply.string() else { continue }
      // The node's own line ends with its slots, those that leave it as `[77->-<the other's name>]`.
      let own = text.split(whereSeparator: \.isNewline).first { $0.contains("myself") } ?? ""
      for word in own.split(separator: " ") where word.hasPrefix("[") {
        let parts = word.dropFirst().dropLast().split(separator: "-", maxSplits: 2)
        guard parts.count == 3, parts[1] == ">", let slot = Int(parts[0]), let partition = bySlot[slot] else {
          continue
        }
        moving.append(MovingPartition(partition: partition.number, from: place, to: String(parts[2])))
      }
    }
    return moving
  }
}

extension NodeReport {
  fileprivate init(_ place: String, holding partitions: Int, _ result: Result<RedisReply, RedisError>) {
    self.place = place
    self.partitions = partitions
    do throws(RedisError) {
      let info = try RedisInfo(try result.get())
      isConnected = true
      usedMemoryBytes = info["used_memory"].flatMap { Int($0) }
      let written = info["master_repl_offset"].flatMap { Int($0) } ?? 0
      replicas = (0..<Self.replicasMax).compactMap { info["slave\($0)"] }.map {
        Replica($0, written: written)
      }
    } catch {
      isConnected = false
      problem = error.cause
    }
  }

  private static let replicasMax = 32
}

extension NodeReport.Replica {
  /// - Parameter line: `ip=127.0.0.1,port=7004,state=online,offset=42,lag=0`.
  fileprivate init(_ line: Substring, written: Int) {
    var facts: [Substring: Substring] = [:]
    for part in line.split(separator: ",") {
      let words = part.split(separator: "=", maxSplits: 1)
      if words.count == 2 { facts[words[0]] = words[1] }
    }
    place = "\(facts["ip"] ?? ""):\(facts["port"] ?? "")"
    state = String(facts["state"] ?? "")
    bytesBehind = max(written - (facts["offset"].flatMap { Int($0) } ?? 0), 0)
  }
}
