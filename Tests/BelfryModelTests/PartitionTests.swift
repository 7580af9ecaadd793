import ModelSamples
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
  func hashIsFNV1a(key: String, hash: UInt64) {
    #expect(StableHash.fnv1a(key) == hash)
    #expect(Partition(holding: key).number == Int(hash % 1_024))
  }

  /// Source of the vectors: Redis Cluster specification, and `CLUSTER KEYSLOT`.
  @Test(arguments: [("123456789", 12_739), ("foo", 12_182), ("", 0)])
  func slotIsRedisClusters(tag: String, slot: Int) { #expect(ClusterSlot.of(tag) == slot) }

  @Test func everyTagFallsIntoItsPartitionsSixteenSlots() {
    for partition in Partition.allCases {
      let slots = partition.number * 16..<partition.number * 16 + 16
      #expect(slots.contains(ClusterSlot.of(partition.hashTag)), "\(partition.hashTag)")
      #expect(partition.hashTag.hasPrefix("\(partition.number)."))
    }
  }

  @Test(arguments: [(0, "0.325"), (1, "1.299"), (517, "517.1726"), (1_023, "1023.945")])
  func knownTags(number: Int, tag: String) throws {
    #expect(try #require(Partition(number)).hashTag == tag)
  }

  @Test func numbersOutsideTheRangeAreNoPartition() {
    #expect(Partition(-1) == nil)
    #expect(Partition(1_024) == nil)
    #expect(Partition(1_023)?.number == 1_023)
    #expect(Partition.allCases.map(\.number) == Array(0..<1_024))
  }

  /// Sequential ids, which is what a deployment has, spread as evenly as chance would spread them: with
  /// 100 expected in each partition, none is off by more than six standard deviations.
  @Test func sequentialSpacesSpreadEvenly() {
    var loads = [Int](repeating: 0, count: Partition.count)
    for number in 1...Int64(Partition.count * 100) {
      guard let id = EntityID(number) else { continue }
      loads[SpaceID.server(id).partition.number] += 1
    }
    #expect(loads.allSatisfy { (40...160).contains($0) }, "\(loads.min() ?? 0) to \(loads.max() ?? 0)")
  }
}
