import BelfryBytes
import BelfryLoop
import Synchronization

/// The bytes that all accounts together may hold, shared among them. Used by all loops of a broker, since an account's
/// connections may be on any of them.
///
/// A part is kept for trusted callers. Users share the rest by the rule of ``FairShares``, so a few that hold much leave
/// room for the others.
package final class SharedBytes: Sendable {
  /// Which budget is exhausted.
  typealias Shortage = FairShares<UTF8Text>.Shortage

  private let accountBytes: Int
  private let state: Mutex<FairShares<UTF8Text>>

  /// - Parameters:
  ///   - accountBytes: the most that one account may hold, even if more is free.
  ///   - reservedBytes: the bytes that users leave free for trusted callers.
  package init(limitBytes: Int, accountBytes: Int, reservedBytes: Int = 0) {
    self.accountBytes = accountBytes
    state = Mutex(FairShares(total: limitBytes, perOwner: accountBytes, reserved: reservedBytes))
  }

  /// - Parameter account: nil for trusted callers, whom only the common budget limits.
  func take(_ bytes: Int, for account: UTF8Text?, isForced: Bool = false) -> Shortage? {
    state.withLock { $0.take(bytes, for: account, isForced: isForced) }
  }

  func giveBack(_ bytes: Int, of account: UTF8Text?) {
    state.withLock { $0.giveBack(bytes, of: account) }
  }

  /// The number of budgets that an account may hold at most. Results of finished work are answered in any
  /// case, and a page longer than the budget is given while nothing else is held.
  private static let excessMax = 4

  /// True if the account holds so much that its requests are refused until it has taken answers.
  func isExhausted(by account: UTF8Text) -> Bool {
    state.withLock { $0.taken(by: account) >= accountBytes * Self.excessMax }
  }

  package var heldBytes: Int { state.withLock { $0.takenByAll } }
  package var accountsHolding: Int { state.withLock { $0.ownerCount } }
}

/// The bytes that one request holds of a budget. They are given back with the last reference, so keep it
/// together with the bytes that it counts.
package final class HeldBytes: Sendable {
  /// Up to this number bytes are not counted, which spares most requests the lock. A connection itself takes
  /// more.
  static let uncountedBytes = 4 * 1024

  private let shared: SharedBytes
  private let account: UTF8Text?
  private let count = Atomic(0)

  init(of shared: SharedBytes, for account: UTF8Text?) {
    self.shared = shared
    self.account = account
  }

  deinit {
    let bytes = count.load(ordering: .acquiring)
    if bytes > 0 { shared.giveBack(bytes, of: account) }
  }

  /// Changes the number of bytes held, unless there is no room. Called only on the loop of the request.
  /// - Parameter bytes: the new total, not an addition.
  func grow(to bytes: Int, isForced: Bool = false) -> SharedBytes.Shortage? {
    let held = count.load(ordering: .relaxed)
    guard bytes > max(held, Self.uncountedBytes) else { return nil }
    if let shortage = shared.take(bytes - held, for: account, isForced: isForced) { return shortage }
    count.store(bytes, ordering: .releasing)
    return nil
  }
}

/// The bytes that a broker holds for requests, all its loops together.
package struct HTTPBudgets: Sendable {
  /// Bodies, from their first byte until they have been worked on.
  package let bodies: SharedBytes
  /// Answers that clients have yet to take.
  package let answers: SharedBytes

  /// The budget for bodies holds eight batches of the largest size: users may have four of them, and one
  /// account two. The budget for answers holds dozens of the longest pages, several of them for one account.
  package init(
    bodies: SharedBytes = SharedBytes(limitBytes: 64 << 20, accountBytes: 16 << 20, reservedBytes: 32 << 20),
    answers: SharedBytes = SharedBytes(limitBytes: 64 << 20, accountBytes: 8 << 20, reservedBytes: 32 << 20)
  ) {
    self.bodies = bodies
    self.answers = answers
  }
}
