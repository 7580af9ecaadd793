import BelfryFeed
import BelfryLive
import BelfryLoop
import BelfryModel
import BelfryStore
import TestKit
import Testing

/// Does the work on a loop of its own, in a scope that ends with it.
func withLoop<Value: Sendable>(
  _ work: @escaping @Sendable (EventLoop, LoopScope) async throws -> Value
) async throws -> Value {
  try await TestKit.withLoop { loop in try await withScope(on: loop, work) }
}

/// Does the work on the loop, in a scope that ends with it.
func withScope<Value: Sendable>(
  on loop: EventLoop, _ work: @escaping @Sendable (EventLoop, LoopScope) async throws -> Value
) async throws -> Value {
  try await Usher(on: loop).show(work)
}

private actor Usher {
  private nonisolated let loop: EventLoop

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  init(on loop: EventLoop) { self.loop = loop }

  func show<Value: Sendable>(
    _ work: @escaping @Sendable (EventLoop, LoopScope) async throws -> Value
  ) async throws -> Value {
    let scope = LoopScope(on: loop)
    var result: Result<Value, any Error>?
    scope.start { [loop] in
      do {
        result = .success(try await work(loop, scope))
      } catch {
        result = .failure(error)
      }
      scope.close()
    }
    await scope.run()
    return try #require(result).get()
  }
}

extension Hub {
  convenience init(
    loop: EventLoop, scope: LoopScope, store: any Store, live: any LiveFeed, limits: Limits
  ) {
    let feed = FeedReader(store: store, limits: limits, loop: loop, scope: scope)
    self.init(loop: loop, scope: scope, feed: feed, live: live)
  }
}

extension EventLoop {
  /// Returns when all that is ready to run on the loop has run. `Task.yield()` goes by a thread of the global executor: on a
  /// busy machine others would get many turns meanwhile, and no seed would repeat their order.
  func letOthersRun() async {
    await withCheckedContinuation { continuation in perform { continuation.resume() } }
  }
}
