package import BelfryLoop
package import BelfryModel
package import BelfryRedis

/// The store in Redis: what docs/redis-layout.md describes, read by plain commands and written by the
/// functions in `Functions/`.
///
/// It belongs to its loop, with one pipelined connection of its own. While Redis is away everything
/// fails at once with `unavailable`.
package final class RedisStore: Store {
  let connection: RedisConnection
  /// Redis's time; the live feed of the same loop needs it too.
  let clock: RedisClock
  let commits: RedisCommits
  package let limits: Limits

  package init(
    loop: EventLoop, endpoint: RedisEndpoint, limits: Limits, redisLimits: RedisLimits = RedisLimits()
  ) {
    let clock = RedisClock()
    self.clock = clock
    self.limits = limits
    connection = RedisConnection(
      loop: loop, endpoint: endpoint, limits: redisLimits,
      setUp: FunctionLibrary.setUp { clock.take($0) })
    commits = RedisCommits(loop: loop, connection: connection, limits: limits)
  }

  package func start() {
    commits.start()
    connection.start()
  }

  package func close() {
    commits.close()
    connection.close()
  }

  package var state: RedisConnection.State { connection.state }
  package var onStateChange: ((RedisConnection.State) -> Void)? {
    get { connection.onStateChange }
    set { connection.onStateChange = newValue }
  }

  package func nowMilliseconds() async throws(StoreError) -> Int64 {
    if clock.isDue() {
      let replies = try await pipeline([RedisCommand("TIME")], at: "clock")
      clock.take(replies[0])
    }
    guard let now = clock.milliseconds() else {
      throw StoreError(.corrupt, "TIME has no answer that can be read", at: "clock")
    }
    return now
  }
}

// MARK: - Asking Redis

extension RedisStore {
  /// Sends the commands together. Error replies are the caller's to find.
  func pipeline(_ commands: [RedisCommand], at place: @autoclosure () -> String) async throws(StoreError)
    -> [RedisReply]
  {
    do throws(RedisError) {
      return try await connection.sendPipeline(commands)
    } catch {
      throw StoreError(error, at: place())
    }
  }

  /// Calls functions, each with the clock of the partition it works in, and loads the library first
  /// where it is missing. A call that found no function has done nothing and may be made again.
  func call(_ calls: [RedisCommand], at place: @autoclosure () -> String) async throws(StoreError)
    -> [RedisReply]
  {
    var replies = try await pipeline(calls, at: place())
    let missed = replies.indices.filter { FunctionLibrary.isMissing(replies[$0]) }
    if missed.isEmpty { return replies }
    let again = try await pipeline([FunctionLibrary.load] + missed.map { calls[$0] }, at: place())
    if case .error(let message) = again[0] {
      throw StoreError(.unavailable, "the function library cannot be loaded: \(message)", at: place())
    }
    for (index, reply) in zip(missed, again.dropFirst()) { replies[index] = reply }
    return replies
  }

  func call(_ call: RedisCommand, at place: @autoclosure () -> String) async throws(StoreError) -> RedisReply
  {
    try await self.call([call], at: place())[0]
  }
}

extension RedisCommand {
  /// A call of one of our functions; its arguments are to be appended.
  init(calling function: StoreFunction, in partition: Partition) {
    self.init("FCALL", function.name, 1, RedisLayout.clock(partition))
  }
}

// MARK: - Errors

extension StoreError {
  init(_ error: RedisError, at place: String) {
    let isUnreadable = error.code == .unexpectedReply || error.replyCode == "WRONGTYPE"
    self.init(isUnreadable ? .corrupt : .unavailable, error.description, at: place)
  }
}

/// Reads a reply, turning what it throws into the store's own error.
func reading<Value>(
  at place: @autoclosure () -> String, _ read: () throws(RedisError) -> Value
) throws(StoreError) -> Value {
  do throws(RedisError) {
    return try read()
  } catch {
    throw StoreError(error, at: place())
  }
}
