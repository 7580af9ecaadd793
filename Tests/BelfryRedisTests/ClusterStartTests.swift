import BelfryBytes
import BelfryLoop
import TestKit
import Testing

@testable import BelfryRedis

/// The first moments of a broker on a cluster.
@Suite struct ClusterStartTests {
  private static let slots = 16_384

  /// A key that belongs to the master with this index, of three.
  private static func key(ofMaster index: Int) throws -> String {
    try #require((0..<1_000).map { "key:\($0)" }.first { ClusterSlot.of(key: $0) * 3 / slots == index })
  }

  /// The node of the URL is still being set up when the node of the first key is ready. It has to be set up again then. A
  /// command for it waits, as for a node that is just being connected.
  @Test func aCommandWaitsForANodeThatIsSetUpAgain() async throws {
    let (firstKey, key) = (try Self.key(ofMaster: 2), try Self.key(ofMaster: 0))
    try await withRedisCluster { cluster in
      try cluster.nodes[0].command("SET", key, "there")
      let url = try #require(cluster.nodes[0].tcpURL)
      try await withLoop { loop in
        let setUps = Shared(0)
        let caller = ClusterCaller(
          on: loop, try RedisEndpoint(url: url), firstKey: firstKey, counting: setUps)
        let answer = await caller.answer(to: RedisCommand("GET", key))
        #expect(answer == .success(.bulk(Array("there".utf8))))
        #expect(setUps.withLock { $0 } == 2)
      }
    }
  }
}

private actor ClusterCaller {
  nonisolated let loop: EventLoop
  private let cluster: RedisCluster

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  /// - Parameter setUps: counts how often the node of the URL is set up.
  init(on loop: EventLoop, _ endpoint: RedisEndpoint, firstKey: String, counting setUps: Shared<Int>) {
    self.loop = loop
    cluster = RedisCluster(loop: loop, endpoint: endpoint, limits: .patient, firstKey: firstKey) { node in
      guard node.place == endpoint.description else { return RedisSetUp([RedisCommand("PING")]) }
      let number = setUps.withLock { count in
        count += 1
        return count
      }
      // The first set-up lasts until it is given up: there is no replica to wait for.
      return RedisSetUp([number == 1 ? RedisCommand("WAIT", 1, 50_000) : RedisCommand("PING")])
    }
  }

  /// Sends the command in the moment in which the cluster is ready, and closes all connections.
  func answer(to command: RedisCommand) async -> Result<RedisReply, RedisError> {
    defer { cluster.close() }
    return await withCheckedContinuation { continuation in
      cluster.onStateChange = { [cluster] state in
        guard case .ready = state else { return }
        cluster.onStateChange = nil
        cluster.send(to: command.slot) {
          $0.append(command)
        } then: {
          continuation.resume(returning: $0.map { $0[0] })
        }
      }
      cluster.start()
    }
  }
}
