import BelfryModel
import Synchronization

/// What each account may still do on this broker: how much it may cause a second, and how many streams it holds open.
///
/// The one thing that the loops share. An account's connections are spread over the loops by the kernel, so a
/// limit kept loop by loop would be as many times higher as there are loops, and by chance. The lock is held
/// for the look-up of one number.
final class AccountLimits: Sendable {
  /// An account that was idle may do so many seconds' worth at once.
  static let burstSeconds = 2
  /// No debt is longer: a request that names thousands is refused by other limits, and nobody is to be shut out by
  /// what another device of theirs did for longer than they would wait.
  static let debtSecondsMax = 30
  /// Above so many accounts, those that are idle are forgotten before another is entered.
  static let accountsBeforeSweep = 65_536

  /// One pace of all accounts.
  private struct Budget: Sendable {
    let perSecond: Int
    /// When each account would have done at the permitted pace all that it has done so far. In the past: the account
    /// is idle. One number is a whole token bucket (the generic cell rate algorithm, ITU-T I.371).
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
        // Were all of them busy, sweeping again at every request would be the load itself.
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
    var places: [AccountID: Int] = [:]

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

  /// Takes so many sends or reads if the account is not in debt, or says after how many seconds it is not.
  func take(_ count: Int, _ pace: Price.Pace, of account: AccountID, now: ContinuousClock.Instant) -> Int? {
    state.withLock { $0[pace].take(count, of: account, now: now) }
  }

  /// Takes so many in any case.
  func owe(_ count: Int, _ pace: Price.Pace, of account: AccountID, now: ContinuousClock.Instant) {
    state.withLock { $0[pace].owe(count, of: account, now: now) }
  }

  /// What an account may do in a second, in words.
  func pace(_ pace: Price.Pace) -> String {
    let count = state.withLock { $0[pace].perSecond }
    let (what, setting) =
      pace == .sends ? ("sends", "sendsPerSecondPerAccount") : ("reads", "readsPerSecondPerAccount")
    return "\(count) \(what) a second (limits.\(setting))"
  }

  /// Takes a place for a stream or a waiting request; false when the account has them all.
  func openPlace(of account: AccountID) -> Bool {
    state.withLock { state in
      let open = state.places[account] ?? 0
      guard open < placesMax else { return false }
      state.places[account] = open + 1
      return true
    }
  }

  func closePlace(of account: AccountID) {
    state.withLock { state in
      guard let open = state.places[account] else { return }
      state.places[account] = open > 1 ? open - 1 : nil
    }
  }

  var accountsSending: Int { state.withLock { $0.sends.accounts } }
  func connectionSlots(of account: AccountID) -> Int { state.withLock { $0.places[account] ?? 0 } }
  var accountsWithPlaces: Int { state.withLock { $0.places.count } }
}
