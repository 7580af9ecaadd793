import Testing

@testable import BelfryStore

/// The readings of a clock by which a partition may be swept.
@Suite struct SweepClockTests {
  private static let day: Int64 = 86_400_000
  private static let minute: Int64 = 60_000
  private let start = ContinuousClock.now
  /// The time of Redis's clock at the start.
  private let time: Int64 = 1_800_000_000_000

  private func newClock(retention: Int64 = 7 * day) -> SweepClock {
    SweepClock(intervalMilliseconds: 30_000, retentionMilliseconds: retention)
  }

  /// The judgement when so much has passed, with Redis's clock and the broker's set forward by so much.
  private func judge(
    _ clock: inout SweepClock, after passed: Int64, redis: Int64 = 0, broker: Int64 = 0,
    sweptAgo: Int64? = nil
  ) -> ClockDoubt? {
    let reading = SweepReading(
      timeMilliseconds: time + passed + redis,
      sweptAtMilliseconds: sweptAgo.map { time + passed + redis - $0 })
    return clock.judge(
      reading, brokerMilliseconds: time + passed + broker, now: start + .milliseconds(passed))
  }

  @Test func aClockThatGoesOnIsBelieved() {
    var clock = newClock()
    for minutes: Int64 in [0, 1, 60, 10_000] { #expect(judge(&clock, after: minutes * Self.minute) == nil) }
  }

  @Test func clocksThatDifferByMoreThanAnHourAreNeverBelieved() {
    var clock = newClock()
    for offset in [3_600_001, -3_600_001, 7 * Self.day] {
      for hours: Int64 in [0, 2, 200] {
        let doubt = judge(&clock, after: hours * 60 * Self.minute, redis: offset)
        #expect(doubt == .apart(milliseconds: abs(offset)))
      }
    }
    #expect(judge(&clock, after: 300 * 60 * Self.minute, redis: 3_600_000, broker: 0) == nil)
  }

  @Test(arguments: [60_001, 7 * day])
  func aStepForwardOfBothClocksIsDoubtedForAnHour(step: Int64) {
    var clock = newClock()
    #expect(judge(&clock, after: 0) == nil)
    for minutes: Int64 in [1, 30, 60] {
      let doubt = judge(&clock, after: minutes * Self.minute, redis: step, broker: step)
      #expect(doubt == .ahead(milliseconds: step))
    }
    #expect(judge(&clock, after: 61 * Self.minute, redis: step, broker: step) == nil)
    #expect(judge(&clock, after: 62 * Self.minute, redis: step, broker: step) == nil)
  }

  @Test func aClockThatStepsBackInTimeIsBelievedAtOnce() {
    var clock = newClock()
    #expect(judge(&clock, after: 0) == nil)
    #expect(judge(&clock, after: Self.minute, redis: 7 * Self.day, broker: 7 * Self.day) != nil)
    #expect(judge(&clock, after: 2 * Self.minute) == nil)
    // The next step begins another hour.
    #expect(judge(&clock, after: 62 * Self.minute, redis: 7 * Self.day, broker: 7 * Self.day) != nil)
  }

  @Test func eachStepBeginsTheHourAgain() {
    var clock = newClock()
    #expect(judge(&clock, after: 0) == nil)
    #expect(judge(&clock, after: Self.minute, redis: Self.day, broker: Self.day) != nil)
    #expect(judge(&clock, after: 50 * Self.minute, redis: 2 * Self.day, broker: 2 * Self.day) != nil)
    #expect(judge(&clock, after: 70 * Self.minute, redis: 2 * Self.day, broker: 2 * Self.day) != nil)
    #expect(judge(&clock, after: 111 * Self.minute, redis: 2 * Self.day, broker: 2 * Self.day) == nil)
  }

  @Test func smallStepsAreBelieved() {
    var clock = newClock()
    #expect(judge(&clock, after: 0) == nil)
    #expect(judge(&clock, after: Self.minute, redis: 60_000, broker: 60_000) == nil)
    #expect(judge(&clock, after: 2 * Self.minute, redis: -3_000_000, broker: -3_000_000) == nil)
  }

  /// A broker that starts knows only when the last sweep was.
  @Test func theFirstReadingIsComparedWithTheLastSweep() {
    for (ago, isBelieved) in [
      (nil, true), (420_000, true), (-5_000, true), (420_001, false), (7 * Self.day, false),
    ]
      as [(Int64?, Bool)]
    {
      var clock = newClock()
      let doubt = judge(&clock, after: 0, sweptAgo: ago)
      #expect((doubt == nil) == isBelieved, "\(ago.map(String.init) ?? "never")")
      if let doubt { #expect(doubt.reason == "unproven") }
      #expect(judge(&clock, after: 60 * Self.minute, sweptAgo: ago) == nil)
    }
  }

  @Test func aShortRetentionAllowsLittle() {
    var clock = newClock(retention: 10_000)
    #expect(judge(&clock, after: 0, sweptAgo: 65_001) != nil)
  }

  /// All that was there when the clock stepped is past retention at that time.
  @Test func aShortRetentionIsWaitedForOnce() {
    var clock = newClock(retention: 10_000)
    #expect(judge(&clock, after: 0) == nil)
    #expect(judge(&clock, after: 1_000, redis: Self.day, broker: Self.day) != nil)
    #expect(judge(&clock, after: 10_999, redis: Self.day, broker: Self.day) != nil)
    #expect(judge(&clock, after: 11_000, redis: Self.day, broker: Self.day) == nil)
  }
}
