import BelfryInterface
import BelfryModel
import Synchronization

/// The limits of each account on this broker: sends and reads per second, and open streams.
///
/// The loops share one instance. The kernel spreads an account's connections over the loops. If each loop had
/// its own limits, an account's limits would be several times higher, and by chance. The lock is held only to
/// look up one number.
final class AccountLimits: Sendable {
  /// An account that was idle may use the budget of this many seconds at once.
  static let burstSeconds = 2
  /// The longest debt. It ensures that one device does not shut out the account's other devices for longer
  /// than a user would wait.
  static let debtSecondsMax = 30
  /// Above this number of accounts, idle ones are forgotten before another is added.
  static let accountsBeforeSweep = 65_536

  /// One rate limit for all accounts.
  private struct Budget: Sendable {
    let perSecond: Int
    /// For each account, the time at which it would have finished its work so far at the permitted rate; in
    /// the past if the account is idle. One number is a whole token bucket (the generic cell rate algorithm,
    /// ITU-T I.371).
    private var paidUntil: [AccountID: ContinuousClock.Instant] = [:]
    private var sweepAbove = accountsBeforeSweep

    private var interval: Duration { .seconds(1) / perSecond }
    private var burst: Duration { interval * (perSecond * burstSeconds - 1) }

    init(perSecond: Int) {
      self.perSecond = max(perSecond, 1)
    }

    mutating func take(_ count: Int, of account: AccountID, now: ContinuousClock.Instant) -> Int? {
      let ahead = now.duration(to: max(paidUntil[account] ?? now, now))
      guard ahead <= burst else {
        let (seconds, attoseconds) = (ahead - burst).components
        return Int(seconds) + (attoseconds > 0 ? 1 : 0)
      }
      owe(count, of: account, now: now)
      return nil
    }

    mutating func owe(_ count: Int, of account: AccountID, now: ContinuousClock.Instant) {
      if paidUntil[account] == nil, paidUntil.count >= sweepAbove {
        paidUntil = paidUntil.filter { $0.value > now }
        // If all accounts are busy, a sweep at every request would itself be the load.
        sweepAbove = max(accountsBeforeSweep, paidUntil.count * 2)
      }
      let due = max(paidUntil[account] ?? now, now) + interval * count
      paidUntil[account] = min(due, now + burst + .seconds(debtSecondsMax))
    }

    var accounts: Int { paidUntil.count }
  }

  private struct State {
    var sends: Budget
    var reads: Budget
    var slots: [AccountID: Int] = [:]

    subscript(_ pace: Price.Pace) -> Budget {
      get { pace == .sends ? sends : reads }
      _modify { if pace == .sends { yield &sends } else { yield &reads } }
    }
  }

  private let placesMax: Int
  private let state: Mutex<State>

  init(_ limits: Limits) {
    placesMax = limits.streamsPerAccount
    state = Mutex(
      State(
        sends: Budget(perSecond: limits.sendsPerSecondPerAccount),
        reads: Budget(perSecond: limits.readsPerSecondPerAccount)))
  }

  /// Takes sends or reads from the budget, unless the account is in debt.
  /// - Returns: nil if they were taken; otherwise the seconds until the account is out of debt.
  func take(_ count: Int, _ pace: Price.Pace, of account: AccountID, now: ContinuousClock.Instant) -> Int? {
    state.withLock { $0[pace].take(count, of: account, now: now) }
  }

  /// Takes sends or reads from the budget in any case.
  func owe(_ count: Int, _ pace: Price.Pace, of account: AccountID, now: ContinuousClock.Instant) {
    state.withLock { $0[pace].owe(count, of: account, now: now) }
  }

  /// The budget of an account for one second, in words.
  func pace(_ pace: Price.Pace) -> String {
    let count = state.withLock { $0[pace].perSecond }
    let (what, setting) =
      pace == .sends ? ("sends", "sendsPerSecondPerAccount") : ("reads", "readsPerSecondPerAccount")
    return "\(count) \(what) a second (limits.\(setting))"
  }

  /// Takes a slot for a stream or a waiting request.
  /// - Returns: false if the account has all the slots that it may have.
  func openSlot(of account: AccountID) -> Bool {
    state.withLock { state in
      let open = state.slots[account] ?? 0
      guard open < placesMax else { return false }
      state.slots[account] = open + 1
      return true
    }
  }

  func closeSlot(of account: AccountID) {
    state.withLock { state in
      guard let open = state.slots[account] else { return }
      state.slots[account] = open > 1 ? open - 1 : nil
    }
  }

  var accountsSending: Int { state.withLock { $0.sends.accounts } }
  func connectionSlots(of account: AccountID) -> Int { state.withLock { $0.slots[account] ?? 0 } }
  var accountsWithSlots: Int { state.withLock { $0.slots.count } }
}
