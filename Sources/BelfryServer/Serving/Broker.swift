import BelfryHTTP
import BelfryHooks
import BelfryLoop
import BelfryModel
import BelfryRedis
import BelfryStore
import BelfrySystem
import Glibc
import Synchronization

/// One broker process: its loops, and the small state that they share.
final class Broker: Sendable {
  let configuration: Configuration
  let accountLimits: AccountLimits
  let crossOrigin: CrossOrigin
  let budgets = HTTPBudgets()
  let descriptors = DescriptorLimit.raised()
  /// The limits of each loop.
  var httpLimits: HTTPLimits { descriptors.limits(loops: configuration.loops) }
  let keyspace = KeyspaceState()
  let condition = RedisCondition { event, facts in Log.line(event, facts) }
  /// The failures of work that no request asked for, on all loops.
  let failures = WorkFailures(isStoreAway: { ($0 as? StoreError)?.isStoreAway ?? false }) { event in
    switch event {
    case .fails(let work, let subject, let cause):
      Log.line("background work fails", ["work": work, "on": subject, "cause": cause])
    case .succeedsAgain(let work, let failures):
      Log.line("background work succeeds again", ["work": work, "failures": "\(failures)"])
    case .storeIsAway(let work, let cause):
      Log.line("background work waits for redis", ["first": work, "cause": cause])
    case .storeIsBack(let failures):
      Log.line("background work continues", ["failures": "\(failures)"])
    }
  }
  let backEndKeys = BackEndKeys()
  let revocations = Revocations()
  /// The prefix of the names of its streams and registrations. It is random, so no other broker has it.
  let name = String(UInt64.random(in: .min ... .max), radix: 36)
  let webhooks = WebhookEndpoints()
  let pushWord = PushWord()
  let pushSpare: SparePace
  /// nil if there is no Web Push.
  let pushKey: VAPIDKey?
  let askedOnce = AskedOnce()
  /// nil if no key set has an address.
  let keySet: KeySetFetches?
  private let currentKeys: Mutex<TokenKeys>
  /// nil if the broker speaks plain HTTP.
  let certificate: ServerCertificate?
  private let readKeys: RereadFiles<TokenKeys>.Reading?
  private let files = Mutex<FileWatch?>(nil)
  private let redis: RedisEndpoint
  /// True if the disk of the embedded Redis is full. Always false for a Redis of the operator's own.
  let isDiskFull: @Sendable () -> Bool
  /// The bytes that were free on the disk of the embedded Redis at the last look; nil for a Redis of the operator's own, or
  /// if nobody knows.
  let freeDiskBytes: @Sendable () -> Int?
  private let lookAtDisk: (@Sendable () -> Void)?
  private let loops: [ServingLoop]
  private let startedAt = ContinuousClock.now

  /// - Parameters:
  ///   - redisURL: the configured URL, or that of the embedded Redis.
  ///   - readKeys: reads the keys as they are configured now; nil if they never change.
  ///   - isDiskFull: true if the embedded Redis has ended, or did not start, on a full disk.
  ///   - freeDiskBytes: the free bytes on that disk at the last look; nil if there is no embedded Redis, or if nobody knows.
  ///   - lookAtDisk: looks at that disk, for the two above. It may block.
  init(
    _ configuration: Configuration, keys: TokenKeys, redisURL: String, pushKey: VAPIDKey? = nil,
    certificate: ServerCertificate? = nil, readKeys: RereadFiles<TokenKeys>.Reading? = nil,
    isDiskFull: @escaping @Sendable () -> Bool = { false },
    freeDiskBytes: @escaping @Sendable () -> Int? = { nil }, lookAtDisk: (@Sendable () -> Void)? = nil
  ) throws(StartError) {
    self.configuration = configuration
    self.isDiskFull = isDiskFull
    self.freeDiskBytes = freeDiskBytes
    self.lookAtDisk = lookAtDisk
    self.certificate = certificate
    crossOrigin = CrossOrigin(configuration.browsers)
    self.pushKey = pushKey
    pushSpare = SparePace(perSecond: configuration.push.perSecond)
    keySet = configuration.tokens.jwksURL.map { KeySetFetches($0, pace: configuration.tokens.jwksPace) }
    currentKeys = Mutex(keys)
    self.readKeys = readKeys
    accountLimits = AccountLimits(configuration.limits)
    do throws(RedisError) {
      redis = try RedisEndpoint(url: redisURL)
      try redis.checkFiles()
    } catch {
      throw StartError(.invalidValue, "\(error.place): \(error.cause)", at: "redis")
    }
    var loops: [ServingLoop] = []
    for number in 0..<configuration.loops { loops.append(try ServingLoop(number: number)) }
    self.loops = loops
  }

  /// Serves until it is drained, and returns when all work is done.
  /// - Parameters:
  ///   - onSignal: called for each SIGINT and SIGTERM, on one of the loops.
  ///   - onListening: called once with the port, when all loops accept connections.
  func run(
    onSignal: (@Sendable (ProcessSignal) -> Void)? = nil, onListening: @Sendable (UInt16) -> Void
  ) async throws(StartError) {
    var running: [EventLoop] = []
    defer {
      for loop in running {
        loop.stop()
        loop.join()
      }
    }
    for serving in loops {
      try StartError.system { () throws(SystemError) in try serving.loop.spawnThread() }
      running.append(serving.loop)
    }
    let port = try await open()
    let watch = try FileWatch(looks)
    let watching = try StartError.system { () throws(SystemError) in
      try SystemThread("files") { watch.run() }
    }
    files.withLock { $0 = watch }
    defer {
      watch.requestStop()
      watching.join()
    }
    // Signals are watched only from here on, when there is something to drain. A signal that came earlier has
    // waited.
    if let onSignal { try await loops.first?.watchSignals(onSignal) }
    onListening(port)
    await withDiscardingTaskGroup { group in
      for serving in loops { group.addTask(executorPreference: serving.loop) { await serving.run() } }
    }
    await loops.first?.unwatchSignals()
    if let error = keyspace.startError { throw error }
  }

  /// - Returns: the port. The system chooses it if the configured port is 0.
  private func open() async throws(StartError) -> UInt16 {
    let sockets = try Self.openSockets(on: configuration.listen, count: loops.count)
    for (serving, socket) in zip(loops, sockets) { try await serving.open(socket, redis: redis, for: self) }
    return UInt16(clamping: sockets.first?.port ?? 0)
  }

  private static func openSockets(
    on address: ListenAddress, count: Int
  ) throws(StartError) -> [ListenSocket] {
    do throws(HTTPError) {
      return try ListenSocket.open(host: address.host, port: Int(address.port), count: count)
    } catch {
      throw StartError(.cannotListen, error.cause, at: error.place)
    }
  }

  /// Refuses an address that another program listens on.
  static func checkListening(on address: ListenAddress) throws(StartError) {
    for socket in try openSockets(on: address, count: 1) { Glibc.close(socket.descriptor) }
  }

  private var looks: [@Sendable () -> Void] {
    let keyFiles = readKeys.map { read in
      RereadFiles(
        from: keys, reading: read, onFailure: "new token keys are unusable, so the earlier ones stay in use",
        onRecovery: "the files of token keys are usable again"
      ) { [self] in take($0) }
    }
    return [keyFiles.map { $0.look }, certificate.map { $0.look }, lookAtDisk].compactMap { $0 }
  }

  /// Reads the files of keys and certificates again, without waiting for the next interval. Called from any
  /// thread.
  func lookAtFiles() { files.withLock { $0 }?.lookNow() }

  /// The keys that tokens are checked with.
  var keys: TokenKeys { currentKeys.withLock { $0 } }

  /// Takes over other keys for tokens, and keeps the fetched ones. Called from any thread.
  func take(_ keys: TokenKeys) {
    do throws(TokenError) {
      try change { current throws(TokenError) in try keys.with(fetched: current.fetched) }
    } catch {
      Log.line("new token keys are unusable, so the earlier ones stay in use", ["cause": error.cause])
    }
  }

  /// Takes over the keys of the key set that has an address.
  /// - Throws: if there are too many together with the other keys.
  func take(fetched: [TokenKey]) throws(TokenError) {
    try change { current throws(TokenError) in try current.with(fetched: fetched) }
  }

  private func change(_ make: (TokenKeys) throws(TokenError) -> TokenKeys) throws(TokenError) {
    let changed: Result<TokenKeys?, TokenError> = currentKeys.withLock { current in
      do throws(TokenError) {
        let keys = try make(current)
        if keys == current { return .success(nil) }
        current = keys
        // This happens within the lock, so that each loop receives two changes in the order in which they
        // were made.
        for serving in loops {
          serving.loop.perform { serving.assumeIsolated { $0.take(keys) } }
        }
        return .success(keys)
      } catch {
        return .failure(error)
      }
    }
    guard let keys = try changed.get() else { return }
    Log.line(
      "token keys have changed",
      ["signing": keys.signing.kid.string, "accepted": keys.acceptedKids.joined(separator: " ")])
  }

  /// Reads the keys of back ends if they have changed, and ends the streams that were opened with a revoked
  /// key.
  func refreshBackEndKeys(from store: RedisStore) async throws(StoreError) {
    guard try await backEndKeys.refresh(from: store) else { return }
    for serving in loops {
      serving.loop.perform { serving.assumeIsolated { $0.endRevoked() } }
    }
  }

  /// Reads the revoked tokens, and ends the streams that were opened with them.
  func refreshRevocations(from store: RedisStore) async throws(StoreError) {
    let news = try await revocations.refresh(from: store)
    if news == .nothing { return }
    for serving in loops {
      serving.loop.perform {
        serving.assumeIsolated { if news == .unknown { $0.endRevokedOfAll() } else { $0.endRevoked() } }
      }
    }
  }

  /// Lets requests finish and sends consumers away. Afterwards `run` returns. Called from any thread.
  func drain() {
    for serving in loops {
      serving.loop.perform { serving.assumeIsolated { $0.drain() } }
    }
  }

  /// Records that a loop works on the keyspace. Once all do, the log says that the broker is ready: before that, the keyspace may
  /// turn out to be one that this broker must not serve. Called from any thread.
  func noteServed(byLoop number: Int) {
    guard keyspace.noteServed(byLoop: number) == loops.count else { return }
    Log.line("belfry \(BelfryVersion.text) is ready", ["broker": name, "loops": "\(loops.count)"])
  }

  /// Records that this broker cannot work on the keyspace. Called from any thread.
  func refuseKeyspace(_ error: RedisError, loop: Int) {
    if keyspace.isRefused(error) { return drain() }
    Log.line("redis cannot be used", ["loop": String(loop), "cause": error.description])
  }

  /// True if every loop has its Redis. The kernel picks the loop for a request, so a broker is only as ready
  /// as the least ready of its loops.
  func isConnected() async -> Bool {
    for serving in loops where await serving.isRedisConnected == false { return false }
    return true
  }

  /// The reason for which the broker is not ready, while Redis is not there or not to be used.
  var absence: Unreadiness {
    if let words = keyspace.refusal { return .keyspaceRefused(words) }
    if isDiskFull() { return .diskFull }
    if let refusal = keyspace.accessRefusal { return .accessRefused(refusal) }
    return keyspace.hasServed ? .redisAway : .starting
  }

  func statistics() async -> BrokerStatistics {
    var all: [LoopStatistics] = []
    for serving in loops {
      if let statistics = await serving.statistics { all.append(statistics) }
    }
    return BrokerStatistics(
      broker: name, uptimeSeconds: Int(startedAt.duration(to: .now).components.seconds),
      keyspace: KeyspaceStatistics(
        partitions: configuration.partitions.count, differences: keyspace.differences),
      refusedWrites: condition.refusedWrites.map(\.rawValue).sorted(),
      sweepWaits: condition.sweepDoubt?.reason, workFailures: failures.totals, loops: all)
  }
}
