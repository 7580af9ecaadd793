import BelfryStore
import TestKit
import Testing

@testable import BelfryServer

/// Moves that are refused before anything is changed.
@Suite(.timeLimit(.minutes(3))) struct MoveRefusalTests {
  /// Moves from a filled Redis; expects a refusal that leaves both as they are.
  private func expect(
    _ code: String, _ words: String, partitions: Int? = nil,
    prepare: (RedisServer, RedisServer) async throws -> Void
  ) async throws {
    try await withRedisServer(.debuggable()) { source in
      try source.fillMovedKeyspace()
      try await withRedisServer(.debuggable()) { target in
        try await prepare(source, target)
        let before = (try source.digest, try target.digest)
        let refused = await refusal { try await move(source.url, to: target.url, partitions: partitions) }
        #expect(refused?.code == code, "\(refused.debugDescription)")
        let said = (refused?.cause ?? "") + " " + (refused?.advice ?? "")
        #expect(said.contains(words), "\(said)")
        #expect(try source.digest == before.0)
        #expect(try target.digest == before.1)
      }
    }
  }

  @Test func fewerPartitionsOrNoPowerOfTwo() async throws {
    for count in [32, 1, 96] {
      try await expect(
        "partitionsDiffer",
        "this keyspace has 64 partitions; the new number must be a larger power of two, not \(count)",
        partitions: count
      ) { _, _ in }
    }
  }

  @Test func dataOfAnotherVersion() async throws {
    try await expect("partitionsDiffer", "this release moves data of version 3") { source, _ in
      try source.setFormat("4 64")
    }
  }

  @Test func aSourceThatIsNotBelfrys() async throws {
    try await expect("nothingThere", "it has no Belfry keyspace") { source, _ in
      try source.command("DEL", "belfry:format")
    }
  }

  @Test func aTargetThatHoldsAKeyspace() async throws {
    try await expect("keyspaceExists", "nothing is overwritten") { _, target in try target.setFormat("3 64") }
  }

  @Test func aTargetThatHoldsAKey() async throws {
    try await expect("keyspaceExists", "belfry:{1.1}:log:server:1") { _, target in
      try target.command("XADD", "belfry:{1.1}:log:server:1", "*", "a", "b")
    }
  }

  @Test func aTargetOfAnotherMove() async throws {
    let record = MoveRecord(.arriving, format: "3 64", id: "other", since: 1, other: "redis://elsewhere:6379")
    try await expect("moveUnderWay", "it takes part in another move") { _, target in
      try target.setFormat(record.text, move: "other")
    }
  }

  /// Somebody moves back before the keys of the first move are removed.
  @Test func aTargetThatWasMovedAway() async throws {
    let record = MoveRecord(.moved, format: "3 64", id: "other", since: 1, other: "redis://elsewhere:6379")
    try await expect("keyspaceExists", "moved to redis://elsewhere:6379, and its keys are still here") {
      _, target in
      try target.setFormat(record.text, move: "other")
    }
  }

  @Test func aSourceThatIsMovedElsewhere() async throws {
    let record = MoveRecord(.moving, format: "3 64", id: "other", since: 1, other: "redis://elsewhere:6379")
    try await expect("moveUnderWay", "--to redis://elsewhere:6379 continues the move") { source, _ in
      try source.setFormat(record.text, move: "other")
    }
    try await expect("movedAlready", "its keyspace was moved to redis://elsewhere:6379") { source, _ in
      try source.setFormat(record.becoming(.moved).text, move: "other")
    }
    try await expect("moveUnderWay", "is not complete") { source, _ in
      try source.setFormat(record.becoming(.arriving).text, move: "other")
    }
  }

  @Test func aTargetWithoutTheMemory() async throws {
    try await expect("noRoom", "maxmemory is 3000000") { source, target in
      try source.command("DEBUG", "POPULATE", "5000", "belfry:x", "1000")
      try target.command("CONFIG", "SET", "maxmemory", "3000000")
    }
  }

  @Test func aTargetThatDropsKeys() async throws {
    try await expect("redisUnsuitable", "set maxmemory-policy noeviction") { _, target in
      try target.command("CONFIG", "SET", "maxmemory", "300mb", "maxmemory-policy", "allkeys-lru")
    }
  }

  @Test func aReplica() async throws {
    try await expect("redisUnsuitable", "it is a replica") { _, target in
      try target.command("REPLICAOF", "127.0.0.1", "1")
    }
  }

  @Test func aClockThatIsFarOff() async throws {
    try await withRedisServer(.debuggable()) { source in
      try source.fillMovedKeyspace()
      var options = RedisServer.Options.debuggable()
      let clock = try await ShiftedClock()
      options.clock = clock
      try await withRedisServer(options) { target in
        try clock.step(bySeconds: 60)
        let refused = await refusal { try await move(source.url, to: target.url) }
        #expect(refused?.cause.contains("its clock differs by") == true, "\(refused.debugDescription)")
      }
    }
  }

  @Test func theSameRedisAndOneThatIsAway() async throws {
    try await withRedisServer(.debuggable()) { source in
      try source.fillMovedKeyspace()
      let digest = try source.digest
      let same = await refusal { try await move(source.url, to: source.url + "?db=1") }
      #expect(same?.cause.contains("it is the same Redis") == true, "\(same.debugDescription)")
      let away = "redis://127.0.0.1:\(try findFreePort())"
      #expect(await refusal { try await move(source.url, to: away) }?.code == "redisFailed")
      #expect(await refusal { try await move(away, to: source.url) }?.code == "redisFailed")
      #expect(try source.digest == digest)
    }
  }

  @Test func clustersThatCannotBeSourcesOrLackSlots() async throws {
    try await withRedisCluster { cluster in
      try await withRedisServer(.debuggable()) { source in
        try source.fillMovedKeyspace()
        let digest = try source.digest
        let back = await refusal { try await move(cluster.url, to: source.url) }
        #expect(back?.cause.contains("from which a move is not possible yet") == true)
        try cluster.nodes[2].command("CLUSTER", "DELSLOTS", "16000")
        try await eventually {
          let refused = await refusal { try await move(source.url, to: cluster.urls[2]) }
          return refused?.cause.contains("serves the slot 16000") == true
        }
        #expect(try source.digest == digest)
        #expect(try cluster.values == [:])
      }
    }
  }
}
