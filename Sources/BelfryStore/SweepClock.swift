/// The node's answer about the time, when a partition is to be swept.
package struct SweepReading: Sendable, Hashable {
  /// The node's clock, milliseconds since 1970. All bounds of the sweep are made from it.
  package var timeMilliseconds: Int64
  /// When the last sweep of the partition began, by such a clock; nil if there was none.
  package var sweptAtMilliseconds: Int64?

  package init(timeMilliseconds: Int64, sweptAtMilliseconds: Int64?) {
    self.timeMilliseconds = timeMilliseconds
    self.sweptAtMilliseconds = sweptAtMilliseconds
  }
}

/// The reason why a clock is not swept by. A sweep that waits costs memory. A sweep by a clock that is ahead
/// removes data that was acknowledged a moment ago.
package enum ClockDoubt: Sendable, Hashable {
  /// The clocks of Redis and of the broker differ by so much.
  case apart(milliseconds: Int64)
  /// Redis's clock is so far ahead of its earlier reading and the time that has passed since.
  case ahead(milliseconds: Int64)
  /// The last sweep is so long ago by Redis's clock, and this broker has no earlier reading: either no broker ran
  /// meanwhile, or the clock has stepped.
  case unproven(milliseconds: Int64)

  package static let reasons = ["apart", "ahead", "unproven"]

  /// One of ``reasons``.
  package var reason: String {
    switch self {
    case .apart: "apart"
    case .ahead: "ahead"
    case .unproven: "unproven"
    }
  }

  package var milliseconds: Int64 {
    switch self {
    case .apart(let milliseconds), .ahead(let milliseconds), .unproven(let milliseconds): milliseconds
    }
  }
}

/// Judges the clock by which one partition is to be swept. It is a rule over readings, and remembers the last
/// one.
///
/// A clock that has stepped forward is believed once it has gone on steadily for an hour. After an hour an
/// operator had time to see that the sweep is paused. A correction, as of a machine that started with a wrong
/// time, has also long been made.
package struct SweepClock: Sendable {
  /// The most by which the clocks of Redis and of the broker may differ.
  package static let apartMaxMilliseconds: Int64 = 3_600_000
  /// The most by which a reading may be ahead of what was expected.
  package static let aheadMaxMilliseconds: Int64 = 60_000
  /// The time for which a broker may be gone when it is started again, in milliseconds.
  private static let restartMilliseconds: Int64 = 300_000
  /// The time for which a clock that is ahead must go on steadily before it is believed. It is retention if
  /// that is shorter: all data that was there when the clock stepped is past retention after that time.
  package static let steadyTime: Duration = .seconds(3_600)

  private struct Anchor {
    var milliseconds: Int64
    var at: ContinuousClock.Instant

    /// The time that a clock shows now, if it showed this one and was not set since.
    func milliseconds(at now: ContinuousClock.Instant) -> Int64 {
      milliseconds + Int64((now - at) / .milliseconds(1))
    }
  }

  private let steadyTime: Duration
  /// The longest time since the last sweep for a broker that has just started. A round comes to a partition
  /// once in an interval. The broker before may have stopped at the end of its round, and this one comes to
  /// the partition at the end of its own. With less, an ordinary restart would keep half of the partitions
  /// from being swept for an hour.
  private let pauseMaxMilliseconds: Int64
  private var believed: Anchor?
  /// The first reading of a clock that is ahead.
  private var doubted: Anchor?

  /// - Parameter intervalMilliseconds: the time between two sweeps of the partition, if a broker runs.
  package init(intervalMilliseconds: Int64, retentionMilliseconds: Int64) {
    pauseMaxMilliseconds = min(
      2 * intervalMilliseconds + Self.restartMilliseconds, retentionMilliseconds / 2)
    steadyTime = min(Self.steadyTime, .milliseconds(retentionMilliseconds))
  }

  /// - Parameters:
  ///   - brokerMilliseconds: the broker's own clock, milliseconds since 1970.
  ///   - now: when the reading was made, by a clock that nobody sets.
  /// - Returns: nil if the partition may be swept by the reading.
  package mutating func judge(
    _ reading: SweepReading, brokerMilliseconds: Int64, now: ContinuousClock.Instant
  ) -> ClockDoubt? {
    let time = reading.timeMilliseconds
    let difference = abs(time - brokerMilliseconds)
    if difference > Self.apartMaxMilliseconds {
      doubted = nil
      return .apart(milliseconds: difference)
    }
    let lead = time - expectedMilliseconds(reading, now)
    if lead <= Self.aheadMaxMilliseconds || isSteady(time, now) {
      (believed, doubted) = (Anchor(milliseconds: time, at: now), nil)
      return nil
    }
    return believed == nil ? .unproven(milliseconds: lead) : .ahead(milliseconds: lead)
  }

  private func expectedMilliseconds(_ reading: SweepReading, _ now: ContinuousClock.Instant) -> Int64 {
    if let believed { return believed.milliseconds(at: now) }
    return reading.sweptAtMilliseconds.map { $0 + pauseMaxMilliseconds } ?? reading.timeMilliseconds
  }

  /// True if a clock that is ahead has gone on for long enough. The first reading of it begins the wait.
  private mutating func isSteady(_ time: Int64, _ now: ContinuousClock.Instant) -> Bool {
    guard let doubted, abs(time - doubted.milliseconds(at: now)) <= Self.aheadMaxMilliseconds else {
      self.doubted = Anchor(milliseconds: time, at: now)
      return false
    }
    return now - doubted.at >= steadyTime
  }
}
