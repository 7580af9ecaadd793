import BelfryOutbound

/// When a delivery that failed is tried again.
///
/// Source: Standard Webhooks 1.0.0, "Deliverability and reliability": 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h.
package enum RetrySchedule {
  package static let delaysSeconds: [Double] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
  /// How long an endpoint may fail before it is disabled.
  package static let failingMaxMilliseconds: Int64 = 120 * 3_600_000
  /// Failures further apart are not one run. A failed delivery is tried again after 29 hours at the latest, so a longer
  /// time means that there was nothing to deliver.
  package static let runGapMilliseconds: Int64 = 48 * 3_600_000
  /// A run of failures of at least this length was an outage: the receiver was away, and did not fail because of single
  /// copies.
  package static let outageMilliseconds: Int64 = 60_000

  /// - Parameters:
  ///   - attempts: how often it has failed, at least once.
  ///   - retryAfter: the receiver's `Retry-After` as it wrote it. More than a day counts as a day.
  ///   - random: in `0..<1`. The pause varies by a fifth, so that deliveries that failed together do not come back
  ///     together.
  ///   - delays: in seconds.
  package static func delayMilliseconds(
    attempts: Int, retryAfter: String?, random: Double, delays: [Double] = delaysSeconds,
    nowMilliseconds: Int64
  ) -> Int64 {
    let seconds = delays[min(max(attempts, 1), delays.count) - 1]
    let delay = seconds * 1_000 * (0.8 + 0.4 * random)
    let asked = retryAfter.flatMap { RetryAfter.seconds($0, nowSeconds: nowMilliseconds / 1_000) } ?? 0
    return max(Int64(delay), min(asked, 86_400) * 1_000)
  }
}
