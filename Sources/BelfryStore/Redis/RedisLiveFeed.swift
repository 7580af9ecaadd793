package import BelfryLoop
package import BelfryModel
package import BelfryRedis

/// What happens in spaces, from their live channels in Redis. It has a connection of its own, and like
/// the store it belongs to its loop.
package final class RedisLiveFeed: LiveFeed {
  private let subscriber: RedisSubscriber
  private let layout: RedisLayout
  /// Messages that could not be read.
  package private(set) var unreadableMessages = 0
  package private(set) var isConnected = false

  package var onMessage: ((SpaceID, LiveMessage) -> Void)?
  package var onUnreadable: ((SpaceID) -> Void)?
  package var onConnected: ((Bool) -> Void)?

  /// - Parameter store: of the same loop and the same Redis.
  package init(
    loop: EventLoop, endpoint: RedisEndpoint, store: RedisStore, redisLimits: RedisLimits = RedisLimits()
  ) {
    // A replica, too, lets one subscribe: once its master has left it, nobody would see that nothing comes any more.
    subscriber = RedisSubscriber(
      loop: loop, endpoint: endpoint, limits: redisLimits,
      setUp: NodeCheck.setUp(at: endpoint.description, then: RedisSetUp([])))
    layout = store.layout
  }

  package func start() {
    subscriber.onMessage = { [weak self] channel, payload in self?.hear(payload, on: channel) }
    subscriber.onStateChange = { [weak self] state in
      self?.isConnected = state == .connected
      self?.onConnected?(state == .connected)
    }
    subscriber.start()
  }

  package func close() { subscriber.close() }

  /// Leaves the Redis that it hears, as the store of the loop has left it.
  package func reconnect(because error: RedisError) { subscriber.reconnect(because: error) }

  package func subscribe(_ space: SpaceID) async throws(StoreError) {
    do throws(RedisError) {
      try await subscriber.subscribe(layout.live(space))
    } catch {
      throw StoreError(error, at: "subscribe \(space)")
    }
  }

  package func unsubscribe(_ space: SpaceID) { subscriber.unsubscribe(layout.live(space)) }

  private func hear(_ payload: ArraySlice<UInt8>, on channel: String) {
    guard let space = layout.space(live: channel) else { return }
    guard let messages = LiveMessage.all(in: payload) else {
      unreadableMessages += 1
      onUnreadable?(space)
      return
    }
    for message in messages { onMessage?(space, message) }
  }
}
