/// Keeps requests away from a receiver that does not answer. After some failures in a row no request is sent for a while.
/// Then one request is sent, and its outcome decides for all.
package struct CircuitBreaker: Sendable, Hashable {
  /// Few enough that senders wait only a few times for a dead callback, and enough that one lost answer closes nothing.
  package static let failuresMax = 5
  package static let pause: Duration = .seconds(10)

  private var failures = 0
  private var openUntil: ContinuousClock.Instant?
  private var isTrying = false

  package init() {}

  package var isOpen: Bool { openUntil != nil }

  /// True if a question may begin now.
  package func allows(now: ContinuousClock.Instant) -> Bool {
    openUntil.map { $0 <= now && !isTrying } ?? true
  }

  /// True if the caller may ask now. The caller then reports the result.
  package mutating func begin(now: ContinuousClock.Instant) -> Bool {
    guard let openUntil else { return true }
    guard openUntil <= now, !isTrying else { return false }
    isTrying = true
    return true
  }

  /// - Parameter isGood: nil if nothing is known, since the request was not sent.
  package mutating func end(isGood: Bool?, now: ContinuousClock.Instant) {
    isTrying = false
    switch isGood {
    case nil: return
    case true?:
      failures = 0
      openUntil = nil
    case false?:
      failures = min(failures + 1, Self.failuresMax)
      if failures == Self.failuresMax { openUntil = now + Self.pause }
    }
  }
}
