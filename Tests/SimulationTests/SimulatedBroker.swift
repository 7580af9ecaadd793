import BelfryFeed
import BelfryLive
import BelfryLoop
import BelfryModel
import BelfryRedis
import BelfryStore

/// All that a broker has on a loop, but for HTTP, webhooks and push.
final class SimulatedBroker {
  /// As often as a broker does it.
  private static let relayInterval: Duration = .seconds(3)

  let hub: Hub
  let runner: OperationRunner
  private let store: RedisStore
  private let live: RedisLiveFeed
  private var isClosed = false

  /// Called on the loop.
  init(on loop: EventLoop, in scope: LoopScope, redis: RedisEndpoint, _ limits: Limits) {
    store = RedisStore(loop: loop, endpoint: redis, limits: limits, adoptsSettings: true)
    live = RedisLiveFeed(of: store)
    let feed = FeedReader(store: store, limits: limits, loop: loop, scope: scope)
    hub = Hub(loop: loop, scope: scope, feed: feed, live: live)
    runner = OperationRunner(store: store, limits: limits, scope: scope)
    store.start()
    live.start()
    scope.start { [self] in
      while !isClosed, (try? await loop.sleep(for: Self.relayInterval)) != nil { await relay() }
    }
  }

  private func relay() async {
    guard let partitions = try? await store.partitionsToRelay() else { return }
    for partition in partitions { try? await store.relayOutbox(of: partition) }
  }

  /// Does the upkeep of a partition once. It may fail, as that of a broker may.
  func sweep(_ partition: Partition) async { try? await store.sweep(partition) }

  func close() {
    isClosed = true
    live.close()
    store.close()
  }
}
