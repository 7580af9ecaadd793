import BelfryModel
import Synchronization

/// What each account may still do on this broker: how fast it sends, and how many streams it holds open.
///
/// The one thing that the loops share. An account's connections are spread over the loops by the kernel, so a
/// limit kept loop by loop would be as many times higher as there are loops, and by chance. The lock is held
/// for the look-up of one number.
final class AccountLimits: Sendable {
  /// An account that was idle may send so many seconds' worth at once.
  static let burstSeconds = 2
  /// Above so many accounts, those that are idle are forgotten before another is entered.
  static let accountsBeforeSweep = 65_536

  private struct State {
    /// When each account's sends so far would all have been sent at the permitted pace. In the past: the
    /// account is idle. One number is a whole token bucket (the generic cell rate algorithm, ITU-T I.371).
    var sentUntil: [AccountID: ContinuousClock.Instant] = [:]
    var sweepAbove = accountsBeforeSweep
    var places: [AccountID: Int] = [:]
  }

  private let interval: Duration
  private let burst: Duration
  private let placesMax: Int
  private let state = Mutex(State())

  init(_ limits: Limits) {
    interval = .seconds(1) / max(limits.sendsPerSecondPerAccount, 1)
    burst = interval * (limits.sendsPerSecondPerAccount * Self.burstSeconds - 1)
    placesMax = limits.streamsPerAccount
  }

  /// Takes one send, or says after how many seconds there is one.
  func takeSend(of account: AccountID, now: ContinuousClock.Instant) -> Int? {
    state.withLock { state in
      let sentUntil = max(state.sentUntil[account] ?? now, now)
      let ahead = now.duration(to: sentUntil)
      guard ahead <= burst else {
        let (seconds, attoseconds) = (ahead - burst).components
        return Int(seconds) + (attoseconds > 0 ? 1 : 0)
      }
      if state.sentUntil[account] == nil, state.sentUntil.count >= state.sweepAbove {
        state.sentUntil = state.sentUntil.filter { $0.value > now }
        // Were all of them busy, sweeping again at every send would be the load itself.
        state.sweepAbove = max(Self.accountsBeforeSweep, state.sentUntil.count * 2)
      }
      state.sentUntil[account] = sentUntil + interval
      return nil
    }
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

  var accountsSending: Int { state.withLock { $0.sentUntil.count } }
  func openPlaces(of account: AccountID) -> Int { state.withLock { $0.places[account] ?? 0 } }
  var accountsWithPlaces: Int { state.withLock { $0.places.count } }
}
