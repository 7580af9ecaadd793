import BelfryBytes

/// One of the parts that the spaces and accounts of a keyspace are divided into.
///
/// Every key of a partition carries the partition's hash tag, so whatever one Redis function touches
/// lies in one slot, on a single Redis as on a cluster.
public struct Partition: Hashable, Sendable, Comparable {
  /// The most that a keyspace can have: a message id keeps ten bits for the partition.
  public static let limit = 1_024

  public let number: Int

  public init?(_ number: Int) {
    guard (0..<Self.limit).contains(number) else { return nil }
    self.number = number
  }

  init(unchecked number: Int) { self.number = number }

  public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

/// How many partitions a keyspace has: chosen when it is made, and never changed, since every key's name and
/// every message id depend on it.
package struct Partitions: Sendable, Hashable {
  /// Few enough that a cursor, with a position in each, is short text; enough that eight masters of a cluster are loaded
  /// evenly (docs/decisions/0013-a-position-in-each-partition.md has the measurements).
  package static let standard = Partitions(unchecked: 64)

  /// A power of two, so that moving to twice as many divides each partition and mixes none.
  package let count: Int

  /// Nil unless `count` is a power of two from 1 to ``Partition/limit``.
  package init?(count: Int) {
    guard (1...Partition.limit).contains(count), count.nonzeroBitCount == 1 else { return nil }
    self.count = count
  }

  private init(unchecked count: Int) { self.count = count }

  package var all: [Partition] { (0..<count).map { Partition(unchecked: $0) } }

  package func holding(_ space: SpaceID) -> Partition {
    Partition(unchecked: Int(space.partitionHash) & (count - 1))
  }

  /// FNV-1a (64 bits) of the key's UTF-8 bytes, modulo the number of partitions: three lines in any language, so
  /// a consumer process that tails Redis directly can find a space's log.
  package func holding(key: String) -> Partition {
    Partition(unchecked: Int(StableHash.partitionHash(key)) & (count - 1))
  }

  /// The hash tags of all partitions, without braces: the partition's number, a dot, and the smallest number that
  /// puts the tag into the partition's own share of a Redis Cluster's slots (of 64 partitions: `256n ..< 256n+256`).
  /// Plain numbers as tags would land unevenly and leave some nodes with twice the load of others.
  package var hashTags: [String] {
    let slotsPerPartition = ClusterSlot.count / count
    return (0..<count).map { partition in
      // The beginning that all tries have in common is hashed once: of 1,024 partitions it takes a million tries.
      let beginning = ClusterSlot.checksum("\(partition).")
      var attempt = 0
      while ClusterSlot.of("\(attempt)", after: beginning) / slotsPerPartition != partition { attempt += 1 }
      return "\(partition).\(attempt)"
    }
  }
}

/// A hash that is the same in every process and every language, unlike Swift's own, which is seeded.
package enum StableHash {
  /// FNV-1a, 64 bits. Source: draft-eastlake-fnv.
  package static func fnv1a(_ text: String) -> UInt64 {
    var hash = basis
    for byte in text.utf8 { hash = next(hash, byte) }
    return hash
  }

  /// As much of it as any number of partitions needs.
  static func partitionHash(_ text: String) -> UInt16 { UInt16(fnv1a(text) % UInt64(Partition.limit)) }

  static let basis: UInt64 = 0xcbf2_9ce4_8422_2325
  static func next(_ hash: UInt64, _ byte: UInt8) -> UInt64 {
    (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
  }
}
