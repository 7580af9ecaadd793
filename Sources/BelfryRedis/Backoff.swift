/// How long to pause before connecting again: doubling with each failure, and jittered, so that brokers
/// that lost the same Redis do not all return in the same millisecond.
struct Backoff {
  let delayMin: Duration
  let delayMax: Duration

  /// - Parameters:
  ///   - failures: tries that failed since the connection was last up.
  ///   - random: in `0..<1`; the pause is that far between half the delay and the whole.
  func delay(failures: Int, random: Double) -> Duration {
    // Sixteen doublings exceed any sensible maximum, and a shift further might overflow.
    let doubled = delayMin * (1 << min(max(failures, 0), 16))
    return min(doubled, delayMax) * (0.5 + random / 2)
  }
}
