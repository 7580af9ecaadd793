import BelfryBytes
import Testing

@testable import BelfryModel

struct PartitionTests {
  /// Known hashes, for programs in other languages that look for a space's log.
  /// The first three are the test vectors of draft-eastlake-fnv.
  @Test(
    arguments: [
      ("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8),
      ("server:1", 0x5f6e_9b8b_5444_1b4b), ("account:alice", 0x71fc_29c3_8c67_04c2),
      ("group:鐘", 0x91c0_04ca_2a0f_b511),
    ] as [(String, UInt64)])
  func hashIsFNV1a(key: String, hash: UInt64) throws {
    #expect(StableHash.fnv1a(key) == hash)
    for count in [1, 16, 64, 1_024] {
      let partitions = try #require(Partitions(count: count))
      #expect(partitions.holding(key: key).number == Int(hash % UInt64(count)))
    }
  }

  /// Source of the vectors: Redis Cluster specification, and `CLUSTER KEYSLOT`.
  @Test(arguments: [("123456789", 12_739), ("foo", 12_182), ("", 0)])
  func slotIsRedisClusters(tag: String, slot: Int) { #expect(ClusterSlot.of(tag) == slot) }

  @Test(arguments: [1, 2, 64, 1_024])
  func everyTagFallsIntoItsPartitionsShareOfSlots(count: Int) throws {
    let tags = try #require(Partitions(count: count)).hashTags
    #expect(tags.count == count)
    for (number, tag) in tags.enumerated() {
      #expect(ClusterSlot.of(tag) * count / ClusterSlot.count == number, "\(tag)")
      #expect(tag.hasPrefix("\(number)."))
    }
  }

  @Test(arguments: [(1_024, 0, "0.325"), (1_024, 517, "517.1726"), (1_024, 1_023, "1023.945"), (1, 0, "0.0")])
  func knownTags(count: Int, number: Int, tag: String) throws {
    #expect(try #require(Partitions(count: count)).hashTags[number] == tag)
  }

  @Test func numbersOutsideTheRangeAreNoPartition() {
    #expect(Partition(-1) == nil)
    #expect(Partition(1_024) == nil)
    #expect(Partition(1_023)?.number == 1_023)
    #expect(Partitions.standard.all.map(\.number) == Array(0..<Partitions.standard.count))
  }

  @Test(arguments: [-1, 0, 3, 63, 65, 2_048])
  func whatIsNoNumberOfPartitions(count: Int) { #expect(Partitions(count: count) == nil) }

  /// Twice as many divide each partition and mix none.
  @Test func doublingDivides() throws {
    let (few, many) = (try #require(Partitions(count: 64)), try #require(Partitions(count: 128)))
    for number in 1...2_000 as ClosedRange<Int64> {
      let space = SpaceID.server(try #require(EntityID(number)))
      #expect(many.holding(space).number % 64 == few.holding(space).number)
    }
  }

  /// Sequential ids, which is what a deployment has, spread as evenly as chance would spread them: with
  /// 100 expected in each partition, none is off by more than six standard deviations.
  @Test(arguments: [64, 1_024])
  func sequentialSpacesSpreadEvenly(count: Int) throws {
    let partitions = try #require(Partitions(count: count))
    var loads = [Int](repeating: 0, count: count)
    for number in 1...Int64(count * 100) {
      guard let id = EntityID(number) else { continue }
      loads[partitions.holding(.server(id)).number] += 1
    }
    #expect(loads.allSatisfy { (40...160).contains($0) }, "\(loads.min() ?? 0) to \(loads.max() ?? 0)")
  }
}
