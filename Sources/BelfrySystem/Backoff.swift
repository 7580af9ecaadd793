/// The pause before another try: twice as long with each failure in a row, up to a bound.
package struct Backoff: Sendable, Hashable {
  /// The random part of a pause, so that clients that lost the same connection do not all return in the same
  /// millisecond.
  package enum Jitter: Sendable, Hashable {
    case none
    /// Between half of the pause and the whole: for a few, who should be back soon.
    case half
    /// Between nothing and the whole: for thousands. Any share of the pause that all had in common would bring them back
    /// in waves.
    case full
  }

  package var delayMin: Duration
  package var delayMax: Duration
  package var jitter: Jitter

  package init(_ delayMin: Duration, atMost delayMax: Duration, jitter: Jitter) {
    self.delayMin = delayMin
    self.delayMax = delayMax
    self.jitter = jitter
  }

  /// - Parameters:
  ///   - doublings: the number of times that the pause has doubled; none at the first failure.
  ///   - random: in `0..<1`.
  package func delay(doublings: Int, random: Double) -> Duration {
    // Sixteen doublings exceed any sensible maximum, and more might overflow.
    let delay = min(delayMin * (1 << min(max(doublings, 0), 16)), delayMax)
    return switch jitter {
    case .none: delay
    case .half: delay * (0.5 + random / 2)
    case .full: delay * random
    }
  }
}
