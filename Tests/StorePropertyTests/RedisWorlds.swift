import BelfryLoop
import BelfryModel
import BelfryRedis
import BelfryStore
import ModelSamples
import TestKit

/// A Redis store on a loop of its own, and whoever drives it there.
actor RedisWorlds {
  nonisolated let loop: EventLoop
  private let server: RedisServer
  private let store: RedisStore
  private let feed: RedisLiveFeed
  private let redisLimits: RedisLimits
  private let link: FrailLink

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  init(_ server: RedisServer, on loop: EventLoop) throws {
    self.loop = loop
    self.server = server
    var limits = RedisLimits()
    // The machine may be busy with much else; nothing here is about time.
    limits.commandTimeout = .seconds(20)
    limits.waitForConnection = .seconds(20)
    redisLimits = limits
    link = try FrailLink(to: server)
    let endpoint = try RedisEndpoint(url: server.url)
    store = RedisStore(loop: loop, endpoint: endpoint, limits: Cast.limits, redisLimits: limits)
    feed = RedisLiveFeed(of: store)
  }

  func start() {
    store.start()
    feed.start()
  }

  func close() {
    feed.close()
    store.close()
  }

  /// Walks over Redis and memory; gives the report of the first one on which they differ. By chance a step's sends go by
  /// the functions made for sends, or as all other commits do: nobody can tell which.
  func disagreement(seed: UInt64, steps: Int?) async -> String? {
    let (server, store, feed, link, loop, limits) = (server, store, feed, link, loop, redisLimits)
    let trace = Trace(
      makeLeft: Trace.memory(tickMilliseconds: 1),
      makeRight: { cast in
        try server.command("FLUSHALL")
        try await store.compareFormat()
        var random = SeededGenerator(seed: seed)
        return try await World(
          store, feed, cast: cast,
          makeMortal: {
            MortalRedis(link, writes: $0, on: loop, limits, usesSendFunctions: store.usesSendFunctions)
          },
          beforeStep: { store.usesSendFunctions = random.oneIn(2) })
      })
    defer { print("\(link.breaks) brokers have died") }
    return await trace.disagreement(seed: seed, steps: steps)
  }
}

func withRedisWorlds<R>(_ body: (RedisWorlds) async throws -> R) async throws -> R {
  try await withRedisServer { server in
    try await withLoop { loop in
      let worlds = try RedisWorlds(server, on: loop)
      await worlds.start()
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
}
