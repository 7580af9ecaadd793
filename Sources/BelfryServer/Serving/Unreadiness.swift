import BelfryModel
import BelfryRedis

/// The reason for which a broker is not ready. Anybody may ask for it, so it names no address of the network.
enum Unreadiness: Sendable, Hashable {
  case shuttingDown
  /// Not every loop has reached Redis since the start.
  case starting
  /// Redis was there, and is away.
  case redisAway
  /// Redis answers, and does not let this broker in.
  case accessRefused(AccessRefusal)
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
    case .starting:
      "this broker is starting: not every event loop has reached Redis yet; if that lasts, the broker's log says why"
    case .redisAway: "Redis cannot be reached"
    case .accessRefused(let refusal): refusal.words
    case .diskFull: "Redis does not run, because its disk is full: free space, and the broker starts it again"
    case .keyspaceRefused(let words): words
    }
  }
}

/// How Redis refused the user or the password of a broker. Waiting does not help, so callers are told.
enum AccessRefusal: String, Sendable, Hashable {
  case wrongPassword = "WRONGPASS"
  case noPassword = "NOAUTH"
  case noPermission = "NOPERM"

  /// Nil for every other error. Redis's own words are in the log alone, since they may have names in them.
  init?(_ error: RedisError) {
    guard let refusal = error.replyCode.flatMap(AccessRefusal.init) else { return nil }
    self = refusal
  }

  fileprivate var words: String {
    switch self {
    case .wrongPassword:
      "Redis refuses this broker's user or password (WRONGPASS): correct them in the setting redis"
    case .noPassword:
      "Redis asks for a password, and this broker has none (NOAUTH): add it to the setting redis"
    case .noPermission:
      "Redis does not allow this broker's user all commands that it needs (NOPERM): give the user more rights in Redis"
    }
  }
}
