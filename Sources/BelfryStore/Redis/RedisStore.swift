package import BelfryLoop
package import BelfryModel
package import BelfryRedis

/// The store in Redis. docs/redis-layout.md describes its data, which plain commands read and the functions
/// in `Functions/` write.
///
/// It belongs to its loop, with one pipelined connection of its own to each node. While a node is away, calls
/// that need it fail at once with `unavailable`.
package final class RedisStore: Store {
  let redis: RedisCluster
  let clock: RedisClock
  let commits: RedisCommits
  let relays: OutboxRelays
  package let limits: Limits
  let layout: RedisLayout
  /// For each space a reader who had not read its log at the last sweep; see `trimWhatAllHaveRead`.
  var slowReaders: [SpaceID: AccountID] = [:]
  /// The rosters that the sweep compares next with the indexes of their members.
  var rosterWalks: [Partition: RosterWalk] = [:]
  /// The readers of copies that had no webhook at the last sweep.
  var strayReaders: [Partition: Set<CopyReader>] = [:]
  let format: FormatCheck
  let noted: HistoryNote
  /// The commands that ask each partition if its outbox or its due spaces hold work. They are sent often, and
  /// mostly in vain, so making them again each time would be most of an idle broker's work.
  let outboxLengths: [RedisCommand]
  let isThereAnyWake: [RedisCommand]

  /// The partitions, with the keyspace's growth once its record was read.
  package var partitions: Partitions { format.keyspace.partitions }
  /// The name of the history in which one Redis gives ids. The nodes of a cluster have one each, so a cursor
  /// names none then, and the ids alone show losses (see ``Rewind``). A cursor also names no history that the
  /// partitions have not noted: nothing would say later how much of it was kept.
  package var history: String {
    redis.isCluster || !noted.isNoted ? "" : scanMark(of: partitions.all[0])
  }

  /// - Parameters:
  ///   - secretFingerprint: the fingerprint of the secret that signs the deployment's tokens.
  ///   - otherFingerprints: the fingerprints of further secrets whose tokens are accepted.
  ///   - adoptsSettings: true if the keyspace's record is to get this broker's settings.
  ///   - promise: when a write counts as done.
  ///   - relayRetryPause: the time after which items that could not be relayed are tried again.
  package init(
    loop: EventLoop, endpoint: RedisEndpoint, limits: Limits, partitions: Partitions = .standard,
    secretFingerprint: String = "", otherFingerprints: [String] = [], adoptsSettings: Bool = false,
    redisLimits: RedisLimits = RedisLimits(), promise: ReplicationPromise = .none,
    relayRetryPause: Duration = OutboxRelays.retryPause
  ) {
    let layout = RedisLayout(partitions)
    self.layout = layout
    outboxLengths = partitions.all.map { RedisCommand("XLEN", layout.outbox($0)) }
    isThereAnyWake = partitions.all.map { RedisCommand("EXISTS", layout.wake($0)) }
    let clock = RedisClock()
    self.clock = clock
    self.limits = limits
    let format = FormatCheck(
      Keyspace(
        partitions: partitions, secretFingerprint: secretFingerprint, otherFingerprints: otherFingerprints,
        limits: limits),
      adopts: adoptsSettings, at: endpoint.description)
    self.format = format
    let noted = HistoryNote()
    self.noted = noted
    redis = RedisCluster(
      loop: loop, endpoint: endpoint, limits: redisLimits, promise: promise, firstKey: RedisLayout.format
    ) { node in
      noted.isNoted = false
      return format.setUp(
        isOfCluster: node.isOfCluster,
        then: FunctionLibrary.setUp(of: layout) { time throws(RedisError) in
          clock.take(time)
        } noting: {
          noted.isNoted = $0
        })
    }
    commits = RedisCommits(loop: loop, redis: redis, layout: layout, limits: limits)
    relays = OutboxRelays(retryPause: relayRetryPause)
    let cluster = redis
    format.hashes.onAllKnown = { [unowned format, weak cluster] in
      // This must not run within the events of the connection that is being set up.
      _ = loop.schedule(after: .zero) { cluster?.post(format.hashes.writingMade) }
    }
  }

  package func start() {
    commits.start()
    redis.start()
  }

  package func close() {
    commits.close()
    redis.close()
  }

  /// False: sends go through the function that does all commits, with the same outcomes. For tests that
  /// compare the two.
  package var usesSendFunctions: Bool {
    get { commits.usesSendFunctions }
    set { commits.usesSendFunctions = newValue }
  }

  package var isCluster: Bool { redis.isCluster }

  package var keepsWhatIsAcknowledged: Bool { redis.promise.replicas > 0 }

  /// The address of Redis that the store was given.
  package var place: String { redis.place }

  package var nodeCounts: (serving: Int, connected: Int) { redis.nodeCounts }

  package var relayStatistics: RelayStatistics { relays.statistics }

  package var state: RedisConnection.State { redis.state }
  package var onStateChange: ((RedisConnection.State) -> Void)? {
    get { redis.onStateChange }
    set { redis.onStateChange = newValue }
  }

  /// Called when a node of a cluster is connected or lost, with its address.
  package var onNodeChange: ((_ place: String, NodeChange) -> Void)? {
    get { redis.onNodeChange }
    set { redis.onNodeChange = newValue }
  }

  /// Called with each write that Redis refuses, and each commit that was done. Success is not told in a cluster, where it says
  /// nothing about the other nodes.
  package var onWrite: ((WriteSign) -> Void)? {
    get { commits.onWrite }
    set { commits.onWrite = newValue }
  }

  package var estimatedMilliseconds: Int64? { clock.milliseconds() }

  package func nowMilliseconds() async throws(StoreError) -> Int64 {
    if clock.isDue() {
      do throws(StoreError) {
        let replies = try await pipeline([RedisCommand("TIME")], at: "clock")
        clock.take(replies[0])
      } catch {
        // The node that was asked is away. The others need an answer all the same, and the last one is good for minutes.
        guard redis.isCluster, clock.milliseconds() != nil else { throw error }
      }
    }
    guard let now = clock.milliseconds() else {
      throw StoreError(.corrupt, "the reply to TIME cannot be read", at: "clock")
    }
    return now
  }
}

// MARK: - Asking Redis

extension RedisStore {
  /// Sends the commands together, or in parts if there are thousands. The caller looks for error replies.
  /// - Parameter isAwaited: true if others will rely on the replies, which must then not be lost with their
  ///   node.
  func pipeline(
    _ commands: [RedisCommand], isAwaited: Bool = false, at place: @autoclosure () -> String
  ) async throws(StoreError) -> [RedisReply] {
    do throws(RedisError) {
      let replies = try await sendInParts(commands, isAwaited: isAwaited).withCausesOfAborts
      if replies.contains(where: \.isFromReplica) { redis.lookAgain() }
      if let refused = replies.lazy.compactMap(\.writeRefusal).first {
        onWrite?(.refused(refused.0, refused.cause))
      }
      return replies
    } catch {
      throw StoreError(error, ofWrite: commands.contains(where: \.isWrite), at: place())
    }
  }

  private func sendInParts(
    _ commands: [RedisCommand], isAwaited: Bool
  ) async throws(RedisError) -> [RedisReply] {
    if commands.count <= Self.commandsPerPipeline {
      return try await redis.sendPipeline(commands, isAwaited: isAwaited)
    }
    let parts = PipelineParts(of: commands, commandsEach: Self.commandsPerPipeline)
    var replies: [RedisReply] = []
    replies.reserveCapacity(commands.count)
    var start = 0
    for end in parts.ends {
      do throws(RedisError) {
        replies += try await redis.sendPipeline(Array(commands[start..<end]), isAwaited: isAwaited)
      } catch {
        throw commands[..<start].contains(where: \.isWrite) ? error.ofSomeCommands : error
      }
      start = end
    }
    return replies
  }

  /// The commands of one caller that are under way together. A connection takes four times as many, from all callers
  /// (``RedisLimits/unansweredCommandsMax``), and refuses more: a batch with 15,000 receivers would fail each time, and so would
  /// what others ask meanwhile.
  static let commandsPerPipeline = 4_096

  /// Calls functions, each with the clock of the partition that it works in. If the library is missing, it is
  /// loaded first: a call that found no function has done nothing and may be made again. If Redis refuses the
  /// library for want of memory, functions that free some run without it.
  func call(
    _ calls: [RedisCommand], isAwaited: Bool = false, at place: @autoclosure () -> String
  ) async throws(StoreError) -> [RedisReply] {
    var replies = try await pipeline(calls, isAwaited: isAwaited, at: place())
    let missed = replies.indices.filter { FunctionLibrary.isMissing(replies[$0]) }
    if missed.isEmpty { return replies }
    let again = try await callWithNewLibrary(missed.map { calls[$0] }, isAwaited, at: place())
    for (index, reply) in zip(missed, again) { replies[index] = reply }
    return replies
  }

  /// Does the same for calls to many partitions. A call that its node does not answer fails by itself.
  /// - Throws: if none is answered.
  func callEach(
    _ calls: [RedisCommand], at place: String
  ) async throws(StoreError) -> [Result<RedisReply, StoreError>] {
    var results = await pipelineEach(calls, at: place)
    if let first = results.first, case .failure(let error) = first,
      results.allSatisfy({ (try? $0.get()) == nil })
    {
      throw error
    }
    let missed = results.indices.filter { index in
      if case .success(let reply) = results[index] { FunctionLibrary.isMissing(reply) } else { false }
    }
    if missed.isEmpty { return results }
    let again = try await callWithNewLibrary(missed.map { calls[$0] }, false, at: place)
    for (index, reply) in zip(missed, again) { results[index] = .success(reply) }
    return results
  }

  private func callWithNewLibrary(
    _ calls: [RedisCommand], _ isAwaited: Bool, at place: String
  ) async throws(StoreError) -> [RedisReply] {
    try await loadLibrary(at: place)
      ? pipeline(calls, isAwaited: isAwaited, at: place) : callWithoutLibrary(calls, at: place)
  }

  /// - Returns: false if a node refuses it for want of memory or disk.
  private func loadLibrary(at place: String) async throws(StoreError) -> Bool {
    var isLoaded = true
    for (_, result) in await redis.sendToAll(FunctionLibrary.load) {
      // A call that needs a node that is away fails by itself.
      guard case .success(let reply) = result else { continue }
      if FunctionLibrary.isWriteRefused(reply) {
        isLoaded = false
      } else if case .error(let message) = reply {
        throw StoreError(.unavailable, "the function library cannot be loaded: \(message)", at: place)
      }
    }
    return isLoaded
  }

  /// As ``pipeline(_:isAwaited:at:)``, for questions about many partitions. A question that its node does not
  /// answer fails by itself.
  func pipelineEach(
    _ commands: [RedisCommand], at place: String
  ) async -> [Result<RedisReply, StoreError>] {
    zip(commands, await redis.sendEach(commands)).map { command, result in
      if case .success(let reply) = result, reply.isFromReplica { redis.lookAgain() }
      return result.mapError { StoreError($0, ofWrite: command.isWrite, at: place) }
    }
  }

  func call(_ call: RedisCommand, at place: @autoclosure () -> String) async throws(StoreError) -> RedisReply
  {
    try await self.call([call], at: place())[0]
  }
}

extension RedisReply {
  /// True if a command was refused because the node is a replica, perhaps since a moment ago. Nothing was
  /// done then.
  var isFromReplica: Bool {
    if case .error(let message) = self { message.hasPrefix("READONLY ") } else { false }
  }
}

// MARK: - Errors

extension StoreError {
  /// - Parameter isWrite: true if the call that failed may have changed data.
  init(_ error: RedisError, ofWrite isWrite: Bool, at place: String) {
    self.init(error, at: place)
    // Redis does not undo what a function did before the command that it refused.
    mayBeDone = isWrite && (error.mayBeExecuted || error.isRefusedWithinFunction)
  }

  init(_ error: RedisError, at place: String) {
    let isCorrupt = error.replyCode == "WRONGTYPE" || error.code == .unexpectedReply
    let (code, detail): (Code, String) =
      switch error.writeRefusal {
      case .memory?: (.memoryFull, error.description)
      case .disk?: (.diskFull, error.replySentence)
      case .rights?: (.accessRefused, error.description)
      case nil where error.code == .unavailable && error.firstWord == "NOPERM":
        (.accessRefused, error.description)
      case nil where error.cause.contains(PartitionHashes.incompleteCause): (.incomplete, error.description)
      case nil: (isCorrupt ? .corrupt : .unavailable, error.description)
      }
    self.init(code, detail, at: place)
    isStoreAway = error.isRedisAway
  }
}

extension RedisError {
  /// True if Redis did not answer, or answered that it serves nobody yet.
  fileprivate var isRedisAway: Bool {
    switch code {
    case .unavailable, .timedOut, .connectionLost: true
    case .replied: ["LOADING", "MASTERDOWN", "CLUSTERDOWN"].contains(replyCode)
    case .overloaded, .unexpectedReply, .malformedReply, .invalidEndpoint, .unsuitable, .unsubscribed,
      .notReplicated, .closed:
      false
    }
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
