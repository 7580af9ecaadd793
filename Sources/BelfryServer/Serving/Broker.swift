import BelfryHTTP
import BelfryHooks
import BelfryLoop
import BelfryModel
import BelfryRedis
import BelfryStore
import BelfrySystem
import Glibc
import Synchronization

/// One broker process: its loops, and the little that they share.
final class Broker: Sendable {
  let configuration: Configuration
  let accountLimits: AccountLimits
  let crossOrigin: CrossOrigin
  let budgets = HTTPBudgets()
  let descriptors = DescriptorLimit.raised()
  /// Of each loop.
  var httpLimits: HTTPLimits { descriptors.limits(loops: configuration.loops) }
  let keyspace = KeyspaceState()
  let condition = RedisCondition { event, facts in Log.line(event, facts) }
  /// The failures of work that no request asks for, on all loops.
  let failures = WorkFailures { event in
    switch event {
    case .fails(let work, let subject, let cause):
      Log.line("work fails", ["work": work, "on": subject, "cause": cause])
    case .succeedsAgain(let work, let failures):
      Log.line("work succeeds again", ["work": work, "failures": "\(failures)"])
    }
  }
  let backEndKeys = BackEndKeys()
  let revocations = Revocations()
  /// What its streams and registrations are called by. No other broker has it, by chance.
  let name = String(UInt64.random(in: .min ... .max), radix: 36)
  let webhooks = WebhookEndpoints()
  let pushWord = PushWord()
  /// nil where there is no Web Push.
  let pushKey: VAPIDKey?
  let askedOnce = AskedOnce()
  /// nil where no key set has an address.
  let keySet: KeySetFetches?
  private let currentKeys: Mutex<TokenKeys>
  /// nil where it speaks plain HTTP.
  let certificate: ServerCertificate?
  private let readKeys: RereadFiles<TokenKeys>.Reading?
  private let files = Mutex<FileWatch?>(nil)
  private let redis: RedisEndpoint
  private let loops: [ServingLoop]
  private let startedAt = ContinuousClock.now

  /// - Parameters:
  ///   - redisURL: the configured one, or the embedded Redis's.
  ///   - readKeys: reads the keys as they are configured now; nil where they never change.
  init(
    _ configuration: Configuration, keys: TokenKeys, redisURL: String, pushKey: VAPIDKey? = nil,
    certificate: ServerCertificate? = nil, readKeys: RereadFiles<TokenKeys>.Reading? = nil
  ) throws(StartError) {
    self.configuration = configuration
    self.certificate = certificate
    crossOrigin = CrossOrigin(configuration.browsers)
    self.pushKey = pushKey
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

  /// Serves until it is drained; returns when everything is done.
  /// - Parameters:
  ///   - onSignal: called for each SIGINT and SIGTERM, on one of the loops.
  ///   - onListening: told the port once, when all loops accept connections.
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
    // Not before there is something to drain; a signal that came earlier has waited.
    if let onSignal { try await loops.first?.watchSignals(onSignal) }
    onListening(port)
    await withDiscardingTaskGroup { group in
      for serving in loops { group.addTask(executorPreference: serving.loop) { await serving.run() } }
    }
    await loops.first?.unwatchSignals()
    if let error = keyspace.startError { throw error }
  }

  /// - Returns: the port, which is the system's choice where the configured one is 0.
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
      RereadFiles(from: keys, reading: read, onFailure: "keys are unchanged") { [self] in take($0) }
    }
    return [keyFiles.map { $0.look }, certificate.map { $0.look }].compactMap { $0 }
  }

  /// Reads files with keys and certificates again, without waiting for the time. Called from any thread.
  func lookAtFiles() { files.withLock { $0 }?.lookNow() }

  /// The keys that tokens are checked with.
  var keys: TokenKeys { currentKeys.withLock { $0 } }

  /// Takes other keys for tokens, and keeps those that were fetched. Called from any thread.
  func take(_ keys: TokenKeys) {
    do throws(TokenError) {
      try change { current throws(TokenError) in try keys.with(fetched: current.fetched) }
    } catch {
      Log.line("keys are unchanged", ["cause": error.cause])
    }
  }

  /// Takes the keys of the key set that has an address.
  /// - Throws: when they are too many beside the others.
  func take(fetched: [TokenKey]) throws(TokenError) {
    try change { current throws(TokenError) in try current.with(fetched: fetched) }
  }

  private func change(_ make: (TokenKeys) throws(TokenError) -> TokenKeys) throws(TokenError) {
    let changed: Result<TokenKeys?, TokenError> = currentKeys.withLock { current in
      do throws(TokenError) {
        let keys = try make(current)
        if keys == current { return .success(nil) }
        current = keys
        // Within the lock: each loop is told of two changes in the order in which they were made.
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
      "keys have changed",
      ["signing": keys.signing.kid.string, "accepted": keys.acceptedKids.joined(separator: " ")])
  }

  /// Reads the back ends' keys if they have changed, and ends what was opened with a revoked one.
  func refreshBackEndKeys(from store: RedisStore) async throws(StoreError) {
    guard try await backEndKeys.refresh(from: store) else { return }
    for serving in loops {
      serving.loop.perform { serving.assumeIsolated { $0.endRevoked() } }
    }
  }

  /// Learns which tokens were revoked, and ends what was opened with them.
  func refreshRevocations(from store: RedisStore) async throws(StoreError) {
    let news = try await revocations.refresh(from: store)
    if news == .nothing { return }
    for serving in loops {
      serving.loop.perform {
        serving.assumeIsolated { if news == .unknown { $0.endRevokedOfAll() } else { $0.endRevoked() } }
      }
    }
  }

  /// Lets requests finish and sends consumers away, after which `run` returns. Called from any thread.
  func drain() {
    for serving in loops {
      serving.loop.perform { serving.assumeIsolated { $0.drain() } }
    }
  }

  /// Takes note that this broker cannot work on the keyspace. Called from any thread.
  func refuseKeyspace(_ error: RedisError, loop: Int) {
    if keyspace.isRefused(error) { return drain() }
    Log.line("redis refused", ["loop": String(loop), "cause": error.description])
  }

  /// Whether every loop has its Redis. A request goes to whichever loop the kernel picks, so a broker is
  /// as ready as the least ready of them.
  func isConnected() async -> Bool {
    for serving in loops where await serving.isRedisConnected == false { return false }
    return true
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
