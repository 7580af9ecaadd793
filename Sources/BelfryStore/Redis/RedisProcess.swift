import BelfryRedis

/// Which process of Redis answers. HSCAN goes through a hash in an order that depends on a number drawn when the
/// process began, so a cursor of another one would leave out what that order has put behind it, with no word of it.
final class RedisProcess {
  /// The beginning of the process's own id: other than that of any other that a cursor could come from.
  private(set) var mark = ""

  /// The beginning of the name of the data's history.
  private(set) var history = ""

  private static let markDigits = 8

  /// Takes the reply of INFO, on each new connection before anything else is asked on it.
  func take(_ reply: RedisReply) throws(RedisError) {
    let lines = try reply.string().split(whereSeparator: \.isNewline)
    mark = String(try Self.value(of: "run_id", in: lines).prefix(Self.markDigits))
    history = RedisHistory.name(try Self.value(of: "master_replid", in: lines).utf8)
  }

  private static func value(of name: String, in lines: [Substring]) throws(RedisError) -> Substring {
    let beginning = name + ":"
    guard let line = lines.first(where: { $0.hasPrefix(beginning) }) else {
      throw RedisError(.unexpectedReply, cause: "INFO names no \(name)", place: "connection set-up")
    }
    return line.dropFirst(beginning.count)
  }
}

/// The name of a history of the data, a replication id of Redis, as far as it is needed to tell one from another.
enum RedisHistory {
  private static let digits = 8

  /// Nothing, where there is no name.
  static func name(_ text: some Sequence<UInt8>) -> String {
    let name = String(decoding: Array(text.prefix(digits)), as: UTF8.self)
    return name == "-" ? "" : name
  }
}

/// A walk through a hash that counts only if one process of Redis gave all of it.
struct ProcessWalk {
  private(set) var cursor = "0"
  private var mark: String?

  /// Takes where a step ended, and which process gave it.
  /// - Returns: false if another process gave the steps before: all of them are void, and the walk is at the
  ///   beginning.
  mutating func take(_ next: String, of mark: String) -> Bool {
    guard self.mark == nil || self.mark == mark else {
      self = ProcessWalk()
      return false
    }
    self.mark = mark
    cursor = next
    return true
  }
}
