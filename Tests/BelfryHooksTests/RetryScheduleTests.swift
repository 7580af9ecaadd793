import Testing

@testable import BelfryHooks

@Suite struct RetryScheduleTests {
  @Test func delaysGrowWithJitterAndEndAtADay() {
    for (index, seconds) in RetrySchedule.delaysSeconds.enumerated() {
      let range = Int64(seconds * 800)...Int64(seconds * 1_200)
      for random in [0, 0.5, 0.999] {
        let delay = RetrySchedule.delayMilliseconds(
          attempts: index + 1, retryAfter: nil, random: random, nowMilliseconds: 0)
        #expect(range.contains(delay))
      }
    }
    let last = RetrySchedule.delayMilliseconds(
      attempts: 100, retryAfter: nil, random: 0.5, nowMilliseconds: 0)
    #expect(last == 86_400_000)
  }

  /// 784111777 is RFC 9110's example of a date, which it writes in three ways.
  @Test(arguments: [
    ("60", 60_000), ("1", 5_000), ("-5", 5_000), ("999999999999", 86_400_000), ("tomorrow", 5_000),
    ("Sun, 06 Nov 1994 08:50:37 GMT", 60_000), ("Sunday, 06-Nov-94 08:50:37 GMT", 60_000),
    ("Sun Nov  6 08:50:37 1994", 60_000), ("Sun, 06 Nov 1994 08:40:37 GMT", 5_000),
    ("Sun, 06 Nov 2044 08:50:37 GMT", 86_400_000), ("Sun, 06 Foo 1994 08:50:37 GMT", 5_000),
  ])
  func whatTheReceiverAsksForIsTheLeast(_ asked: String, _ expected: Int64) {
    let delay = RetrySchedule.delayMilliseconds(
      attempts: 1, retryAfter: asked, random: 0.5, nowMilliseconds: 784_111_777_000)
    #expect(delay == expected)
  }
}
