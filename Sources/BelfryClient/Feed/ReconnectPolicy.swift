package import BelfrySystem

/// Decides if a feed connects again, and after what pause.
struct ReconnectPolicy: Sendable {
  /// How a connection, or the attempt to make one, ended.
  enum Ending: Sendable, Hashable {
    /// It broke, was silent for too long, was closed without a word, or was refused for now.
    case failed(BelfryError)
    /// The broker ended it on purpose.
    case kicked(retry: Bool)
  }

  enum Decision: Sendable, Hashable {
    case reconnect(after: Duration)
    /// Connecting again cannot help.
    case end(BelfryError?)
  }

  private let backoff: Backoff
  private var failures = 0
  /// The broker's `retry:`. It differs from consumer to consumer, so that they do not all return at once.
  private var askedPause: Duration = .zero

  init(backoff: Backoff) { self.backoff = backoff }

  /// Takes the pause that the broker asks for. It is limited, since the number may be garbage.
  mutating func asked(toPause pause: Duration) {
    askedPause = min(max(pause, .zero), .seconds(ClientLimits.retryAfterSeconds))
  }

  /// An event or a heartbeat came. Only this makes a connection a success. Otherwise the client would ask a broker that
  /// accepts and closes at once again and again, at the shortest pause.
  mutating func heard() { failures = 0 }

  mutating func decide(_ ending: Ending, random: Double) -> Decision {
    switch ending {
    case .kicked(retry: false):
      return .end(nil)
    case .kicked(retry: true):
      failures += 1
      return .reconnect(after: backoff.pause(failures: failures, floor: askedPause, random: random))
    case .failed(let error):
      guard error.mayPass else { return .end(error) }
      failures += 1
      let floor = max(askedPause, .seconds(error.retryAfterSeconds ?? 0))
      return .reconnect(after: backoff.pause(failures: failures, floor: floor, random: random))
    }
  }
}

extension Backoff {
  /// - Parameters:
  ///   - failures: how many tries in a row have failed before this pause.
  ///   - floor: the pause that the broker asked for. The random pause comes on top of it: a thousand clients that were
  ///     told to wait a second must not all return after exactly a second.
  ///   - random: in `0..<1`.
  package func pause(failures: Int, floor: Duration = .zero, random: Double) -> Duration {
    max(floor, .zero) + delay(doublings: max(failures, 1) - 1, random: random)
  }
}
