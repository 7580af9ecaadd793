package import BelfrySystem

/// Whether, and after what pause, a feed connects again.
struct ReconnectPolicy: Sendable {
  /// How a connection, or the attempt to make one, ended.
  enum Ending: Sendable, Hashable {
    /// It broke, was silent too long, was closed without a word, or was refused for now.
    case failed(BelfryError)
    /// The broker said goodbye.
    case kicked(retry: Bool)
  }

  enum Decision: Sendable, Hashable {
    case reconnect(after: Duration)
    /// Asking again cannot help.
    case end(BelfryError?)
  }

  private let backoff: Backoff
  private var failures = 0
  /// The broker's `retry:`, which differs from one consumer to the next.
  private var askedPause: Duration = .zero

  init(backoff: Backoff) { self.backoff = backoff }

  /// The broker says what to wait. Bounded, since the number may be garbage.
  mutating func asked(toPause pause: Duration) {
    askedPause = min(max(pause, .zero), .seconds(ClientLimits.retryAfterSeconds))
  }

  /// An event or a heartbeat came. Not before then is a connection a success: a broker that accepts
  /// and hangs up at once would otherwise be asked again without end at the shortest pause.
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
  ///   - failures: tries that failed before this pause, in a row, the last one included.
  ///   - floor: what the broker asked for. It comes on top: told to wait a second, a thousand clients
  ///     should not return all after exactly a second.
  ///   - random: in `0..<1`.
  package func pause(failures: Int, floor: Duration = .zero, random: Double) -> Duration {
    max(floor, .zero) + delay(doublings: max(failures, 1) - 1, random: random)
  }
}
