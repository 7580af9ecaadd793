/// Limits the frames of a socket that ask for nothing: `{}`, pings, pongs and short fragments. All other
/// frames have a price, or wait until an earlier one is answered. Without this limit, these frames would come
/// as fast as the line carries them.
struct FramePace {
  static let atOnce = 1_000
  static let perSecond = 100

  private var left = Double(atOnce)
  private var countedAt: ContinuousClock.Instant?

  /// - Returns: false if there are too many frames.
  mutating func take(_ count: Int, now: ContinuousClock.Instant) -> Bool {
    let passed = countedAt.map { $0.duration(to: now) } ?? .zero
    countedAt = now
    left = min(left + max(passed / .seconds(1), 0) * Double(Self.perSecond), Double(Self.atOnce))
    guard Double(count) <= left else { return false }
    left -= Double(count)
    return true
  }
}
