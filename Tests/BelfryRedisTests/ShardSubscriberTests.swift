import BelfryBytes
import BelfryLoop
import TestKit
import Testing

@testable import BelfryRedis

/// Channels of a cluster that are unsubscribed while their slot moves.
@Suite struct ShardSubscriberTests {
  /// The end of the first try is not noticed before the channel is unsubscribed.
  @Test func aChannelThatIsLeftAsItsSlotMovesIsNotSubscribedOnceMore() async throws {
    try await withRedisCluster { cluster in
      try await withLoop { loop in
        let listener = Listener(on: loop, try RedisEndpoint(url: try #require(cluster.nodes[0].tcpURL)))
        await listener.start()
        do {
          try await eventually { await listener.isConnected }
          #expect(await listener.leaveAsItsSlotMoves("channel")?.code == .unsubscribed)
        } catch {
          await listener.close()
          throw error
        }
        await listener.close()
      }
    }
  }
}

private actor Listener {
  nonisolated let loop: EventLoop
  private let cluster: RedisCluster
  private let subscriber: ShardSubscriber

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  init(on loop: EventLoop, _ endpoint: RedisEndpoint) {
    self.loop = loop
    cluster = RedisCluster(loop: loop, endpoint: endpoint, limits: .patient, firstKey: "key") { _ in nil }
    subscriber = ShardSubscriber(of: cluster)
  }

  func start() {
    subscriber.start()
    cluster.start()
  }

  func close() {
    subscriber.close()
    cluster.close()
  }

  var isConnected: Bool { cluster.nodeCounts.connected == 3 && subscriber.isConnected }

  /// - Returns: the error of the subscription; nil if it succeeded.
  func leaveAsItsSlotMoves(_ channel: String) async -> RedisError? {
    let slot = ClusterSlot.of(key: channel)
    let subscription = Task.immediate { () -> RedisError? in
      do throws(RedisError) {
        try await subscriber.subscribe(channel)
        return nil
      } catch {
        return error
      }
    }
    if let other = cluster.map.serving.first(where: { $0 != cluster.map.owner(of: slot) }) {
      _ = cluster.topology.move(slot, to: other, now: .now)
    }
    cluster.onMapChange?()
    subscriber.unsubscribe(channel)
    return await subscription.value
  }
}
