/// The grace of attendees after an interruption.
///
/// While the store, a node of it or this broker was away, attendees could not give heartbeats. Without a grace period all of
/// them would count as absent afterwards, and every room would close.
struct RoomGrace {
  private let heartbeatMilliseconds: Int64
  /// Between two rounds at most this far apart there was no interruption. It is never less than a few intervals. Otherwise,
  /// with short heartbeats, each round would count as an interruption and the grace period would never end.
  private let uninterruptedMilliseconds: Int64
  private var lastRoundMilliseconds: Int64?
  private var reachableSinceMilliseconds: Int64 = 0

  init(heartbeatMilliseconds: Int64, interval: Duration) {
    self.heartbeatMilliseconds = heartbeatMilliseconds
    uninterruptedMilliseconds = max(heartbeatMilliseconds, 3 * Int64(interval / Duration.milliseconds(1)))
  }

  /// Notes that a round begins, in milliseconds since 1970.
  mutating func beginRound(at now: Int64) {
    let isInterrupted = lastRoundMilliseconds.map { now - $0 > uninterruptedMilliseconds } ?? true
    if isInterrupted { reachableSinceMilliseconds = now }
    lastRoundMilliseconds = now
  }

  /// Notes that a part of the store does not answer. Its rooms get no heartbeats, and neither do those of accounts whose index
  /// is there.
  mutating func noteAbsence(at now: Int64) { reachableSinceMilliseconds = now }

  /// True if attendees have had time for a heartbeat, and for another one if the first was lost.
  func isOver(at now: Int64) -> Bool { now - reachableSinceMilliseconds >= 2 * heartbeatMilliseconds }
}
