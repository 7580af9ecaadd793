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

  /// Called on the loop.
  init(on loop: EventLoop, in scope: LoopScope, redis: RedisEndpoint, _ limits: Limits) {
    store = RedisStore(loop: loop, endpoint: redis, limits: limits, adoptsSettings: true)
    live = RedisLiveFeed(of: store)
    let feed = FeedReader(store: store, limits: limits, loop: loop, scope: scope)
    hub = Hub(loop: loop, scope: scope, feed: feed, live: live)
    runner = OperationRunner(store: store, limits: limits, scope: scope)
    store.start()
    live.start()
    scope.start { [store] in
      while (try? await loop.sleep(for: Self.relayInterval)) != nil { await Self.relay(store) }
    }
  }

  private static func relay(_ store: RedisStore) async {
    guard let partitions = try? await store.partitionsToRelay() else { return }
    for partition in partitions { try? await store.relayOutbox(of: partition) }
  }

  func close() {
    live.close()
    store.close()
  }
}
