import BelfryRedis

/// Which process of Redis answers. HSCAN goes through a hash in an order that depends on a number drawn when the
/// process began, so a cursor of another one would leave out what that order has put behind it, with no word of it.
final class RedisProcess {
  /// The beginning of the process's own id: other than that of any other that a cursor could come from. The functions
  /// name the history of the data by it, too (`Functions/ids.lua`).
  private(set) var mark = ""

  private static let markDigits = 8

  /// Takes the reply of INFO, on each new connection before anything else is asked on it.
  func take(_ reply: RedisReply) throws(RedisError) {
    guard let id = try RedisInfo(reply)["run_id"] else {
      throw RedisError(.unexpectedReply, cause: "INFO names no run_id", place: "connection set-up")
    }
    mark = String(id.prefix(Self.markDigits))
  }
}

/// A walk through a hash that counts only if one process of Redis gave all of it.
struct HashScan {
  private(set) var cursor = "0"
  private var mark: String?

  /// Takes where a step ended, and which process gave it.
  /// - Returns: false if another process gave the steps before: all of them are void, and the walk is at the
  ///   beginning.
  mutating func take(_ next: String, of mark: String) -> Bool {
    guard self.mark == nil || self.mark == mark else {
      self = HashScan()
      return false
    }
    self.mark = mark
    cursor = next
    return true
  }
}
