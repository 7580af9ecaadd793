import BelfryBytes

/// The moment at which a write counts as done: when a master alone has it, or when so many of its replicas
/// have it as well.
package struct ReplicationPromise: Sendable, Hashable {
  /// The number of replicas that must have a write before anybody learns of it; 0: none.
  package var replicas: Int
  /// The time that they have. A replica in step answers within a millisecond; a master that is cut off never
  /// gets an answer.
  package var timeout: Duration = .milliseconds(300)

  package static let none = ReplicationPromise(replicas: 0)

  package init(replicas: Int) { self.replicas = replicas }
}

/// Asks a master if its replicas have all data that it had written before the question.
///
/// The answer covers everything that the master had answered before, over any connection: the reply to a
/// write, the result of a read, a live message. So one question serves all earlier replies. It has a
/// connection of its own, since Redis holds back later replies on the same one.
///
/// The question is a write and `WAIT`. Since Redis 7.2, and in Valkey, `WAIT` is about the last write of the
/// connection that it comes by, and without one it is answered at once, as if replicas had everything.
/// (Source: release notes of Redis 7.2, change 11713.) The write is of a key for the question alone, in a
/// slot that the node serves.
final class ReplicationWait {
  /// A slot in which a node takes a write.
  struct Slot {
    let number: Int
    /// True if the slot is on its way to the node, which then has to be told so.
    var isOnItsWay = false
  }

  private struct Waiter {
    let process: String
    let then: (RedisError?) -> Void
  }

  /// The write goes to replicas only, and to no append-only file. It works above `maxmemory`, too, since
  /// otherwise nobody would be told anything there.
  private static let write = """
    #!lua flags=allow-oom
    redis.set_repl(redis.REPL_REPLICA)
    return redis.call('SET', KEYS[1], '', 'PX', 60000)
    """
  /// A node that has lost so many slots, one after the other, has lost all: a replica has taken its place.
  private static let attemptsMax = 8

  let connection: RedisConnection
  /// The process that `connection` leads to, by Redis's `run_id`.
  var process = ""
  private let promise: ReplicationPromise
  private let place: String
  /// The callers that came since the last question was asked, which may not cover them.
  private var waiters: [Waiter] = []
  private var isAsking = false
  private let slot: () -> Slot?
  private let onRefusal: (_ message: String) -> Bool

  /// - Parameters:
  ///   - slot: a slot that the node serves, as far as is known.
  ///   - onRefusal: notes the node's answer about that slot. Returns true if the question can be asked in
  ///     another slot.
  init(
    on connection: RedisConnection, _ promise: ReplicationPromise, at place: String,
    slot: @escaping () -> Slot?, onRefusal: @escaping (_ message: String) -> Bool
  ) {
    (self.connection, self.promise, self.place) = (connection, promise, place)
    (self.slot, self.onRefusal) = (slot, onRefusal)
  }

  /// - Parameters:
  ///   - process: the process whose answer is waited for. A master that was killed and started again may have
  ///     lost it, and its replicas are in step with the rest.
  ///   - then: gets nil if enough replicas have all data that the process had written before this call.
  ///     Called once, perhaps before this function returns.
  func wait(for process: String, then: @escaping (RedisError?) -> Void) {
    waiters.append(Waiter(process: process, then: then))
    if !isAsking { ask() }
  }

  private func ask() {
    let asking = waiters
    waiters = []
    isAsking = true
    ask(attempt: 1) { [self] problem in
      isAsking = false
      for waiter in asking {
        waiter.then(problem ?? (waiter.process == process ? nil : unconfirmed("the node was restarted")))
      }
      if !waiters.isEmpty, !isAsking { ask() }
    }
  }

  private func ask(attempt: Int, then: @escaping (RedisError?) -> Void) {
    guard attempt <= Self.attemptsMax, let slot = slot() else {
      return then(unconfirmed("the node no longer serves any slots"))
    }
    connection.send { [promise] output in
      if slot.isOnItsWay { output.append(RedisCommand("ASKING")) }
      output.append("EVAL") { command in
        command.append(Self.write)
        command.append(1)
        command.append(OffsetKey.name(in: slot.number))
      }
      output.append("WAIT") { command in
        command.append(promise.replicas)
        command.append(promise.timeout.milliseconds)
      }
    } then: { [self] result in
      do throws(RedisError) {
        let replies = try result.get()
        let answers = slot.isOnItsWay ? replies.droppingFirst() : replies
        if case .error(let message) = answers[0] {
          guard onRefusal(message) else { throw unconfirmed(message) }
          return ask(attempt: attempt + 1, then: then)
        }
        let count = try answers[1].integer()
        then(
          count >= promise.replicas
            ? nil : unconfirmed("the write reached \(count) of \(promise.replicas) replicas"))
      } catch {
        // This question may not have been sent. But what it asks about has been carried out.
        then(error.ofSomeCommands)
      }
    }
  }

  private func unconfirmed(_ cause: String) -> RedisError {
    RedisError(.notReplicated, cause: "\(cause), so the write may be lost", place: place)
  }
}

/// The key that is written before a question: one for each slot, `belfry:offset:{N}`.
package enum OffsetKey {
  package static let prefix = "belfry:offset:"

  static func name(in slot: Int) -> String { "\(prefix){\(tags[slot])}" }

  /// For each slot the lowest number whose digits lie in it.
  private static let tags: [Int32] = {
    var tags = [Int32](repeating: -1, count: ClusterSlot.count)
    var (missing, number) = (ClusterSlot.count, Int32(0))
    while missing > 0 {
      let slot = ClusterSlot.of(String(number))
      if tags[slot] < 0 {
        tags[slot] = number
        missing -= 1
      }
      number += 1
    }
    return tags
  }()
}

extension Duration {
  fileprivate var milliseconds: Int {
    Int(components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000)
  }
}

extension RedisCommand {
  /// True if the command may change data, or calls a function that may. A command that is not known to read
  /// only counts as a write.
  package var isWrite: Bool { !Self.reads.contains(name) }

  private static let reads: Set<String> = [
    "FCALL_RO", "GET", "EXISTS", "HGET", "HMGET", "HGETALL", "HLEN", "HKEYS", "HSCAN", "HEXISTS", "XRANGE",
    "XREVRANGE", "XINFO",
    "XLEN", "ZRANGE", "ZREVRANGEBYLEX", "ZMSCORE", "ZSCORE", "ZCARD", "SMEMBERS", "SSCAN", "SMISMEMBER",
    "SCARD", "MULTI",
    "EXEC", "INFO", "TIME", "SCAN", "PING", "SCRIPT", "FUNCTION",
  ]
}
