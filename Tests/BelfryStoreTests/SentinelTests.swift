import BelfryModel
import BelfryRedis
import TestKit
import Testing

@testable import BelfryStore

/// A broker that is told of Sentinels works on the master that they name, and follows it.
@Suite struct SentinelTests {
  @Test func aKilledMasterIsFollowedByItsReplica() async throws {
    try await withRedisSentinels { redis in
      // It learns of the other two Sentinels.
      try await withBroker(of: redis.url(of: redis.sentinels.prefix(1))) { broker in
        try await broker.append("ding")
        #expect(await broker.place == place(of: redis.nodes[0]))
        try await redis.untilCaughtUp()
        await redis.nodes[0].kill()
        await redis.sentinels[0].kill()
        try await redis.untilMaster(redis.nodes[1])
        try await broker.goesOn(at: redis.nodes[1])
        // The one that was killed comes back as a master, until it is told otherwise.
        try await redis.nodes[0].start(with: ["replica-priority": "0"])
        try await redis.untilReplica(redis.nodes[0])
        try await broker.goesOn(at: redis.nodes[1])
        #expect(try await broker.log().first?.body == "ding")
      }
    }
  }

  /// The old master does not hear of it, and nobody loses a connection: the broker finds out by looking.
  @Test func aMasterThatWasReplacedOnPurposeIsLeft() async throws {
    try await withRedisSentinels { redis in
      try await withBroker(of: redis.url) { broker in
        try await broker.append("ding")
        try await redis.untilCaughtUp()
        // Sentinels would tell it after eight seconds.
        try redis.nodes[0].command("ACL", "SETUSER", "default", "-slaveof", "-replicaof")
        try redis.sentinels[1].command("SENTINEL", "FAILOVER", RedisSentinelServers.name)
        try await redis.untilMaster(redis.nodes[1])
        try await broker.goesOn(at: redis.nodes[1])
        #expect(try redis.nodes[0].isMaster, "it has not waited until the old one was told")
      }
    }
  }

  @Test func aFrozenMasterIsLeftAndNotReturnedTo() async throws {
    try await withRedisSentinels { redis in
      try await withBroker(of: redis.url) { broker in
        try await broker.append("ding")
        try await redis.untilCaughtUp()
        redis.nodes[0].pause()
        defer { redis.nodes[0].resume() }
        try await redis.untilMaster(redis.nodes[1])
        try await broker.goesOn(at: redis.nodes[1])
        redis.nodes[0].resume()
        try await redis.untilReplica(redis.nodes[0])
        try await broker.goesOn(at: redis.nodes[1])
        #expect(try await broker.log().first?.body == "ding")
      }
    }
  }

  @Test func withoutSentinelsTheMasterThatIsKnownServes() async throws {
    try await withRedisSentinels { redis in
      try await withBroker(of: redis.url) { broker in
        try await broker.append("ding")
        for sentinel in redis.sentinels { await sentinel.kill() }
        try await broker.loop.sleep(for: .seconds(2))
        try await broker.append("dong")
        // Lost connections are made again.
        for type in ["normal", "pubsub"] { try redis.nodes[0].command("CLIENT", "KILL", "TYPE", type) }
        try await broker.goesOn(at: redis.nodes[0])
        for sentinel in redis.sentinels { try await sentinel.start() }
        try redis.sentinels[0].command("SENTINEL", "FAILOVER", RedisSentinelServers.name)
        try await redis.untilMaster(redis.nodes[1])
        try await broker.goesOn(at: redis.nodes[1])
      }
    }
  }

  @Test func aNameThatNoSentinelKnowsIsNamed() async throws {
    try await withRedisSentinels { redis in
      try await withBroker(of: redis.url(of: redis.sentinels, name: "nobody")) { broker in
        try await broker.eventually {
          $0.refusal(.unsuitable)?.contains("no master with the name \"nobody\"") == true
        }
        #expect(await broker.storeError { _ = try await $0.append("ding") }?.code == .unavailable)
      }
    }
  }

  @Test func sentinelsAndNodesHavePasswordsOfTheirOwn() async throws {
    var options = RedisSentinelServers.Options()
    (options.node.password, options.password) = ("s3cret-of-nodes", "s3cret-of-sentinels")
    try await withRedisSentinels(options) { redis in
      try await withBroker(of: redis.url) { broker in
        try await broker.append("ding")
        try redis.sentinels[1].command("SENTINEL", "FAILOVER", RedisSentinelServers.name)
        try await redis.untilMaster(redis.nodes[1])
        try await broker.goesOn(at: redis.nodes[1])
      }
      let without = redis.url.prefix { $0 != "?" }
      for url in ["\(without)", "\(without)?sentinel_password=s3cret-of-others"] {
        try await withBroker(of: url) { broker in
          try await broker.eventually { $0.refusal(.unavailable)?.contains("no Sentinel answers") == true }
          let refusal = broker.refusal(.unavailable) ?? ""
          #expect(refusal.contains("NOAUTH") || refusal.contains("WRONGPASS"), "\(refusal)")
          #expect(!refusal.contains("s3cret"), "\(refusal)")
        }
      }
    }
  }

  /// A broker that is given a Sentinel as if it were a Redis is told how to write it.
  @Test func aSentinelAsARedisIsRefused() async throws {
    try await withRedisSentinels { redis in
      try await withBroker(of: redis.sentinels[0]) { broker in
        try await broker.eventually {
          $0.refusal(.unsuitable)?.contains("redis+sentinel://host:26379/NAME") == true
        }
      }
    }
  }
}

private func place(of node: RedisServer) -> String { "redis://127.0.0.1:\(node.port ?? 0)" }

extension RedisSentinelServers {
  /// Waits until the replica has what was written until now.
  fileprivate func untilCaughtUp() async throws {
    let master = try master
    let replica = nodes[0] === master ? nodes[1] : nodes[0]
    func offset(_ node: RedisServer) throws -> Substring? {
      try node.command("INFO", "replication").split(whereSeparator: \.isNewline).first {
        $0.hasPrefix("master_repl_offset:")
      }
    }
    try await eventually { try offset(replica) == offset(master) }
  }
}

extension Broker {
  /// The address of its one node, as `belfry cluster` shows it.
  fileprivate var place: String? {
    get async { await store.nodes().nodes.first?.place }
  }

  /// Waits until a notification can be sent there, and is heard.
  fileprivate func goesOn(at node: RedisServer) async throws {
    try await TestKit.eventually(every: .milliseconds(20)) {
      try await feed.subscribe(space)
      return true
    }
    try await TestKit.eventually("it stays elsewhere", every: .milliseconds(20)) {
      await place == "redis://127.0.0.1:\(node.port ?? 0)"
    }
    var sent: MessageID?
    try await TestKit.eventually(every: .milliseconds(20)) {
      sent = try await append("on")
      return true
    }
    #expect(try node.keys("*log:\(space.key)").count == 1)
    #expect(await store.nodes().nodes.map(\.isConnected) == [true])
    // It may be heard again only after this.
    try await TestKit.eventually(every: .milliseconds(20)) {
      let id = try await append("heard")
      try await loop.sleep(for: .milliseconds(50))
      return messages.contains { $0.entry?.id == id }
    }
    #expect(try await log().contains { $0.id == sent })
  }

  fileprivate func refusal(_ code: RedisError.Code) -> String? {
    if case .lost(let error) = store.state, error.code == code { error.cause } else { nil }
  }
}
