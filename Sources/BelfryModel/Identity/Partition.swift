/// One of the 1,024 parts that all spaces and accounts are dealt into (DESIGN §3).
///
/// Every key of a partition carries the partition's hash tag, so whatever one Redis function touches
/// lies in one slot, on a single Redis as on a cluster.
public struct Partition: Hashable, Sendable, Comparable {
  public static let count = 1_024
  static let all = (0..<count).map { Partition(unchecked: $0) }

  public let number: Int

  public init?(_ number: Int) {
    guard (0..<Self.count).contains(number) else { return nil }
    self.number = number
  }

  private init(unchecked number: Int) { self.number = number }

  /// FNV-1a (64 bits) of the key's UTF-8 bytes, modulo 1,024: three lines in any language, so a consumer
  /// process that tails Redis directly can find a space's log.
  public init(holding key: String) {
    number = Int(StableHash.fnv1a(key) % UInt64(Self.count))
  }

  public static var allCases: [Partition] { all }

  /// The hash tag, without braces: the partition's number, a dot, and the smallest number that puts the
  /// tag into the partition's own sixteenth-of-a-thousandth of a Redis Cluster: slots `16n ..< 16n+16`.
  /// Plain numbers as tags would land unevenly and leave some nodes with twice the load of others.
  public var hashTag: String { Self.hashTags[number] }

  private static let hashTags: [String] = (0..<count).map { partition in
    let slotsPerPartition = ClusterSlot.count / count
    var attempt = 0
    while true {
      let tag = "\(partition).\(attempt)"
      if ClusterSlot.of(tag) / slotsPerPartition == partition { return tag }
      attempt += 1
    }
  }

  public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

/// A hash that is the same in every process and every language, unlike Swift's own, which is seeded.
enum StableHash {
  /// FNV-1a, 64 bits. Source: draft-eastlake-fnv.
  static func fnv1a(_ text: String) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
    }
    return hash
  }
}

/// Redis Cluster's mapping of a hash tag to a slot: CRC16-CCITT (XMODEM) modulo 16,384.
/// Source: Redis Cluster specification, "Key distribution model".
enum ClusterSlot {
  static let count = 16_384

  static func of(_ tag: String) -> Int {
    var crc: UInt16 = 0
    for byte in tag.utf8 {
      crc ^= UInt16(byte) << 8
      for _ in 0..<8 {
        crc = crc & 0x8000 != 0 ? (crc << 1) ^ 0x1021 : crc << 1
      }
    }
    return Int(crc) % count
  }
}
