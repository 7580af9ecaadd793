/// The failures of one callback: they decide if it is asked, and what the log is told.
struct CallbackHealth {
  enum Change: Hashable {
    /// The first failure of a row.
    case fails
    /// So many failures in a row that the callback is not asked for a while.
    case pauses
    /// The first usable answer after either.
    case answersAgain
  }

  private var breaker = CircuitBreaker()
  private var row = FailureRows<Int>(countMax: 1)
  private static let receiver = 0

  /// True if the callback may be asked now. The caller then reports the result.
  mutating func beginQuestion(now: ContinuousClock.Instant) -> Bool { breaker.begin(now: now) }

  /// - Parameter isGood: nil if nothing is known, since the question was not sent.
  /// - Returns: what the log is to be told.
  mutating func noteOutcome(isGood: Bool?, now: ContinuousClock.Instant) -> [Change] {
    let wasPaused = breaker.isOpen
    breaker.end(isGood: isGood, now: now)
    switch isGood {
    case nil: return []
    case true?:
      let wasTold = row.succeed(Self.receiver)
      return wasTold || wasPaused ? [.answersAgain] : []
    case false?: return noteFailure(now: now) + (breaker.isOpen && !wasPaused ? [.pauses] : [])
    }
  }

  /// The callback is there and has answered, and the answer cannot be used. Others may get usable answers, so it is asked
  /// further on.
  mutating func noteUnusable(now: ContinuousClock.Instant) -> [Change] {
    breaker.end(isGood: true, now: now)
    return noteFailure(now: now)
  }

  private mutating func noteFailure(now: ContinuousClock.Instant) -> [Change] {
    row.fail(Self.receiver, now: now) ? [.fails] : []
  }
}
