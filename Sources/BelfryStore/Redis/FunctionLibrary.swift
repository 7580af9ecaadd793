import BelfryRedis

/// The Redis Functions that writes go through, one library made of `Functions/*.lua`.
///
/// Its name and those of its functions carry a version, so that brokers of two releases work side by
/// side on one Redis, each with its own. Raise it whenever a function's arguments, replies or effects
/// change.
enum FunctionLibrary {
  static let version = 5
  static let name = "belfry_\(version)"

  /// Lua reads it from the top: a file uses only what stands in those before it.
  static let code: [UInt8] =
    Array("#!lua name=\(name)\nlocal VERSION = \(version)\n".utf8)
    + PackageResources.partition_lua + PackageResources.clock_lua + PackageResources.records_lua
    + PackageResources.dedupe_lua + PackageResources.log_lua + PackageResources.commit_lua
    + PackageResources.relay_lua + PackageResources.read_lua + PackageResources.sweep_lua

  static var load: RedisCommand { RedisCommand("FUNCTION", "LOAD", "REPLACE", code) }

  private static var list: RedisCommand {
    RedisCommand("FUNCTION", "LIST", "LIBRARYNAME", name, "WITHCODE")
  }

  /// Loads the library on a new connection, unless the node has this very code.
  static func setUp(readingTimeWith read: @escaping (RedisReply) -> Void) -> RedisSetUp {
    RedisSetUp([list, RedisCommand("TIME")]) { replies throws(RedisError) in
      _ = try RedisSetUp.refuseErrors(replies)
      read(replies[1])
      return replies[0].holds(code) ? nil : RedisSetUp([load])
    }
  }

  /// Whether a call failed because the node has no such function: it was emptied by FUNCTION FLUSH, or
  /// is another node than the one that was set up. Nothing was done then.
  static func isMissing(_ reply: RedisReply) -> Bool {
    if case .error(let message) = reply { message.hasPrefix("ERR Function not found") } else { false }
  }
}

/// The functions.
enum StoreFunction: String {
  case commit, postpone
  case relay, deliver, list
  case markRead = "mark_read"
  case compactRead = "compact_read"
  case sweepSpace = "sweep_space"
  case sweepFormer = "sweep_former"
  case sweepAmendments = "sweep_amendments"
  case sweepExpired = "sweep_expired"
  case sweepIndex = "sweep_index"
  case sweepRead = "sweep_read"
  case sweepArrived = "sweep_arrived"
  case sweepDedupe = "sweep_dedupe"
  case forgetSpace = "forget_space"
  case dropSpace = "drop_space"

  var name: String { "belfry_\(rawValue)_\(FunctionLibrary.version)" }
}

extension RedisReply {
  /// Whether the bytes are somewhere in it.
  fileprivate func holds(_ bytes: [UInt8]) -> Bool {
    switch self {
    case .bulk(let found): found == bytes[...]
    case .array(let elements): elements.contains { $0.holds(bytes) }
    default: false
    }
  }
}
