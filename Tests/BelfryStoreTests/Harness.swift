import BelfryLoop
import BelfryModel
import BelfryRedis
import ModelSamples
import RedisFixture
import Testing

@testable import BelfryStore

/// An actor on a loop with a store and a live feed, as a broker's loop has them.
actor Broker {
  nonisolated let loop: EventLoop
  let store: RedisStore
  let feed: RedisLiveFeed
  private(set) var heard: [Heard] = []
  private(set) var connections: [Bool] = []

  struct Heard: Hashable {
    let space: SpaceID
    let message: LiveMessage
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  init(on loop: EventLoop, _ endpoint: RedisEndpoint, _ limits: Limits) {
    self.loop = loop
    store = RedisStore(loop: loop, endpoint: endpoint, limits: limits, redisLimits: .patient)
    feed = RedisLiveFeed(loop: loop, endpoint: endpoint, store: store, redisLimits: .patient)
  }

  func start() {
    feed.onMessage = { self.heard.append(Heard(space: $0, message: $1)) }
    feed.onConnected = { self.connections.append($0) }
    store.start()
    feed.start()
  }

  func close() {
    store.close()
    feed.close()
  }

  func run(_ body: @Sendable (isolated Broker) async throws -> Void) async rethrows {
    try await body(self)
  }

  var messages: [LiveMessage] { heard.map(\.message) }

  /// Waits until the condition holds, for as long as a busy machine may need.
  func eventually(_ condition: (isolated Broker) throws -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(20)
    while try !condition(self) {
      try #require(ContinuousClock.now < deadline, "it has not come to that")
      try await loop.sleep(for: .milliseconds(2))
    }
  }
}

/// Gives the body a broker's loop on a redis-server, and ends it afterwards, whatever happened.
func withBroker(
  of server: RedisServer, _ limits: Limits = Limits(),
  _ body: @Sendable (isolated Broker) async throws -> Void
) async throws {
  let loop = try EventLoop(name: "store-test")
  try loop.spawnThread()
  let broker = Broker(on: loop, try RedisEndpoint(url: server.url), limits)
  await broker.start()
  do {
    try await broker.run(body)
    await broker.close()
  } catch {
    await broker.close()
    loop.stop()
    loop.join()
    throw error
  }
  loop.stop()
  loop.join()
}

/// The same, on a redis-server of its own.
func withBroker(
  _ limits: Limits = Limits(), _ options: RedisServer.Options = .debuggable,
  _ body: @Sendable (isolated Broker, RedisServer) async throws -> Void
) async throws {
  try await withRedisServer(options) { server in
    try await withBroker(of: server, limits) { broker in try await body(broker, server) }
  }
}

extension RedisServer.Options {
  /// With DEBUG DIGEST, which tells whether two datasets are the same, byte for byte.
  static var debuggable: Self {
    var options = Self()
    options.settings["enable-debug-command"] = "yes"
    return options
  }
}

extension RedisLimits {
  /// Nothing times out by accident on a machine that does much else.
  static var patient: RedisLimits {
    var limits = RedisLimits()
    limits.commandTimeout = .seconds(20)
    limits.waitForConnection = .seconds(20)
    return limits
  }
}

extension RedisServer {
  func digest() throws -> String { try command("DEBUG", "DIGEST") }

  func keys(_ pattern: String) throws -> [String] {
    try command("KEYS", pattern).split(separator: "\n").map(String.init)
  }

  /// How often each command was called since CONFIG RESETSTAT, those of functions included.
  func calls() throws -> [String: Int] {
    var calls: [String: Int] = [:]
    for line in try command("INFO", "commandstats").split(separator: "\r\n") {
      guard line.hasPrefix("cmdstat_"), let colon = line.firstIndex(of: ":") else { continue }
      let count = line[colon...].dropFirst(":calls=".count).prefix { $0.isNumber }
      calls[String(line[..<colon].dropFirst("cmdstat_".count))] = Int(count)
    }
    calls["info"] = nil
    calls["config|resetstat"] = nil
    // A subscriber asks this now and then by itself.
    calls["ping"] = nil
    return calls
  }
}

extension Broker {
  /// A command as the test wants it, on the store's connection.
  @discardableResult
  func command(_ words: [String]) async throws -> RedisReply {
    var command = RedisCommand(words[0])
    command.append(contentsOf: words.dropFirst())
    return try await store.pipeline([command], at: "test")[0]
  }
}
