import BelfryLoop
import BelfryModel
import BelfryRedis
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// The keys of the keyspace that these tests have.
let layout = RedisLayout(.standard)

extension Store {
  /// Marks on the read state as it is now. Gives how many became read.
  func marked(_ mark: ReadMark, by account: AccountID) async throws -> Int {
    var mark = mark
    while true {
      mark.version = try await wholeReadState(of: account).version
      if case .marked(let count, _) = try await markRead(mark, by: account) { return count }
    }
  }
}

/// An actor on a loop with a store and a live feed, as a broker's loop has them.
actor Broker {
  nonisolated let loop: EventLoop
  let store: RedisStore
  let feed: RedisLiveFeed
  private(set) var heard: [Heard] = []
  private(set) var connections: [Bool] = []
  /// The partitions whose live messages were lost, or were heard again.
  private(set) var hearing: [Hearing] = []

  struct Hearing: Hashable {
    let isHeard: Bool
    let partitions: [Partition]
  }

  struct Heard: Hashable {
    let space: SpaceID
    let message: LiveMessage
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  init(
    on loop: EventLoop, _ endpoint: RedisEndpoint, _ limits: Limits, _ partitions: Partitions,
    relayRetryPause: Duration, promise: ReplicationPromise
  ) {
    self.loop = loop
    store = RedisStore(
      loop: loop, endpoint: endpoint, limits: limits, partitions: partitions, redisLimits: .patient,
      promise: promise, relayRetryPause: relayRetryPause)
    feed = RedisLiveFeed(of: store)
  }

  func start() {
    feed.onMessage = { self.heard.append(Heard(space: $0, message: $1)) }
    feed.onHearingChange = { isHeard, partitions in
      self.connections.append(isHeard)
      self.hearing.append(Hearing(isHeard: isHeard, partitions: partitions))
    }
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
    try await TestKit.eventually { try condition(self) }
  }
}

/// Gives the body a broker's loop on a redis-server, and ends it afterwards, even if the body throws.
/// - Parameter relayRetryPause: none, so that each relay tries everything.
func withBroker(
  of server: RedisServer, _ limits: Limits = Limits(), partitions: Partitions = .standard,
  relayRetryPause: Duration = .zero,
  _ body: @Sendable (isolated Broker) async throws -> Void
) async throws {
  try await withBroker(
    of: server.url, limits, partitions: partitions, relayRetryPause: relayRetryPause, body)
}

/// The same, by URL.
func withBroker(
  of url: String, _ limits: Limits = Limits(), partitions: Partitions = .standard,
  relayRetryPause: Duration = .zero, promise: ReplicationPromise = .none,
  _ body: @Sendable (isolated Broker) async throws -> Void
) async throws {
  try await withLoop { loop in
    let broker = Broker(
      on: loop, try RedisEndpoint(url: url), limits, partitions, relayRetryPause: relayRetryPause,
      promise: promise)
    await broker.start()
    // Connected, so that the keyspace says what it is before a test writes into it by hand.
    await broker.run { broker in _ = try? await broker.store.lastIDs(of: [partitions.holding(space)]) }
    do {
      try await broker.run(body)
      await broker.close()
    } catch {
      await broker.close()
      throw error
    }
  }
}

/// The same, on a cluster. All nodes have answered it before: the broker connects
/// once more to those that it asked for the way to the first key, and commands that are under way there then fail.
func withBroker(
  of cluster: RedisClusterServers, promise: ReplicationPromise = .none,
  _ body: @Sendable (isolated Broker) async throws -> Void
) async throws {
  try await withBroker(of: try #require(cluster.nodes[0].tcpURL), promise: promise) { broker in
    try await TestKit.eventually {
      _ = try await broker.store.lastIDs(of: Partitions.standard.all)
      return true
    }
    try await body(broker)
  }
}

/// The same, on a redis-server of its own.
func withBroker(
  _ limits: Limits = Limits(), _ options: RedisServer.Options = .debuggable,
  partitions: Partitions = .standard,
  _ body: @Sendable (isolated Broker, RedisServer) async throws -> Void
) async throws {
  try await withRedisServer(options) { server in
    try await withBroker(of: server, limits, partitions: partitions) { broker in
      try await body(broker, server)
    }
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
  func relay(_ change: IndexChange, of space: SpaceID, version: MessageID) async throws {
    try await relay(Relays(index: [change]), of: space, version: version)
  }

  func deliver(_ deliveries: [Delivery], version: MessageID, of space: SpaceID) async throws {
    try await relay(Relays(index: [], deliveries: deliveries), of: space, version: version)
  }

  func list(_ space: SpaceID, _ listing: ListingChange) async throws {
    try await relay(Relays(index: [], listing: listing), of: space, version: .zero)
  }

  private func relay(_ relays: Relays, of space: SpaceID, version: MessageID) async throws {
    try await relay(OutboxItem(space: space, version: version, before: version.predecessor, relays: relays))
  }

  /// As if it had been in an outbox.
  func relay(_ item: OutboxItem) async throws {
    var work = OutboxRounds([item], held: [])
    while true {
      let round = work.nextRound()
      if round.isEmpty { return }
      for (_, problem) in try await store.sendRelays(round) { throw problem }
    }
  }

  /// A command as the test wants it, on the store's connection.
  @discardableResult
  func command(_ words: [String]) async throws -> RedisReply {
    var command = RedisCommand(words[0])
    command.append(contentsOf: words.dropFirst())
    return try await store.pipeline([command], at: "test")[0]
  }
}
