package import BelfryModel
package import BelfryRedis

/// The events of spaces, from their live channels in Redis. The feed has a connection of its own, and like
/// the store it belongs to its loop.
package final class RedisLiveFeed: LiveFeed {
  private let subscriber: ShardSubscriber
  private let layout: RedisLayout
  /// The number of messages that could not be read.
  package private(set) var unreadableMessages = 0

  package var isConnected: Bool { subscriber.isConnected }

  package var onMessage: ((SpaceID, LiveMessage) -> Void)?
  package var onUnreadable: ((SpaceID) -> Void)?
  package var onHearingChange: ((Bool, [Partition]) -> Void)?
  /// Called when a connection to a node was made and all subscriptions are back, and each time that one is lost or is not made.
  package var onConnection: ((_ place: String, RedisError?) -> Void)? {
    get { subscriber.onConnection }
    set { subscriber.onConnection = newValue }
  }

  /// - Parameter store: a store of the same loop. The feed listens to the store's nodes.
  package init(of store: RedisStore) {
    subscriber = ShardSubscriber(of: store.redis)
    layout = store.layout
  }

  package func start() {
    subscriber.onMessage = { [weak self] channel, payload, process in
      self?.hear(payload, on: channel, from: process)
    }
    subscriber.onHearing = { [weak self] isHeard, slots in
      guard let self else { return }
      switch slots {
      case .all: onHearingChange?(isHeard, layout.partitions.all)
      case .some(let slots): onHearingChange?(isHeard, layout.partitions(in: slots))
      }
    }
    subscriber.start()
  }

  package func close() { subscriber.close() }

  /// Leaves the Redis that it listens to, as the store of the loop has left it.
  package func reconnect(because error: RedisError) { subscriber.reconnect(because: error) }

  package func subscribe(_ space: SpaceID) async throws(StoreError) {
    do throws(RedisError) {
      try await subscriber.subscribe(layout.live(space))
    } catch {
      throw StoreError(error, at: "subscribe \(space)")
    }
  }

  package func unsubscribe(_ space: SpaceID) { subscriber.unsubscribe(layout.live(space)) }

  private func hear(_ payload: ArraySlice<UInt8>, on channel: String, from process: String) {
    guard let space = layout.space(live: channel) else { return }
    guard let messages = LiveMessage.all(in: payload, from: process) else {
      unreadableMessages += 1
      onUnreadable?(space)
      return
    }
    for message in messages { onMessage?(space, message) }
  }
}
