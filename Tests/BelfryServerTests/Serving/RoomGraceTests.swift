import Testing

@testable import BelfryServer

@Suite struct RoomGraceTests {
  private var grace = RoomGrace(heartbeatMilliseconds: 10_000, interval: .seconds(1))

  @Test mutating func attendeesHaveTwoHeartbeatsAfterAStartAndAfterAPause() {
    for (now, isOver) in [
      (1_000, false), (11_000, false), (20_999, false), (21_000, true), (31_000, true),
      // The broker stood still for longer than a heartbeat.
      (41_001, false), (51_000, false), (61_000, false), (61_001, true),
    ] as [(Int64, Bool)] {
      grace.beginRound(at: now)
      #expect(grace.isOver(at: now) == isOver, "\(now)")
    }
  }

  /// A node of a cluster is away for half a minute, while rounds go on every second.
  @Test mutating func theyHaveThemAfterAPartitionWasAway() {
    for second in 0...90 as ClosedRange<Int64> {
      let now = second * 1_000
      grace.beginRound(at: now)
      if (30...60).contains(second) { grace.noteAbsence(at: now) }
      #expect(grace.isOver(at: now) == ((20..<30).contains(second) || second >= 80), "\(second)")
    }
  }

  /// Rounds are further apart than such heartbeats.
  @Test func shortHeartbeatsHaveAnEndOfTheGracePeriodToo() {
    var grace = RoomGrace(heartbeatMilliseconds: 100, interval: .seconds(1))
    grace.beginRound(at: 5_000)
    grace.beginRound(at: 6_500)
    #expect(grace.isOver(at: 6_500))
  }
}
