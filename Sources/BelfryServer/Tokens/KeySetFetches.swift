import BelfryModel
import BelfryOutbound
import BelfrySystem
import Synchronization

/// When the key set at an address is fetched, and what became of it. All loops ask and tell it, one of them fetches.
///
/// Keys are believed until others are there: a fetch that fails changes nothing, so an issuer that is away locks nobody
/// out. A key is accepted for as long after it was taken away there as the next fetch takes.
final class KeySetFetches: Sendable {
  /// Between two fetches that went well.
  static let interval: Duration = .seconds(300)
  /// After one that failed, doubling.
  static let retries = Backoff(.seconds(5), atMost: interval, jitter: .half)
  /// Between two that unknown keys ask for: whoever makes names of keys up causes no more than that.
  static let pace: Duration = .seconds(10)
  static let deadline: Duration = .seconds(10)
  /// As of a file.
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

  /// Whether to fetch now. Who is told so fetches, and says what came of it.
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

  /// Takes note that somebody showed a token of a key that nobody knows.
  /// - Returns: whether a fetch may bring it: one that is under way or comes at once, or the first that goes well.
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
  /// Fetches it once.
  /// - Throws: why there are no keys, in words.
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
