import BelfryHTTP
import BelfryHooks
import BelfryLoop
import BelfryModel
import BelfryRedis
import BelfryStore

/// One event loop with everything that serves on it: Redis connections, a hub, an HTTP server on the shared
/// port. The loops of a broker are equal, and share only the state of `Broker`.
actor ServingLoop {
  /// The time that requests and streams have to end when the loop drains.
  static let drainTimeout: Duration = .seconds(10)

  nonisolated let loop: EventLoop
  nonisolated let number: Int
  private var serving: Serving?
  private var signals: SignalWatch?

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  init(number: Int) throws(StartError) {
    self.number = number
    do {
      loop = try EventLoop(name: "loop-\(number)")
    } catch {
      throw StartError(.systemRefused, "\(error)", at: "loop-\(number)")
    }
  }

  private struct Serving {
    let scope: LoopScope
    let store: RedisStore
    let live: RedisLiveFeed
    let services: LoopServices
    let httpServer: HTTPServer

    var isBusy: Bool { httpServer.openRequests + httpServer.openStreams > 0 }
  }

  /// Begins to listen, even if Redis is not there yet.
  func open(_ socket: ListenSocket, redis: RedisEndpoint, for broker: Broker) throws(StartError) {
    let scope = LoopScope(on: loop)
    let configuration = broker.configuration
    let store = RedisStore(
      loop: loop, endpoint: redis, limits: configuration.limits, partitions: configuration.partitions,
      secretFingerprint: broker.keys.signing.fingerprint,
      otherFingerprints: broker.keys.otherFingerprints,
      // An embedded Redis has only one broker, so that broker's settings are those of the keyspace.
      adoptsSettings: configuration.adoptsSettings || configuration.redisURL == nil,
      promise: configuration.durability == .replicated
        ? ReplicationPromise(replicas: configuration.replicas) : .none)
    store.onSettings = { broker.keyspace.note($0) }
    store.onWrite = { broker.condition.note($0) }
    let live = RedisLiveFeed(of: store)
    let services = LoopServices(
      loop: loop, loopNumber: number, scope: scope, store: store, live: live, broker: broker)
    do throws(HTTPError) {
      var limits = broker.httpLimits
      limits.headMaxBytes += FeedCursor.textBytesMost(in: configuration.partitions)
      let httpServer = try HTTPServer(
        on: loop, listening: socket, limits: limits, budgets: broker.budgets,
        tls: broker.certificate?.tls, handler: FrontDoor(services))
      services.hub.onNotified = { [weak httpServer] in httpServer?.pumpStreams() ?? true }
      serving = Serving(scope: scope, store: store, live: live, services: services, httpServer: httpServer)
    } catch {
      throw StartError(.systemRefused, error.cause, at: error.place)
    }
  }

  /// Serves until it is drained or cancelled.
  func run() async {
    guard let serving else { return }
    watch(serving.store, serving.live, of: serving.services.broker)
    serving.store.start()
    serving.live.start()
    let services = serving.services
    for work in services.periodicWorks(ofFirstLoop: number == 0) {
      serving.scope.start { [loop] in await work.run(on: loop, noting: services.broker.failures) }
    }
    if number == 0, serving.store.keepsWhatIsAcknowledged {
      serving.scope.start { [loop] in await Self.warn(of: serving.store, on: loop) }
    }
    services.streams.start()
    serving.scope.start { await services.webhooks.run() }
    serving.scope.start { await services.push.run() }
    await serving.scope.run()
    await serving.services.streams.close()
    serving.services.outbound.close()
    serving.services.callbackOutbound.close()
    serving.services.pushOutbound.close()
    serving.httpServer.stop()
    serving.live.close()
    serving.store.close()
    self.serving = nil
  }

  /// The interval between checks while no node has answered.
  private static let warningInterval: Duration = .seconds(30)

  /// Logs once, after nodes have answered, if their number of replicas weakens the promise.
  private static func warn(of store: RedisStore, on loop: EventLoop) async {
    repeat {
      let report = await store.nodes()
      guard report.nodes.contains(where: \.isConnected) else { continue }
      if let warning = report.warning {
        Log.line("acknowledged writes may be lost in a failover", ["cause": warning])
      }
      return
    } while (try? await loop.sleep(for: warningInterval)) != nil
  }

  private func watch(_ store: RedisStore, _ live: RedisLiveFeed, of broker: Broker) {
    store.onStateChange = { [number, unowned live, unowned store] state in
      switch state {
      case .ready:
        Log.line("redis connected", ["loop": String(number), "at": store.place])
        broker.noteServed(byLoop: number)
      case .lost(let error) where error.code == .unsuitable:
        live.reconnect(because: error)
        broker.refuseKeyspace(error, loop: number)
      case .lost(let error):
        broker.keyspace.noteLost(error)
        // Streams read from the log when the connection is back, also what a function has left half done.
        if AccessRefusal(error) != nil { live.reconnect(because: error) }
        Log.line("redis lost", ["loop": String(number), "at": store.place, "cause": error.description])
      case .connecting, .closed: break
      }
    }
    live.onConnection = { [number] place, error in
      broker.keyspace.noteSubscriber(ofLoop: number, at: place, error)
    }
    store.onNodeChange = { [number] place, change in
      switch change {
      case .connected: Log.line("redis node connected", ["loop": String(number), "at": place])
      case .lost(let error):
        Log.line("redis node lost", ["loop": String(number), "at": place, "cause": error.description])
      }
    }
  }

  /// Ends the streams and waiting requests whose credential is not accepted any more.
  func take(_ keys: TokenKeys) {
    guard let serving else { return }
    // The fingerprint before the change is passed too. If the keyspace has that one, it takes over the new
    // one.
    let before = serving.services.tokens.keys.signing.fingerprint
    serving.services.tokens.keys = keys
    serving.store.take(secretFingerprint: keys.signing.fingerprint, others: keys.otherFingerprints + [before])
    endRevoked()
    serving.scope.start { [loop] in
      await serving.services.broker.failures.watch("format", on: loop.name) {
        try await serving.store.compareFormat()
      }
    }
  }

  func endRevoked() {
    guard let serving else { return }
    serving.services.slots.endAll { !serving.services.isAccepted($0) }
  }

  func endRevokedOfAll() {
    guard let serving else { return }
    serving.scope.start { await serving.services.endRevokedOfAll() }
  }

  // MARK: Ending

  func watchSignals(_ handler: @escaping @Sendable (ProcessSignal) -> Void) throws(StartError) {
    do {
      signals = try SignalWatch(on: loop, handler)
    } catch {
      throw StartError(.systemRefused, "\(error)", at: "signals")
    }
  }

  /// May be called after this loop has ended, because other loops may drain later.
  func unwatchSignals() {
    signals?.cancel()
    signals = nil
  }

  /// Accepts no more connections, sends consumers to other brokers, lets requests finish, and ends `run()`.
  func drain() {
    guard let serving, !serving.services.isDraining else { return }
    serving.services.isDraining = true
    serving.httpServer.quiesce()
    serving.services.hub.drain()
    serving.services.waitingSockets.sendAway()
    serving.scope.start { [loop] in
      let deadline = ContinuousClock.now + Self.drainTimeout
      while serving.isBusy, .now < deadline, !Task.isCancelled {
        try? await loop.sleep(for: .milliseconds(10))
      }
      serving.scope.close()
    }
  }

  // MARK: Statistics

  /// True if both connections work: the one for commands, and the one for live messages.
  var isRedisConnected: Bool { serving.map { $0.store.state == .ready && $0.live.isConnected } ?? false }

  var statistics: LoopStatistics? {
    guard let serving else { return nil }
    let counts = serving.services.counts
    return LoopStatistics(
      loop: number, isRedisConnected: isRedisConnected, redisNodes: serving.store.nodeCounts.serving,
      redisNodesConnected: serving.store.nodeCounts.connected,
      requests: Dictionary(uniqueKeysWithValues: counts.byStatus.map { (String($0.key), $0.value) }),
      sends: counts.sends, duplicates: counts.duplicates, streams: counts.streams, sockets: counts.sockets,
      streamsClosed: counts.streamsClosed,
      handshakes: serving.httpServer.handshakeCounts.map { HandshakeStatistics($0) },
      relays: serving.store.relayStatistics, hub: serving.services.hub.statistics,
      callbacks: serving.services.callbacks.statistics,
      webhooks: serving.services.webhooks.statistics, push: serving.services.push.statistics)
  }
}
