import Testing

@testable import BelfryServer

@Suite struct DescriptorLimitTests {
  @Test(
    arguments: [
      // With many descriptors, the measured limits.
      (1_048_576, 4, 20_000, 19_000),
      (65_536, 2, 20_000, 19_000),
      // With few descriptors, as many as there are.
      (1_024, 2, 459, 437),
      (1_024, 1, 931, 885),
      (64, 2, 9, 5),
      // Never zero.
      (20, 2, 4, 2),
    ])
  func connectionsFollowFromIt(_ descriptors: Int, _ loops: Int, _ connections: Int, _ streams: Int) {
    let limits = DescriptorLimit(descriptors: descriptors).limits(loops: loops)
    #expect(limits.connectionsPerLoop == connections)
    #expect(limits.streamsPerLoop == streams)
    let needed = loops * (connections + DescriptorLimit.descriptorsPerLoop) + DescriptorLimit.ownDescriptors
    #expect(needed <= descriptors || connections == DescriptorLimit.connectionsAtLeast)
  }

  @Test func itIsRaised() {
    let limit = DescriptorLimit.raised()
    #expect(limit.descriptors >= 1_024)
    #expect(limit == DescriptorLimit.raised())
  }
}
