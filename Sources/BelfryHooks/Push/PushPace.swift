import Synchronization

/// Limits how many pushes one loop begins, in bursts of a quarter of a second. A loop may also use what the others leave:
/// the pushes of a broadcast lie in one partition, and so on one loop.
struct PushPace {
  private let perSecond: Double
  private let spare: SparePace
  private var allowed: Double = 0
  /// The part of the last offer that is from the others.
  private var borrowed = 0
  private var last: ContinuousClock.Instant

  init(perSecond: Double, _ spare: SparePace, now: ContinuousClock.Instant = .now) {
    (self.perSecond, self.spare, last) = (perSecond, spare, now)
  }

  /// - Parameter free: the most that could begin.
  /// - Returns: how many pushes may begin now. To call before each ``takeTurns(_:of:)``.
  mutating func refill(now: ContinuousClock.Instant, atMost free: Int) -> Int {
    let most = max(perSecond * (PushDispatcher.interval / .seconds(1)) * 2, 1)
    let grown = allowed + perSecond * ((now - last) / .seconds(1))
    (allowed, last) = (min(grown, most), now)
    // The last offer may not have been taken.
    spare.leaveTurns(Double(borrowed) + max(grown - most, 0))
    let own = min(max(Int(allowed), 0), free)
    borrowed = own < free ? spare.borrowTurns(atMost: free - own) : 0
    return own + borrowed
  }

  /// The others may use the rest of what was theirs.
  mutating func takeTurns(_ count: Int, of offered: Int) {
    let unused = min(offered - count, borrowed)
    spare.leaveTurns(Double(unused))
    allowed -= Double(count - (borrowed - unused))
    borrowed = 0
  }

  /// A push that was begun has made no request.
  mutating func giveTurnBack() { allowed += 1 }
}

/// The pace that loops of a broker do not use, at most that of half a second.
package final class SparePace: Sendable {
  private let most: Double
  private let spare = Mutex(0.0)

  /// - Parameter perSecond: how many pushes the broker begins in a second.
  package init(perSecond: Int) {
    most = Double(perSecond) * (PushDispatcher.interval / .seconds(1)) * 2
  }

  func leaveTurns(_ count: Double) { spare.withLock { $0 = min($0 + count, most) } }

  func borrowTurns(atMost count: Int) -> Int {
    spare.withLock { spare in
      let taken = min(Int(spare), count)
      spare -= Double(taken)
      return taken
    }
  }
}
