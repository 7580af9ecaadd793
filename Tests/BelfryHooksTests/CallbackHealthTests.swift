import Testing

@testable import BelfryHooks

@Suite struct CallbackHealthTests {
  private let start = ContinuousClock.now

  /// A callback's health in an object: a step that changes a value cannot stand within an expectation.
  private final class Callback {
    private var health = CallbackHealth()

    func begin(now: ContinuousClock.Instant) -> Bool { health.beginQuestion(now: now) }
    func end(isGood: Bool?, now: ContinuousClock.Instant) -> [CallbackHealth.Change] {
      health.noteOutcome(isGood: isGood, now: now)
    }
    func endUnusable(now: ContinuousClock.Instant) -> [CallbackHealth.Change] {
      health.noteUnusable(now: now)
    }
  }

  @Test func theFirstFailureIsToldAndTheEndOfTheRow() {
    let health = Callback()
    #expect(health.end(isGood: true, now: start) == [])
    #expect(health.end(isGood: false, now: start) == [.fails])
    #expect(health.end(isGood: false, now: start) == [])
    #expect(health.end(isGood: nil, now: start) == [])
    #expect(health.end(isGood: true, now: start) == [.answersAgain])
    #expect(health.end(isGood: true, now: start) == [])
  }

  /// One that fails every other time would fill the log.
  @Test func aRowThatFollowsSoonIsToldOnlyIfItLasts() {
    let health = Callback()
    #expect(health.end(isGood: false, now: start) == [.fails])
    #expect(health.end(isGood: true, now: start) == [.answersAgain])
    for second in 1...20 {
      #expect(health.end(isGood: false, now: start + .seconds(second)) == [])
      #expect(health.end(isGood: true, now: start + .seconds(second)) == [])
    }
    #expect(health.end(isGood: false, now: start + .seconds(59)) == [])
    #expect(health.end(isGood: false, now: start + .seconds(61)) == [.fails])
  }

  @Test func manyFailuresInARowPauseItAndTheEndIsToldOnce() {
    let health = Callback()
    var told: [CallbackHealth.Change] = []
    for _ in 0..<CircuitBreaker.failuresMax { told += health.end(isGood: false, now: start) }
    #expect(told == [.fails, .pauses])
    #expect(!health.begin(now: start))
    let later = start + CircuitBreaker.pause
    #expect(health.begin(now: later))
    #expect(health.end(isGood: false, now: later) == [])
    let latest = later + CircuitBreaker.pause
    #expect(health.begin(now: latest))
    #expect(health.end(isGood: true, now: latest) == [.answersAgain])
  }

  @Test func anAnswerThatCannotBeUsedIsToldAndPausesNothing() {
    let health = Callback()
    #expect(health.endUnusable(now: start) == [.fails])
    for _ in 0..<CircuitBreaker.failuresMax { #expect(health.endUnusable(now: start) == []) }
    #expect(health.begin(now: start))
    #expect(health.end(isGood: true, now: start) == [.answersAgain])
  }

  /// Its row was not told, since an earlier one was a moment ago.
  @Test func theEndOfAPauseIsToldEvenIfItsRowWasNot() {
    let health = Callback()
    _ = health.end(isGood: false, now: start)
    _ = health.end(isGood: true, now: start)
    var told: [CallbackHealth.Change] = []
    for _ in 0..<CircuitBreaker.failuresMax { told += health.end(isGood: false, now: start + .seconds(1)) }
    #expect(told == [.pauses])
    #expect(health.end(isGood: true, now: start + .seconds(20)) == [.answersAgain])
  }
}
