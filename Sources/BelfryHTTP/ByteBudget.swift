import BelfryBytes
import Synchronization

/// How many bytes may be held at once, and how many are held.
package struct ByteBudget: Sendable, Hashable {
  package let limitBytes: Int
  package private(set) var heldBytes = 0

  package init(limitBytes: Int) {
    self.limitBytes = limitBytes
  }

  /// Takes so many bytes, or none. More than the whole budget can be taken while nothing else is held.
  /// - Parameter isForced: takes them in any case.
  package mutating func take(_ bytes: Int, isForced: Bool = false) -> Bool {
    guard isForced || heldBytes == 0 || bytes <= limitBytes - heldBytes else { return false }
    heldBytes += bytes
    return true
  }

  package mutating func giveBack(_ bytes: Int) { heldBytes -= bytes }
}

/// A budget for all accounts together, and one for each. Shared by the loops of a broker, since the kernel chooses the loop
/// of a connection.
package final class SharedBytes: Sendable {
  /// Which budget has too little left.
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

  /// - Parameter account: nil: only the common budget is used.
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

  /// So many times its budget an account may hold by results of what was done, which are given in any case; and by the
  /// longest page there is, which is given where nothing else is held.
  private static let excessMax = 4

  /// Whether the account exceeds its budget so far that its requests are refused until it takes answers.
  func isExhausted(by account: UTF8Text) -> Bool {
    state.withLock { state in
      if state.byAccount.isEmpty { return false }
      return state.byAccount[account].map { $0.heldBytes >= accountBytes * Self.excessMax } ?? false
    }
  }

  package var heldBytes: Int { state.withLock { $0.all.heldBytes } }
  package var accountsHolding: Int { state.withLock { $0.byAccount.count } }
}

/// What one request holds of the budgets. Given back with the last reference, so it is kept beside the bytes it counts.
package final class HeldBytes: Sendable {
  /// So many bytes are not counted, which spares most requests the lock. A connection takes more by itself.
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

  /// Holds so many bytes in all from now on; if there is no room, as many as before. On the loop of the request only.
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

  /// Of bodies eight batches at their limit, or hundreds of the common size, and of one account two; of answers
  /// dozens of the longest pages, and of one account several.
  package init(
    bodies: SharedBytes = SharedBytes(limitBytes: 64 << 20, accountBytes: 16 << 20),
    answers: SharedBytes = SharedBytes(limitBytes: 64 << 20, accountBytes: 8 << 20)
  ) {
    self.bodies = bodies
    self.answers = answers
  }
}
