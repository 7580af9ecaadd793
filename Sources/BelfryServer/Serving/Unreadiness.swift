import BelfryModel

/// The reason for which a broker is not ready. Anybody may ask for it, so it names no address of the network.
enum Unreadiness: Sendable, Hashable {
  case shuttingDown
  /// Not every loop has reached Redis since the start.
  case starting
  /// Redis was there, and is away.
  case redisAway
  /// The embedded Redis has ended, or did not start, and its disk is full.
  case diskFull
  /// Redis holds a keyspace that this broker must not work on.
  case keyspaceRefused(String)

  var refusal: Refusal {
    Refusal(.unavailable, detail, retryAfterSeconds: self == .shuttingDown ? nil : 1)
  }

  private var detail: String {
    switch self {
    case .shuttingDown: "this broker is shutting down"
    case .starting: "this broker is starting: not every event loop has reached Redis yet"
    case .redisAway: "Redis cannot be reached"
    case .diskFull: "Redis does not run, because its disk is full"
    case .keyspaceRefused(let words): words
    }
  }
}
