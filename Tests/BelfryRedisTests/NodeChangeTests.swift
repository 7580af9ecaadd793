import BelfryLoop
import TestKit
import Testing

@testable import BelfryRedis

/// The losses and returns of a cluster's nodes that operators are told of.
@Suite struct NodeChangeTests {
  @Test func aLossIsToldOnceAndSoIsTheReturn() async throws {
    try await withRedisCluster { cluster in
      let node = cluster.nodes[1]
      let place = try #require(node.tcpURL)
      let told = try await self.told(by: try #require(cluster.nodes[0].tcpURL)) { told in
        try await eventually { told.count(of: "connected") == 3 }
        await node.kill()
        try await eventually { told.count(of: "lost") == 1 }
        // Some tries to connect fail, each in its own words.
        try await Task.sleep(for: .milliseconds(500))
        try await node.start()
        try await eventually { told.count(of: "connected") == 4 }
      }
      #expect(
        told.filter { $0.hasSuffix(place) } == ["connected", "lost", "connected"].map { "\($0) \(place)" })
      #expect(told.count == 5, "\(told)")
    }
  }

  /// It serves nothing, so nothing is lost with it.
  @Test func aReplicaAsTheGivenNodeIsNotLost() async throws {
    try await withRedisCluster(replicas: true) { cluster in
      let told = try await self.told(by: try #require(cluster.replica(of: 0).tcpURL)) { told in
        try await eventually { told.count(of: "connected") == 3 }
      }
      #expect(told.count { $0.hasPrefix("lost") } == 0, "\(told)")
    }
  }

  /// - Parameter work: done while a loop is connected, which was given one node.
  /// - Returns: everything that was told, such as `lost redis://127.0.0.1:7001`.
  private func told(by url: String, during work: @Sendable (Told) async throws -> Void) async throws
    -> [String]
  {
    let told = Told()
    try await withLoop { loop in
      let watcher = NodeWatcher(on: loop, try RedisEndpoint(url: url), told)
      await watcher.start()
      do {
        try await work(told)
      } catch {
        await watcher.close()
        throw error
      }
      await watcher.close()
    }
    return told.all
  }
}

private struct Told: Sendable {
  private let lines = Shared<[String]>([])

  var all: [String] { lines.withLock { $0 } }
  func add(_ line: String) { lines.withLock { $0.append(line) } }
  func count(of word: String) -> Int { all.count { $0.hasPrefix(word) } }
}

private actor NodeWatcher {
  nonisolated let loop: EventLoop
  private let cluster: RedisCluster

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  init(on loop: EventLoop, _ endpoint: RedisEndpoint, _ told: Told) {
    self.loop = loop
    cluster = RedisCluster(loop: loop, endpoint: endpoint, limits: .patient, firstKey: "key") { _ in nil }
    cluster.onNodeChange = { place, change in
      switch change {
      case .connected: told.add("connected \(place)")
      case .lost: told.add("lost \(place)")
      }
    }
  }

  func start() { cluster.start() }
  func close() { cluster.close() }
}
