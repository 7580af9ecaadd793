import BelfryRedis

/// An estimate of Redis's clock, from which ids are made: the latest reading, carried on by this machine's clock. A
/// reading every few seconds is enough, since clocks drift apart by milliseconds a minute, and no operation waits for one.
final class RedisClock {
  static let readingLifetime: Duration = .seconds(5)

  private var readMilliseconds: Int64 = 0
  private var readAt: ContinuousClock.Instant?

  /// Takes the reply of TIME. The estimate is behind by the time the reply took to arrive.
  func take(_ reply: RedisReply, at now: ContinuousClock.Instant = .now) {
    guard let parts = try? reply.array(count: 2), let seconds = try? parts[0].integer(),
      let microseconds = try? parts[1].integer()
    else { return }
    readMilliseconds = seconds * 1_000 + microseconds / 1_000
    readAt = now
  }

  func isDue(at now: ContinuousClock.Instant = .now) -> Bool {
    readAt.map { now - $0 > Self.readingLifetime } ?? true
  }

  /// Milliseconds since 1970 at that instant; nil before the first reading.
  func milliseconds(at instant: ContinuousClock.Instant = .now) -> Int64? {
    guard let readAt else { return nil }
    let (seconds, attoseconds) = (instant - readAt).components
    return readMilliseconds + seconds * 1_000 + attoseconds / 1_000_000_000_000_000
  }
}
