import BelfryStore
import Testing

@testable import BelfryServer

@Suite struct SweepPaceTests {
  private static let week: Int64 = 7 * 24 * 3_600_000

  private func pace(_ spaces: Int, _ partitions: Int = 64, _ retention: Int64 = week) -> SweepPace {
    SweepPace(spaces: spaces, partitions: partitions, retentionMilliseconds: retention)
  }

  @Test func fewSpacesAreSweptEveryMinute() {
    for spaces in [0, 1, 5_000] {
      #expect(pace(spaces).stepMilliseconds == 250)
      #expect(pace(spaces).intervalMilliseconds == 30_000)
    }
    #expect(pace(5_000, 1_024).intervalMilliseconds == 256_000)
  }

  /// The number of spaces does not change how many are swept in a second.
  @Test(arguments: [16_000, 100_000, 1_000_000, 10_000_000], [1, 64, 1_024])
  func manySpacesTakeLonger(spaces: Int, partitions: Int) {
    let pace = pace(spaces, partitions)
    let round = pace.stepMilliseconds * Int64(partitions)
    #expect(pace.intervalMilliseconds >= round)
    let inASecond = Double(spaces) * 1_000 / Double(max(round, pace.intervalMilliseconds))
    #expect(inASecond < 540, "a fiftieth of what Redis sweeps in a second")
  }

  @Test func aRoundTakesHalfOfRetentionAtMost() {
    #expect(pace(1_000_000, 64, 60_000).intervalMilliseconds == 30_000)
    #expect(pace(1_000_000_000).intervalMilliseconds <= Self.week / 2)
    #expect(pace(0, 64, 500).intervalMilliseconds == 16_000, "the steps are what they are")
    #expect(SweepPace.pause(retentionMilliseconds: 500) == 250)
  }

  @Test func noPartitionIsInUse() { #expect(pace(0, 0).intervalMilliseconds == 30_000) }

  /// The previous broker stopped when its round had just ended, and this one reaches the last partition at
  /// the end of its own round. So nearly two rounds lie between two sweeps of that partition.
  @Test(arguments: [0, 1_000, 200_000, 5_000_000])
  func aRestartKeepsNoPartitionFromBeingSwept(spaces: Int) {
    let (retention, now): (Int64, Int64) = (7 * 86_400_000, 1_800_000_000_000)
    let pace = SweepPace(spaces: spaces, partitions: 64, retentionMilliseconds: retention)
    let round = SweepPace.pause(retentionMilliseconds: retention) + 64 * pace.stepMilliseconds
    let restart: Int64 = 120_000
    var clock = SweepClock(
      intervalMilliseconds: pace.intervalMilliseconds, retentionMilliseconds: retention)
    let reading = SweepReading(
      timeMilliseconds: now, sweptAtMilliseconds: now - 2 * round - restart)
    #expect(clock.judge(reading, brokerMilliseconds: now, now: .now) == nil)
  }
}
