import BelfryBytes
import Synchronization

/// How many bytes may be held at once, and how many are held.
package struct ByteBudget: Sendable, Hashable {
  package let limitBytes: Int
  package private(set) var heldBytes = 0

  package init(limitBytes: Int) {
    self.limitBytes = limitBytes
  }

  /// Takes all of the bytes or none. A request for more than the whole budget succeeds while nothing else is held.
  /// - Parameter isForced: take them even beyond the budget.
  package mutating func take(_ bytes: Int, isForced: Bool = false) -> Bool {
    guard isForced || heldBytes == 0 || bytes <= limitBytes - heldBytes else { return false }
    heldBytes += bytes
    return true
  }

  package mutating func giveBack(_ bytes: Int) { heldBytes -= bytes }
}

/// A budget for all accounts together, and one for each. Shared by the loops of a broker, since an account's
/// connections may be on any of them.
package final class SharedBytes: Sendable {
  /// Which budget is exhausted.
  package enum Shortage: Sendable {
    case all, account
  }

  private struct State {
    var all: ByteBudget
    /// By account, of those that hold any.
    var byAccount: [UTF8Text: ByteBudget] = [:]
  }

  private let accountBytes: Int
  private let state: Mutex<State>

  package init(limitBytes: Int, accountBytes: Int) {
    self.accountBytes = accountBytes
    state = Mutex(State(all: ByteBudget(limitBytes: limitBytes)))
  }

  /// - Parameter account: nil: only the common budget counts.
  func take(_ bytes: Int, for account: UTF8Text?, isForced: Bool = false) -> Shortage? {
    state.withLock { state in
      guard state.all.take(bytes, isForced: isForced) else { return .all }
      guard let account else { return nil }
      let budget = ByteBudget(limitBytes: accountBytes)
      guard state.byAccount[account, default: budget].take(bytes, isForced: isForced) else {
        state.all.giveBack(bytes)
        return .account
      }
      return nil
    }
  }

  func giveBack(_ bytes: Int, of account: UTF8Text?) {
    state.withLock { state in
      state.all.giveBack(bytes)
      guard let account, var budget = state.byAccount[account] else { return }
      budget.giveBack(bytes)
      state.byAccount[account] = budget.heldBytes > 0 ? budget : nil
    }
  }

  /// How many times its budget an account may hold. Results of what was carried out are answered in any case, and a
  /// page longer than the budget is given while nothing else is held.
  private static let excessMax = 4

  /// Whether the account holds so much that its requests are refused until it has taken answers.
  func isExhausted(by account: UTF8Text) -> Bool {
    state.withLock { state in
      if state.byAccount.isEmpty { return false }
      return state.byAccount[account].map { $0.heldBytes >= accountBytes * Self.excessMax } ?? false
    }
  }

  package var heldBytes: Int { state.withLock { $0.all.heldBytes } }
  package var accountsHolding: Int { state.withLock { $0.byAccount.count } }
}

/// What one request holds of a budget. Given back with the last reference: keep it beside the bytes that it counts.
package final class HeldBytes: Sendable {
  /// So many bytes are not counted, which spares most requests the lock. A connection itself takes more.
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

  /// Changes the number of bytes held, unless there is no room. On the loop of the request only.
  /// - Parameter bytes: in all, not in addition.
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

  /// Bodies: eight batches of the largest size, two of one account. Answers: dozens of the longest pages, several of
  /// one account.
  package init(
    bodies: SharedBytes = SharedBytes(limitBytes: 64 << 20, accountBytes: 16 << 20),
    answers: SharedBytes = SharedBytes(limitBytes: 64 << 20, accountBytes: 8 << 20)
  ) {
    self.bodies = bodies
    self.answers = answers
  }
}
