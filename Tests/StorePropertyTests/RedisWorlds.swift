import BelfryLoop
import BelfryModel
import BelfryRedis
import BelfryStore
import ModelSamples
import TestKit

/// Worlds of Redis on a loop of its own, one after the other, and the walk that drives them there.
actor RedisWorlds {
  nonisolated let loop: EventLoop
  private let server: RedisServer
  private let redisLimits: RedisLimits
  private let link: FrailLink
  private let comparingLink: ComparingLink?
  private var store: RedisStore?
  private var feed: RedisLiveFeed?

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  /// - Parameter comparingLink: the way to the server; nil for the direct one.
  init(_ server: RedisServer, on loop: EventLoop, through comparingLink: ComparingLink?) throws {
    self.comparingLink = comparingLink
    self.loop = loop
    self.server = server
    var limits = RedisLimits()
    // The machine may be busy with much else; nothing here is about time.
    limits.commandTimeout = .seconds(20)
    limits.waitForConnection = .seconds(20)
    redisLimits = limits
    link = try FrailLink(to: server, through: comparingLink?.socketPath)
  }

  func close() {
    feed?.close()
    store?.close()
    (feed, store) = (nil, nil)
  }

  /// Walks over Redis and memory; gives the report of the first one on which they differ.
  func disagreement(_ run: SeededRun) async -> String? {
    defer { print("\(link.breaks) brokers have died") }
    return await trace.disagreement(seed: run.seed, steps: run.count)
  }

  func divergence(_ steps: [Step]) async -> Divergence? { await trace.divergence(steps) }

  private var trace: Trace {
    Trace(makeLeft: Trace.memory(tickMilliseconds: 1), makeRight: { try await self.world(of: $0) })
  }

  /// With a store of its own: a walk must not depend on those before it, or its seed alone would not repeat it.
  private func world(of cast: Cast) async throws -> World {
    close()
    if let comparingLink { try comparingLink.clear(server) } else { try server.command("FLUSHALL") }
    let endpoint = try comparingLink.map { .unixSocket($0.socketPath) } ?? RedisEndpoint(url: server.url)
    let store = RedisStore(loop: loop, endpoint: endpoint, limits: Cast.limits, redisLimits: redisLimits)
    let feed = RedisLiveFeed(of: store)
    (self.store, self.feed) = (store, feed)
    store.start()
    feed.start()
    let (link, loop, limits) = (link, loop, redisLimits)
    return try await World(
      store, feed, cast: cast,
      makeMortal: { MortalRedis(link, writes: $0, on: loop, limits, usesSendFunctions: $1) },
      useSendFunctions: { store.usesSendFunctions = $0 })
  }
}

func withRedisWorlds<R>(_ body: (RedisWorlds) async throws -> R) async throws -> R {
  try await withRedisServer { try await withRedisWorlds(on: $0, through: nil, body) }
}

private func withRedisWorlds<R>(
  on server: RedisServer, through comparingLink: ComparingLink?, _ body: (RedisWorlds) async throws -> R
) async throws -> R {
  try await withLoop { loop in
    let worlds = try RedisWorlds(server, on: loop, through: comparingLink)
    do {
      let result = try await body(worlds)
      await worlds.close()
      return result
    } catch {
      await worlds.close()
      throw error
    }
  }
}

/// On a server whose answers are compared with those of a simulated one.
func withComparedWorlds<R>(_ body: (RedisWorlds, ComparingLink) async throws -> R) async throws -> R {
  var options = RedisServer.Options()
  let clock = try await ShiftedClock()
  options.clock = clock
  return try await withRedisServer(options) { server in
    let link = try ComparingLink(to: server, clock)
    return try await withRedisWorlds(on: server, through: link) { try await body($0, link) }
  }
}
