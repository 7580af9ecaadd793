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
  let clock: RedisClock
  /// The process of Redis that the connection leads to.
  let process: RedisProcess
  let commits: RedisCommits
  let relays: OutboxRelays
  package let limits: Limits
  let layout: RedisLayout
  /// By space a reader who had not read its log at the last sweep; see `trimWhatAllHaveRead`.
  var slowReaders: [SpaceID: AccountID] = [:]
  private let format: FormatCheck
  /// The commands that ask each partition whether its outbox or its due spaces hold work. They are sent often, and
  /// mostly in vain, so making them anew each time would be most of what an idle broker does.
  let outboxLengths: [RedisCommand]
  let isThereAnyWake: [RedisCommand]

  package var partitions: Partitions { layout.partitions }
  package var history: String { process.mark }

  /// - Parameters:
  ///   - secretFingerprint: of the secret that signs the deployment's tokens.
  ///   - otherFingerprints: of secrets whose tokens are accepted beside.
  ///   - adoptsSettings: whether the keyspace is to say from now on that its brokers have this one's settings.
  ///   - relayRetryPause: after which what could not be relayed is tried again.
  package init(
    loop: EventLoop, endpoint: RedisEndpoint, limits: Limits, partitions: Partitions = .standard,
    secretFingerprint: String = "", otherFingerprints: [String] = [], adoptsSettings: Bool = false,
    redisLimits: RedisLimits = RedisLimits(),
    relayRetryPause: Duration = OutboxRelays.retryPause
  ) {
    let layout = RedisLayout(partitions)
    self.layout = layout
    outboxLengths = partitions.all.map { RedisCommand("XLEN", layout.outbox($0)) }
    isThereAnyWake = partitions.all.map { RedisCommand("EXISTS", layout.wake($0)) }
    let (clock, process) = (RedisClock(), RedisProcess())
    self.clock = clock
    self.process = process
    self.limits = limits
    format = FormatCheck(
      Keyspace(
        partitions: partitions, secretFingerprint: secretFingerprint, otherFingerprints: otherFingerprints,
        limits: limits),
      adopts: adoptsSettings, at: endpoint.description)
    connection = RedisConnection(
      loop: loop, endpoint: endpoint, limits: redisLimits,
      setUp: NodeCheck.setUp(
        at: endpoint.description,
        then: format.setUp(
          then: FunctionLibrary.setUp(of: layout) { time, info throws(RedisError) in
            clock.take(time)
            try process.take(info)
          })))
    commits = RedisCommits(loop: loop, connection: connection, layout: layout, limits: limits)
    relays = OutboxRelays(retryPause: relayRetryPause)
  }

  package func start() {
    commits.start()
    connection.start()
  }

  package func close() {
    commits.close()
    connection.close()
  }

  /// False: sends go by the function that does all commits, with the same outcomes. For tests that compare the two.
  package var usesSendFunctions: Bool {
    get { commits.usesSendFunctions }
    set { commits.usesSendFunctions = newValue }
  }

  package var relayStatistics: RelayStatistics { relays.statistics }

  package var state: RedisConnection.State { connection.state }
  package var onStateChange: ((RedisConnection.State) -> Void)? {
    get { connection.onStateChange }
    set { connection.onStateChange = newValue }
  }

  package var estimatedMilliseconds: Int64? { clock.milliseconds() }

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

// MARK: - The keyspace

extension RedisStore {
  /// Told on each new connection, and by ``compareFormat()``.
  package var onSettings: ((SettingsFinding) -> Void)? {
    get { format.onSettings }
    set { format.onSettings = newValue }
  }

  /// Compares again what the keyspace says of itself: another broker may have been told to write its settings there.
  /// If it has become another keyspace, the connection is given up, and is refused when it is made again.
  package func compareFormat() async throws(StoreError) {
    let place = "format record"
    let found = try await pipeline([format.read, RedisCommand("INFO", "replication")], at: place)
    // Whoever only reads would not be told otherwise.
    try reading(at: place) { () throws(RedisError) in
      guard let refusal = NodeCheck.refusal(RedisInfo(""), try RedisInfo(found[1])) else { return }
      let error = RedisError(.unsuitable, cause: refusal, place: place)
      connection.reconnect(because: error)
      throw error
    }
    if try compare(found[0], at: place) {
      if format.isSecretBehind { _ = try await pipeline([format.writingSecret], at: place) }
      return
    }
    // Somebody removed it while this broker worked here; until another broker writes one, it is as it was.
    let written = try await pipeline(format.writing + [format.read], at: place)
    _ = try compare(written[written.count - 1], at: place)
  }

  package func isMemoryFull() async throws(StoreError) -> Bool {
    let replies = try await pipeline([RedisCommand("INFO", "memory")], at: "memory")
    let info = try reading(at: "memory") { () throws(RedisError) in try RedisInfo(replies[0]) }
    guard let used = info["used_memory"].flatMap({ Int($0) }),
      let limit = info["maxmemory"].flatMap({ Int($0) })
    else { return false }
    return limit > 0 && used > limit
  }

  /// Takes other secrets, when those of the deployment are rotated.
  package func take(secretFingerprint: String, others: [String]) {
    format.take(secretFingerprint: secretFingerprint, others: others)
  }

  private func compare(_ reply: RedisReply, at place: String) throws(StoreError) -> Bool {
    try reading(at: place) { () throws(RedisError) in
      do throws(RedisError) {
        return try format.compare(try FormatRecord(reply))
      } catch {
        if error.code == .unsuitable { connection.reconnect(because: error) }
        throw error
      }
    }
  }
}

// MARK: - Asking Redis

extension RedisConnection {
  /// Connects again, to a Redis that has become a replica. It does not close its connections then, and would answer
  /// whatever reads, ever further behind.
  func lookAgain() {
    reconnect(because: RedisError(.unsuitable, cause: "it has become a replica", place: "READONLY"))
  }
}

extension RedisStore {
  /// Sends the commands together. The caller looks for error replies.
  func pipeline(_ commands: [RedisCommand], at place: @autoclosure () -> String) async throws(StoreError)
    -> [RedisReply]
  {
    do throws(RedisError) {
      let replies = try await connection.sendPipeline(commands)
      if replies.contains(where: NodeCheck.isReplica) { connection.lookAgain() }
      return replies
    } catch {
      throw StoreError(error, at: place())
    }
  }

  /// Calls functions, each with the clock of the partition it works in, and loads the library first
  /// where it is missing. A call that found no function has done nothing and may be made again. Where memory is too
  /// full for the library, what frees some is done without it.
  func call(_ calls: [RedisCommand], at place: @autoclosure () -> String) async throws(StoreError)
    -> [RedisReply]
  {
    var replies = try await pipeline(calls, at: place())
    let missed = replies.indices.filter { FunctionLibrary.isMissing(replies[$0]) }
    if missed.isEmpty { return replies }
    let callsAgain = missed.map { calls[$0] }
    var again = try await pipeline([FunctionLibrary.load] + callsAgain, at: place())
    let loading = again.removeFirst()
    if FunctionLibrary.isRefusedForMemory(loading) {
      again = try await callWithoutLibrary(callsAgain, at: place())
    } else if case .error(let message) = loading {
      throw StoreError(.unavailable, "the function library cannot be loaded: \(message)", at: place())
    }
    for (index, reply) in zip(missed, again) { replies[index] = reply }
    return replies
  }

  func call(_ call: RedisCommand, at place: @autoclosure () -> String) async throws(StoreError) -> RedisReply
  {
    try await self.call([call], at: place())[0]
  }
}

// MARK: - Errors

extension StoreError {
  init(_ error: RedisError, at place: String) {
    let code: Code =
      switch error.replyCode {
      case "WRONGTYPE": .corrupt
      case "OOM": .full
      default: error.code == .unexpectedReply ? .corrupt : .unavailable
      }
    self.init(code, error.description, at: place)
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
