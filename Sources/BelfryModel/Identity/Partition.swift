import BelfryBytes

/// One of the parts into which the spaces and accounts of a keyspace are divided.
///
/// ```swift
/// print("stored in partition \(messageID.partition.number)")
/// ```
///
/// Every key of a partition has the partition's hash tag. So everything that one Redis function touches is in one slot, on a
/// single Redis as on a cluster.
public struct Partition: Hashable, Sendable, Comparable {
  /// The most partitions that a keyspace can have: a message id has ten bits for the partition.
  public static let limit = 1_024

  /// The number of the partition, from 0.
  public let number: Int

  /// Nil if there can be no such number.
  public init?(_ number: Int) {
    guard (0..<Self.limit).contains(number) else { return nil }
    self.number = number
  }

  init(unchecked number: Int) { self.number = number }

  /// Compares the numbers.
  public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

/// The number of partitions of a keyspace. Every key's name and every message id depend on it, so it is
/// chosen when the keyspace is made. A keyspace can be moved to a larger number (docs/move.md), and then
/// remembers the one before.
package struct Partitions: Sendable, Hashable {
  /// Few enough that a cursor, with a position in each, is short text; enough that eight masters of a cluster are loaded
  /// evenly (docs/decisions/0013-a-position-in-each-partition.md has the measurements).
  package static let standard = Partitions(unchecked: 64)

  /// A power of two, so that moving to twice as many divides each partition and mixes none.
  package let count: Int

  /// The numbers of partitions that the keyspace had before, smaller ones, the smallest first.
  package let growths: [Growth]

  /// The keyspace had so many partitions, and got more.
  package struct Growth: Sendable, Hashable {
    package let count: Int
    /// Ids up to the end of this millisecond since 1970 were given by so many partitions, all later ones by more.
    package let throughMilliseconds: Int64

    package init(count: Int, throughMilliseconds: Int64) {
      (self.count, self.throughMilliseconds) = (count, throughMilliseconds)
    }

    /// The last id that the partition may have given until that time.
    package func last(in partition: Partition) -> MessageID {
      MessageID(unixMilliseconds: throughMilliseconds, partition: partition, sequence: MessageID.sequenceMax)
    }
  }

  /// Nil unless each is a power of two from 1 to ``Partition/limit``, and larger than the one before.
  package init?(count: Int, growths: [Growth] = []) {
    let counts = growths.map(\.count) + [count]
    guard counts.allSatisfy({ (1...Partition.limit).contains($0) && $0.nonzeroBitCount == 1 }),
      zip(counts, counts.dropFirst()).allSatisfy({ $0 < $1 })
    else { return nil }
    (self.count, self.growths) = (count, growths)
  }

  private init(unchecked count: Int) { (self.count, growths) = (count, []) }

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

// MARK: - Ids from before a keyspace grew

// An entry keeps its id when its keyspace gets more partitions, since clients hold it. So if 64 partitions
// became 256, the logs of 3, 67, 131 and 195 begin with ids that name the partition 3, and all later ids name
// their own partition. A position or a watermark is kept by the partition that its id names. For the logs of
// partition 67 it is that of 67. As long as there is none, it is that of 3, up to the last id from before.
extension Partitions {
  /// The partition that had the spaces of this one before, and the last id that it may have given until then.
  package struct Origin: Sendable, Hashable {
    package let partition: Partition
    package let last: MessageID
    /// That id as one of the partition whose origin it is: no entry there from before has a larger one, and every later
    /// entry has.
    let end: MessageID
  }

  /// The partitions that had this one's spaces before, the oldest first; none if it always had them.
  package func origins(of partition: Partition) -> [Origin] {
    if growths.isEmpty { return [] }
    return growths.compactMap { growth in
      let origin = Partition(unchecked: partition.number & (growth.count - 1))
      if origin == partition { return nil }
      return Origin(partition: origin, last: growth.last(in: origin), end: growth.last(in: partition))
    }
  }

  /// True if an entry with this id may be in a log of the partition.
  package func may(_ partition: Partition, hold id: MessageID) -> Bool {
    if id.partition == partition { return true }
    if growths.isEmpty { return false }
    return origins(of: partition).contains { $0.partition == id.partition && id <= $0.last }
  }

  /// The partitions that may hold an entry with this id. There is one, except for ids from before the
  /// keyspace grew.
  package func holding(_ id: MessageID) -> [Partition] {
    if growths.isEmpty { return id.partition.number < count ? [id.partition] : [] }
    return all.filter { may($0, hold: id) }
  }

  /// The place in the partition's logs, by what is known of each partition that its ids name.
  func place(in partition: Partition, _ known: (Partition) -> MessageID) -> MessageID {
    var place = known(partition)
    if growths.isEmpty { return place }
    for origin in origins(of: partition) {
      let earlier = known(origin.partition)
      place = max(place, earlier > origin.last ? origin.end : earlier)
    }
    return place
  }
}

/// A hash that is the same in every process and every language, unlike Swift's own, which is seeded. It spreads keys and
/// protects nothing: anybody can find names with one hash. Ids that must not be forged take ``EntityID/init(hashing:)``.
package enum StableHash {
  /// FNV-1a, 64 bits. Source: draft-eastlake-fnv.
  package static func fnv1a(_ text: String) -> UInt64 {
    var hash = basis
    for byte in text.utf8 { hash = next(hash, byte) }
    return hash
  }

  /// As many bits of it as any number of partitions needs.
  static func partitionHash(_ text: String) -> UInt16 { UInt16(fnv1a(text) % UInt64(Partition.limit)) }

  static let basis: UInt64 = 0xcbf2_9ce4_8422_2325
  static func next(_ hash: UInt64, _ byte: UInt8) -> UInt64 {
    (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
  }
}
