import BelfryHooks
import BelfryLoop
import BelfryModel
import Glibc
import Synchronization

/// `belfry serve`, from its options to its end.
package enum Serve {
  /// Runs a broker, and returns when it has ended in order. It blocks its thread while the embedded Redis
  /// starts and stops.
  ///
  /// The signals that end the broker must be blocked in all threads, see `ProcessSignal.block`.
  package static func run(_ options: ServeOptions, environment: [String: String]) async throws(StartError) {
    ProcessSignal.ignoreBrokenPipes()
    let (configuration, places) = try Configuration.read(options: options, environment: environment)
    for remark in Configuration.remarks(on: configuration, from: places, options, environment) {
      Log.line(remark)
    }
    // Before anything is written: a broker that cannot listen leaves no folder, and has no Redis to stop again.
    try Broker.checkListening(on: configuration.listen)
    let folder = try DataFolder(opening: configuration.dataFolder)
    if configuration.secret == .dataFolder { try SecretFolder(inDataFolder: folder.path).makeIfMissing() }
    let path = folder.path
    let keys = try TokenKeys(for: configuration, inDataFolder: path)
    // The configuration is read again too, because it names the files.
    let readKeys: RereadFiles<TokenKeys>.Reading = { () throws(StartError) in
      try TokenKeys(for: Configuration.load(options: options, environment: environment), inDataFolder: path)
    }
    let pushKey = try VAPIDKey.load(for: configuration, inDataFolder: path)
    let certificate = try ServerCertificate.load(configuration.tls)
    let broker = { (url: String, embedded: EmbeddedRedis?) throws(StartError) in
      try Broker(
        configuration, keys: keys, redisURL: url, pushKey: pushKey, certificate: certificate,
        readKeys: readKeys, isDiskFull: { embedded?.isDiskFull ?? false },
        freeDiskBytes: { embedded?.freeDiskBytes }, lookAtDisk: embedded.map { $0.lookAtDisk })
    }
    guard let url = configuration.redisURL else {
      let redis = try EmbeddedRedis(in: folder, settings: configuration.embeddedRedis, report: log)
      try redis.start()
      defer { redis.stop() }
      return try await serve(broker(redis.endpointURL, redis))
    }
    try await serve(broker(url, nil))
  }

  private static func serve(_ broker: Broker) async throws(StartError) {
    let host = broker.configuration.listen.host
    let loops = broker.configuration.loops
    try await broker.run(
      onSignal: ServeSignals(broker).receive,
      onListening: { port in
        let address = ListenAddress(host: host, port: port)
        Log.line(
          "belfry \(BelfryVersion.text) listens on \(address)", ["broker": broker.name, "loops": "\(loops)"])
        if let certificate = broker.certificate {
          let minimum = broker.configuration.tls.minimum.rawValue
          Log.line(
            "clients must use TLS", ["minimum": minimum, "certificateExpires": certificate.until])
          if let flaw = certificate.flaw { Log.line(flaw) }
        }
        let limits = broker.httpLimits
        Log.line(
          "limits of connections, from the file descriptors that this process may open",
          [
            "limit": "\(broker.descriptors.descriptors)",
            "connectionsPerLoop": "\(limits.connectionsPerLoop)",
            "streamsPerLoop": "\(limits.streamsPerLoop)",
          ])
      })
    Log.line("belfry has ended")
  }

  private static func log(_ event: EmbeddedRedis.Event) {
    switch event {
    case .stoppedOrphan(let id):
      Log.line("this broker stopped the redis-server of an earlier broker", ["pid": "\(id)"])
    case .started(let id): Log.line("redis-server started", ["pid": "\(id)"])
    case .answers(let version): Log.line("redis-server answers", ["version": version])
    case .loading: Log.line("redis-server is loading its data")
    case .ended(let how): Log.line("redis-server ended", ["how": how])
    case .restarting(let delay): Log.line("redis-server starts again", ["after": "\(delay)"])
    case .restartFailed(let error): Log.line("redis-server cannot be started", ["cause": error.description])
    case .diskFull(let folder, let freeBytes):
      Log.line("the disk of redis-server is full", ["folder": folder, "freeBytes": "\(freeBytes)"])
    case .killed: Log.line("redis-server did not end in time and was killed by this broker")
    }
  }
}

/// SIGTERM and SIGINT: the first one drains the broker, a second one ends the process at once. SIGHUP: the
/// broker reads its files again. If it was started at a terminal, SIGHUP means that the terminal has gone,
/// and ends the broker as well.
final class ServeSignals: Sendable {
  private let broker: Broker
  private let isAtTerminal = isatty(STDIN_FILENO) == 1
  private let isDraining = Atomic(false)

  init(_ broker: Broker) {
    self.broker = broker
  }

  func receive(_ signal: ProcessSignal) {
    if signal == .hangup, !isAtTerminal {
      Log.line("reading files again", ["signal": "\(signal)"])
      return broker.lookAtFiles()
    }
    guard !isDraining.exchange(true, ordering: .relaxed) else {
      Log.line("ending at once", ["signal": "\(signal)"])
      // The status that a shell reports for a process ended by a signal.
      _exit(128 + signal.rawValue)
    }
    Log.line("draining", ["signal": "\(signal)"])
    broker.drain()
  }
}
