/// When a write counts as done: by a master alone, or by so many of its replicas as well.
package struct ReplicationPromise: Sendable, Hashable {
  /// Replicas that must have a write before anybody learns of it; 0: none.
  package var replicas: Int
  /// How long they have. A replica in step answers within a millisecond; a master that is cut off never gets an answer.
  package var timeout: Duration = .milliseconds(300)

  package static let none = ReplicationPromise(replicas: 0)

  package init(replicas: Int) { self.replicas = replicas }
}

/// Asks a master, after writes that it has carried out, whether its replicas have them too.
///
/// One question (WAIT) serves everything that the connection was answered before the question is. Redis holds back what it
/// answers on the connection meanwhile, so the connection carries writes only.
final class ReplicationWait {
  private let connection: RedisConnection
  private let promise: ReplicationPromise
  private var waiters: [(RedisError?) -> Void] = []

  init(on connection: RedisConnection, _ promise: ReplicationPromise) {
    (self.connection, self.promise) = (connection, promise)
  }

  /// - Parameter then: gets nil if enough replicas have all writes that this connection was answered before this call.
  func wait(at place: String, then: @escaping (RedisError?) -> Void) {
    waiters.append(then)
    if waiters.count > 1 { return }
    connection.send { [promise] output in
      output.append("WAIT") { command in
        command.append(promise.replicas)
        command.append(promise.timeout.milliseconds)
      }
    } then: { [self] result in
      let waiting = waiters
      waiters = []
      let problem = problem(in: result, at: place)
      for waiter in waiting { waiter(problem) }
    }
  }

  private func problem(in result: Result<RedisReplies, RedisError>, at place: String) -> RedisError? {
    do throws(RedisError) {
      let count = try result.get()[0].integer()
      if count >= promise.replicas { return nil }
      return RedisError(
        .notReplicated, cause: "\(count) of \(promise.replicas) replicas have it: it may be lost",
        place: place)
    } catch {
      return error
    }
  }
}

extension Duration {
  fileprivate var milliseconds: Int {
    Int(components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000)
  }
}

extension RedisCommand {
  /// Whether it may change something, or a function that it calls may. What is not known to read only counts as a write.
  var isWrite: Bool { !Self.reads.contains(name) }

  private static let reads: Set<String> = [
    "FCALL_RO", "GET", "EXISTS", "HGET", "HMGET", "HGETALL", "HLEN", "HKEYS", "HSCAN", "HEXISTS", "XRANGE",
    "XREVRANGE",
    "XLEN", "ZRANGE", "ZREVRANGEBYLEX", "ZMSCORE", "ZSCORE", "ZCARD", "SMEMBERS", "SSCAN", "SMISMEMBER",
    "SCARD", "MULTI",
    "EXEC", "INFO", "TIME", "SCAN", "PING", "SCRIPT", "FUNCTION",
  ]
}
