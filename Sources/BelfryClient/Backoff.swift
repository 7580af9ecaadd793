/// How long to pause before trying again, with full jitter: anywhere between nothing and a bound that
/// doubles with each failure. Clients of a broker that restarted are then spread over the whole span,
/// where a fixed or half-jittered pause would bring them back in waves.
package struct Backoff: Sendable, Hashable {
  package var base: Duration
  package var cap: Duration

  package init(base: Duration, cap: Duration) {
    self.base = base
    self.cap = cap
  }

  /// - Parameters:
  ///   - failures: tries that failed before this pause, in a row, the last one included.
  ///   - floor: what the broker asked for. It comes on top: told to wait a second, a thousand clients
  ///     should not return all after exactly a second.
  ///   - random: in `0..<1`.
  package func pause(failures: Int, floor: Duration = .zero, random: Double) -> Duration {
    // Sixteen doublings exceed any sensible cap, and more might overflow.
    let doublings = min(max(failures, 1), 17) - 1
    return max(floor, .zero) + min(base * (1 << doublings), cap) * random
  }
}
