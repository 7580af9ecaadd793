import BelfryModel
import BelfryOutbound
import BelfrySystem
import Synchronization

/// Decides when the key set at an address is fetched, and records the results. All loops ask and inform it;
/// one of them fetches.
///
/// The keys stay accepted until a fetch brings others. A fetch that fails changes nothing, so an issuer that
/// is away locks nobody out. A key that the issuer has removed is accepted until the next fetch.
final class KeySetFetches: Sendable {
  /// The time between two successful fetches.
  static let interval: Duration = .seconds(300)
  /// The time after a failed fetch, doubled each time.
  static let retries = Backoff(.seconds(5), atMost: interval, jitter: .half)
  /// The shortest time between two fetches that unknown keys cause. A client that makes up key names causes
  /// no more fetches than that.
  static let pace: Duration = .seconds(10)
  static let deadline: Duration = .seconds(10)
  /// The same limit as for a file.
  static let answerMaxBytes = 256 << 10

  private struct State {
    var dueAt = ContinuousClock.now
    var lastBegan: ContinuousClock.Instant?
    var isUnderWay = false
    var hasSucceeded = false
    var failures = 0
  }

  let url: OutboundURL
  private let pace: Duration
  private let state = Mutex(State())

  init(_ url: OutboundURL, pace: Duration = pace) { (self.url, self.pace) = (url, pace) }

  /// True if the caller is to fetch now. The caller then fetches and reports the result.
  func begin(now: ContinuousClock.Instant = .now) -> Bool {
    state.withLock { state in
      guard !state.isUnderWay, state.dueAt <= now else { return false }
      state.isUnderWay = true
      state.lastBegan = now
      return true
    }
  }

  func end(isGood: Bool, random: Double, now: ContinuousClock.Instant = .now) {
    state.withLock { state in
      state.isUnderWay = false
      state.failures = isGood ? 0 : state.failures + 1
      state.hasSucceeded = state.hasSucceeded || isGood
      let pause = isGood ? Self.interval : Self.retries.delay(doublings: state.failures - 1, random: random)
      state.dueAt = now + pause
    }
  }

  /// Records that a client showed a token of an unknown key.
  /// - Returns: true if a fetch may bring the key: one that is under way or begins at once, or the first
  ///   successful one.
  func missKey(now: ContinuousClock.Instant = .now) -> Bool {
    state.withLock { state in
      if state.isUnderWay { return true }
      let isTime = state.lastBegan.map { $0.duration(to: now) >= pace } ?? true
      if isTime { state.dueAt = min(state.dueAt, now) }
      return isTime || !state.hasSucceeded
    }
  }
}

extension KeySetFetches {
  /// Fetches the key set once.
  /// - Throws: the reason for which there are no keys, in words.
  func fetch(by client: OutboundClient) async throws(TokenError) -> [TokenKey] {
    let request = OutboundRequest(
      .get, url, headers: [("Accept", "application/jwk-set+json, application/json")], deadline: Self.deadline,
      answerMaxBytes: Self.answerMaxBytes)
    let response: OutboundResponse
    do throws(OutboundError) {
      response = try await client.send(request)
    } catch {
      throw TokenError(error.cause)
    }
    guard response.status == 200 else { throw TokenError("the answer has status \(response.status)") }
    return try JSONWebKeySet.keys(in: response.body, passesOverUnusable: true)
  }
}
