import Foundation
import TestKit
import Testing

extension EndToEnd {
  /// A keyspace that was moved to more partitions behaves like one that was moved to the same number: after
  /// two moves of the same data, all requests have the same outcome on both.
  @Suite struct Divisions {
    @Test(arguments: [(1, 4), (2, 32), (8, 16)], [UInt64(0), 1])
    func nobodyNoticesThatAKeyspaceIsDivided(partitions: (Int, Int), round: UInt64) async throws {
      let seed = TestEnvironment.seed &+ round
      try await withWorld(redis: .onTCP, settings: ["BELFRY_PARTITIONS": "\(partitions.0)"]) { world in
        var walk = DivisionWalk(seed: seed, comment: "BELFRY_SEED=\(seed) \(partitions)")
        try walk.fill(at: world[0], on: world.redis)
        try await withTwin(of: world.redis) { twin in
          try await withRedisServer(.onTCP) { same in
            try await withRedisServer(.onTCP) { more in
              let (from, to) = (try #require(world.redis.tcpURL), try #require(more.tcpURL))
              let divided = try await CommandRun(
                ["move", "--from", from, "--to", to, "--partitions", "\(partitions.1)"], in: world[0]
              ).end()
              #expect(
                divided.contains("  partitions       \(partitions.1) (\(partitions.0) before the move)"))
              #expect(divided.contains("  differing        0\n"), "\(divided)")
              let kept = try await CommandRun(
                ["move", "--from", try #require(twin.tcpURL), "--to", try #require(same.tcpURL)], in: world[0]
              ).end()
              #expect(kept.contains("  differing        0\n"), "\(kept)")
              let one = try await Broker.started(
                redisURL: same.url, options: ["BELFRY_PARTITIONS": "\(partitions.0)"])
              let other = try await Broker.started(
                redisURL: more.url, options: ["BELFRY_PARTITIONS": "\(partitions.1)"])
              walk.begin((one, same), (other, more))
              for _ in 0..<120 { try walk.step() }
              try await walk.checkAll()
              await one.remove()
              await other.remove()
            }
          }
        }
      }
    }

    /// Gives the body a copy of a Redis that no broker uses.
    private func withTwin(of redis: RedisServer, _ body: (RedisServer) async throws -> Void) async throws {
      try await withRedisServer(.onTCP) { twin in
        try twin.command("REPLICAOF", "127.0.0.1", "\(try #require(redis.port))")
        try await eventually {
          try twin.command("INFO", "replication").contains("master_link_status:up")
            && redis.command("WAIT", "1", "100") == "1"
        }
        try twin.command("REPLICAOF", "NO", "ONE")
        try await body(twin)
      }
    }
  }
}

extension RedisServer.Options {
  static var onTCP: RedisServer.Options {
    var options = RedisServer.Options()
    options.listensOnTCP = true
    // Otherwise Redis makes a replica wait for others before it sends the data.
    options.settings["repl-diskless-sync-delay"] = "0"
    return options
  }
}
