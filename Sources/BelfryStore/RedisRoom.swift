package import BelfryRedis

/// The memory of one node of Redis, as `INFO memory` tells it.
package struct NodeMemory: Sendable, Hashable {
  /// The memory that Redis compares with `maxmemory`.
  package var usedBytes: Int
  /// `maxmemory`. 0: the node has no limit.
  package var limitBytes: Int

  package init(usedBytes: Int, limitBytes: Int) {
    self.usedBytes = usedBytes
    self.limitBytes = limitBytes
  }

  /// The used part of the limit; nil if there is no limit.
  package var usedShare: Double? { limitBytes > 0 ? Double(usedBytes) / Double(limitBytes) : nil }

  package var isUsedUp: Bool { limitBytes > 0 && usedBytes > limitBytes }

  /// True if the node can take writes for a while. A node at its limit has a few bytes free between two
  /// writes, although it refuses each write. So a few free bytes are no room.
  package var hasHeadroom: Bool {
    limitBytes == 0 || limitBytes - usedBytes >= max(limitBytes / 100, Self.headroomMinBytes)
  }

  /// More than the largest requests under way need.
  private static let headroomMinBytes = 1 << 20
}

/// A setting of Redis by which it may lose what it has acknowledged. The raw value is the reason that operators read.
package enum DataRisk: String, Sendable, Hashable, CaseIterable {
  /// A restart loses everything since the last snapshot.
  case noLog = "a node has no append-only file (appendonly no)"
  case eviction = "a node drops keys when its memory is full (maxmemory-policy is not noeviction)"
}

/// The room that Redis has for writes, as one look at all nodes has found it.
package struct RedisRoom: Sendable, Hashable {
  /// The memory of each node that answered.
  package var memory: [NodeMemory]
  /// True if a node refuses writes because it cannot save to its disk.
  package var isDiskFull: Bool
  /// The number of partitions that no connected node serves.
  package var partitionsAway: Int
  package var risks: Set<DataRisk>

  package init(
    memory: [NodeMemory] = [], isDiskFull: Bool = false, partitionsAway: Int = 0, risks: Set<DataRisk> = []
  ) {
    self.memory = memory
    self.isDiskFull = isDiskFull
    self.partitionsAway = partitionsAway
    self.risks = risks
  }

  /// The used part of the limit, on the node with the least room; nil if no node has a limit.
  package var memoryUsedShare: Double? { memory.compactMap(\.usedShare).max() }
  package var isMemoryUsedUp: Bool { memory.contains(where: \.isUsedUp) }
  package var hasHeadroom: Bool { memory.allSatisfy(\.hasHeadroom) }

  /// The reasons for which Redis refuses writes, by this look alone.
  package var refusals: Set<WriteRefusal> {
    var refusals: Set<WriteRefusal> = []
    if isMemoryUsedUp { refusals.insert(.memory) }
    if isDiskFull { refusals.insert(.disk) }
    return refusals
  }
}

/// The fate of a write, as far as it says something about the condition of Redis.
package enum WriteSign: Sendable, Hashable {
  /// With Redis's own words.
  case refused(WriteRefusal, _ cause: String)
  case done
}
