import Testing

@testable import BelfryHooks

@Suite struct RetryScheduleTests {
  @Test func delaysGrowWithJitterAndEndAtADay() {
    for (index, seconds) in RetrySchedule.delaysSeconds.enumerated() {
      let range = Int64(seconds * 800)...Int64(seconds * 1_200)
      for random in [0, 0.5, 0.999] {
        let delay = RetrySchedule.delayMilliseconds(attempts: index + 1, retryAfter: nil, random: random)
        #expect(range.contains(delay))
      }
    }
    #expect(RetrySchedule.delayMilliseconds(attempts: 100, retryAfter: nil, random: 0.5) == 86_400_000)
  }

  @Test(arguments: [
    ("60", 60_000), ("1", 5_000), ("-5", 5_000), ("999999999999", 86_400_000), ("tomorrow", 5_000),
  ])
  func whatTheReceiverAsksForIsTheLeast(_ asked: String, _ expected: Int64) {
    #expect(RetrySchedule.delayMilliseconds(attempts: 1, retryAfter: asked, random: 0.5) == expected)
  }
}
