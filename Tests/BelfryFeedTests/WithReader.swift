import BelfryFeed
import BelfryLoop
import BelfryModel
import BelfryRedis
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// Gives the body a reader of feeds on a loop of its own, and the store that it reads.
func withReader(
  of url: String, promise: ReplicationPromise = .none,
  _ body: @escaping @Sendable (FeedReader, RedisStore) async throws -> Void
) async throws {
  try await withLoop { loop in
    let usher = Usher(on: loop)
    try await usher.show(url, promise, body)
  }
}

/// Shows what is done on a loop a reader there.
private actor Usher {
  private nonisolated let loop: EventLoop

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  init(on loop: EventLoop) { self.loop = loop }

  func show(
    _ url: String, _ promise: ReplicationPromise,
    _ body: @escaping @Sendable (FeedReader, RedisStore) async throws -> Void
  ) async throws {
    let store = RedisStore(
      loop: loop, endpoint: try RedisEndpoint(url: url), limits: Limits(), redisLimits: .patient,
      promise: promise)
    store.start()
    defer { store.close() }
    let scope = LoopScope(on: loop)
    var result: Result<Void, any Error>?
    scope.start { [loop] in
      do {
        try await body(FeedReader(store: store, limits: Limits(), loop: loop, scope: scope), store)
        result = .success(())
      } catch {
        result = .failure(error)
      }
      scope.close()
    }
    await scope.run()
    try #require(result).get()
  }
}
