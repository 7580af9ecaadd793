import Foundation
import TestKit
import Testing

extension EndToEnd {
  /// Sentinels fail the Redis of brokers over; the brokers stay.
  @Suite struct Sentinel {
    /// At `replicated`, acknowledged sends are on the stream and unread after any failover. At `local` they
    /// are, or a gap is reported.
    @Test(arguments: ["replicated", "local"])
    func aKilledMasterUnderLoad(durability: String) async throws {
      try await withBrokers(durability) { redis, brokers in
        let load = try Load(brokers)
        try await eventually { load.acknowledged.values.count > 50 }
        await redis.nodes[0].kill()
        try await redis.untilMaster(redis.nodes[1])
        // At `replicated` the new master needs a replica before anything is acknowledged again.
        if durability == "replicated" { try await redis.startReplica(redis.nodes[0]) }
        try await follow(redis.nodes[1], brokers)
        try await load.goesOn()
        try await load.end()
        try expect(load, at: durability)
      }
    }

    @Test(arguments: ["replicated", "local"])
    func aFailoverOnPurposeUnderLoad(durability: String) async throws {
      try await withBrokers(durability) { redis, brokers in
        let load = try Load(brokers)
        try await eventually { load.acknowledged.values.count > 50 }
        try redis.sentinels[0].command("SENTINEL", "FAILOVER", RedisSentinelServers.name)
        try await redis.untilMaster(redis.nodes[1])
        try await follow(redis.nodes[1], brokers)
        if durability == "replicated" { try tellOldMaster(redis) }
        try await load.goesOn()
        try await load.end()
        try expect(load, at: durability)
      }
    }

    @Test func aFrozenMasterUnderLoad() async throws {
      try await withBrokers("replicated") { redis, brokers in
        let load = try Load(brokers)
        try await eventually { load.acknowledged.values.count > 50 }
        redis.nodes[0].pause()
        defer { redis.nodes[0].resume() }
        try await redis.untilMaster(redis.nodes[1])
        redis.nodes[0].resume()
        try await follow(redis.nodes[1], brokers)
        try tellOldMaster(redis)
        try await load.goesOn()
        try await load.end()
        try expect(load, at: "replicated")
      }
    }

    @Test func theMasterIsShownWhereverItIs() async throws {
      try await withBrokers("local") { redis, brokers in
        for node in [redis.nodes[0], redis.nodes[1]] {
          let place = "redis://127.0.0.1:\(node.port ?? 0)"
          try await eventually(every: .milliseconds(50)) {
            try Person.app(at: brokers[0]).call("GET", "/v1/nodes").text.contains("\"place\":\"\(place)\"")
          }
          try await eventually { try Wire(port: brokers[0].port).request("GET", "/readyz").status == 200 }
          #expect(brokers[0].log.contains(place))
          guard node === redis.nodes[0] else { continue }
          try redis.sentinels[0].command("SENTINEL", "FAILOVER", RedisSentinelServers.name)
          try await redis.untilMaster(redis.nodes[1])
        }
      }
    }

    @Test func aBrokerThatIsGivenAWrongNameEndsAndSaysWhy() async throws {
      try await withRedisSentinels { redis in
        let broker = try Broker(redisURL: redis.url(of: redis.sentinels, name: "nobody"))
        try await broker.start(waits: false)
        #expect(await broker.hasEnded())
        #expect(
          broker.log.contains("the Sentinels watch no master with the name \"nobody\""), "\(broker.log)")
        await broker.remove()
      }
    }

    @Test func aBrokerStartsBeforeItsSentinels() async throws {
      try await withRedisSentinels { redis in
        for sentinel in redis.sentinels { await sentinel.kill() }
        let broker = try Broker(redisURL: redis.url)
        try await broker.start(waits: false)
        try await eventually { try Wire(port: broker.port).request("GET", "/readyz").status == 503 }
        try await redis.sentinels[2].start()
        try await eventually { try Wire(port: broker.port).request("GET", "/readyz").status == 200 }
        _ = try Person("alice", at: broker).createServer()
        await broker.remove()
      }
    }

    /// Waits until each loop of the brokers works on that node. Until then, an old master that nobody has
    /// told yet may acknowledge and show notifications that will be lost.
    private func follow(_ node: RedisServer, _ brokers: [Broker]) async throws {
      let place = "redis://127.0.0.1:\(node.port ?? 0)"
      for broker in brokers {
        try await eventually("it stays elsewhere") {
          let connections = broker.log.matches(of: /redis connected loop=(\d+) at=(\S+)/)
          let places = connections.reduce(into: [:]) { $0[$1.1] = $1.2 }
          return places.count == 2 && places.values.allSatisfy { $0 == place }
        }
      }
    }

    /// Sentinels do this after eight seconds. Until then there is no replica, and nothing is acknowledged.
    private func tellOldMaster(_ redis: RedisSentinelServers) throws {
      try redis.nodes[0].command("REPLICAOF", "127.0.0.1", "\(redis.nodes[1].port ?? 0)")
    }

    /// Throws if the expectation fails, so that the logs are shown.
    private func expect(_ load: Load, at durability: String) throws {
      let bodies = load.stream.bodies
      try #require(bodies.count == Set(bodies).count || durability == "local", "shown twice")
      try #require(!load.stream.isOver)
      let unread = Set(try load.owner.unreadBodies())
      let lost = Set(load.acknowledged.values).subtracting(unread)
      if durability == "replicated" {
        try #require(lost.isEmpty, "\(lost.count) acknowledged and lost")
        try #require(Set(load.acknowledged.values).subtracting(bodies).isEmpty, "not streamed")
      } else {
        // The old master may accept sends after this stream's broker has left it. Nobody saw those.
        let shown = lost.intersection(bodies)
        try #require(
          shown.isEmpty || load.stream.all.contains { $0.name == "gap" },
          "\(lost.count) lost, \(shown.count) of them shown, and no gap")
        try #require(unread.subtracting(bodies).isEmpty, "there, and not streamed")
      }
    }

    private func withBrokers(
      _ durability: String, _ body: (RedisSentinelServers, [Broker]) async throws -> Void
    ) async throws {
      try await withRedisSentinels { redis in
        var brokers: [Broker] = []
        let options = ["BELFRY_DURABILITY": durability, "BELFRY_REPLICAS": "1"]
        for _ in 0..<2 { brokers.append(try await Broker.started(redisURL: redis.url, options: options)) }
        do {
          try await body(redis, brokers)
        } catch {
          for broker in brokers { Issue.record("broker's log:\n\(broker.log.suffix(2_000))") }
          for broker in brokers { await broker.remove() }
          throw error
        }
        for broker in brokers { await broker.remove() }
      }
    }
  }
}

/// Four people who send all the time, at two brokers, and one who listens.
private final class Load: Sendable {
  let owner: Person
  let stream: EventStream
  let acknowledged = Box<String>()
  private let server: String
  private let isOver = Flag()
  private let threads = DispatchGroup()

  init(_ brokers: [Broker]) throws {
    owner = try Person("owner", at: brokers[0])
    server = try owner.createServer()
    stream = try owner.stream(at: brokers[1])
    try owner.mustSend("begin", ["serverId": server])
    #expect(stream.wait(forBody: "begin"))
    for number in 0..<4 {
      let sender = try Person("owner", at: brokers[number % 2])
      threads.enter()
      Thread.detachNewThread { [self] in
        defer { threads.leave() }
        var count = 0
        // A test that fails leaves it behind.
        let end = Date(timeIntervalSinceNow: 120)
        while !isOver.isSet, Date() < end {
          let body = "s\(number).\(count)"
          let answer = try? sender.send(body, ["serverId": server, "messageClientId": body])
          if answer?.status == 201 { acknowledged.add(body) }
          count += 1
          Thread.sleep(forTimeInterval: answer?.status == 201 ? 0.002 : 0.02)
        }
      }
    }
  }

  /// Waits until more is acknowledged.
  func goesOn() async throws {
    let before = acknowledged.values.count
    try await eventually { acknowledged.values.count > before + 20 }
  }

  func end() async throws {
    isOver.set()
    threads.wait()
    try await eventually { try owner.send("end", ["serverId": server]).status == 201 }
    #expect(stream.wait(forBody: "end"))
  }
}
