import BelfryInterface
import BelfryModel
import TestKit
import Testing

@testable import BelfryServer

@Suite struct AvailabilityTests {
  private static var persistent: RedisServer.Options {
    var options = RedisServer.Options()
    options.appendOnly = .always
    return options
  }

  private func askEverything(_ broker: TestBroker, server id: String) throws -> [Answer] {
    let alice = try broker.token("alice")
    return try [
      broker.ask("POST", "/v1/notifications", as: alice, #"{"serverId":"\#(id)","body":"x"}"#),
      broker.ask("POST", "/v1/servers", as: alice, #"{"name":"x"}"#),
      broker.ask("GET", "/v1/servers", as: alice), broker.ask("GET", "/v1/servers/\(id)", as: alice),
      broker.ask("GET", "/v1/notifications", as: alice),
      broker.ask("GET", "/v1/notifications?wait=60", as: alice),
      broker.ask("POST", "/v1/notifications/read", as: alice, #"{"upTo":"5"}"#), broker.ask("GET", "/readyz"),
    ]
  }

  @Test(arguments: [true, false])
  func withoutRedisEverythingIsRefusedAndGoesOnAfterwards(isKilled: Bool) async throws {
    try await withBroker(redis: Self.persistent) { broker in
      let id = try broker.makeServer(owner: "alice")
      if isKilled { await broker.redis.kill() } else { broker.redis.pause() }
      let begin = ContinuousClock.now
      for answer in try askEverything(broker, server: id) {
        #expect(answer.status == 503, "\(answer.body)")
        #expect(answer.code == "unavailable")
        #expect(answer.headers["retry-after"] == "1")
      }
      // Each request is answered at once, or after the timeout of one command. Nobody waits until the
      // request's own deadline.
      #expect(ContinuousClock.now - begin < .seconds(PendingAnswer.answerMaxSeconds))
      #expect(try broker.ask("GET", "/healthz").status == 200)
      #expect(try broker.ask("GET", "/metrics").body.contains("belfry_redis_connected{loop=\"0\"} "))

      if isKilled { try await broker.redis.start() } else { broker.redis.resume() }
      try await broker.waitUntilReady()
      for answer in try askEverything(broker, server: id) {
        #expect(answer.status < 300, "\(answer.body)")
      }
    }
  }

  @Test func theVersionIsInStatisticsAndMetricsAndTheDescription() async throws {
    #expect(OpenAPIDocument.value["info"]?["version"] == .string(BelfryVersion.text))
    try await withBroker { broker in
      let token = try broker.token("ops", .operation)
      #expect(try broker.ask("GET", "/v1/stats", as: token).json["version"]?.text == BelfryVersion.text)
      let metrics = try broker.ask("GET", "/metrics").body
      #expect(metrics.contains("belfry_build_info{version=\"\(BelfryVersion.text)\"} 1\n"), "\(metrics)")
    }
  }

  @Test func readinessSaysThatMemoryIsFullAndReadingGoesOn() async throws {
    try await withBroker { broker in
      let (alice, bob) = (try broker.token("alice"), try broker.token("bob"))
      func send() throws -> Answer {
        try broker.ask("POST", "/v1/notifications", as: alice, #"{"toAccids":["bob"],"body":"x"}"#)
      }
      let id = try #require(try send().json["messageServerId"]?.text)
      #expect(try broker.ask("GET", "/readyz").json["memory"] == nil)
      try broker.redis.command("CONFIG", "SET", "maxmemory", "1mb")
      let ready = try broker.ask("GET", "/readyz")
      #expect(ready.status == 200)
      #expect(ready.json["memory"] == "full")
      #expect(try send().code == "unavailable")
      let page = try broker.ask("GET", "/v1/notifications", as: bob)
      #expect(page.status == 200)
      #expect(
        try broker.ask("POST", "/v1/notifications/read", as: bob, #"{"upTo":"\#(id)"}"#).json["read"] == 1)
      try broker.redis.command("CONFIG", "SET", "maxmemory", "0")
      #expect(try broker.ask("GET", "/readyz").json["memory"] == nil)
      #expect(try send().status == 201)
    }
  }

  @Test func aStreamOutlivesARestartOfRedis() async throws {
    try await withBroker(redis: Self.persistent) { broker in
      let stream = try broker.connect()
      stream.begin("GET", "/v1/notifications/stream", as: try broker.token("bob"))
      _ = try stream.answer(hasBody: false)
      let app = try broker.token("app", .app)
      func send(_ body: String) throws -> Answer {
        try broker.ask("POST", "/v1/notifications", as: app, #"{"toAccids":["bob"],"body":"\#(body)"}"#)
      }
      #expect(try send("before").status == 201)
      #expect(try stream.nextEvent()?.json["body"] == "before")
      await broker.redis.kill()
      #expect(try send("during").status == 503)
      try await broker.redis.start()
      try await broker.waitUntilReady()
      #expect(try send("after").status == 201)
      #expect(try stream.nextEvent()?.json["body"] == "after")
    }
  }

  @Test func redisMayComeLater() async throws {
    try await withRedisServer(Self.persistent) { redis in
      await redis.kill()
      var configuration = Configuration()
      configuration.listen = ListenAddress(host: "127.0.0.1", port: 0)
      configuration.loops = 2
      let signer = TokenSigner(secret: Array("a secret for nothing but these tests".utf8))
      let broker = try Broker(configuration, keys: TokenKeys(signer), redisURL: redis.url)
      let (ports, listening) = AsyncStream<UInt16>.makeStream()
      async let running: Void = broker.run { listening.yield($0) }
      let port = try #require(await ports.first { _ in true })
      let test = TestBroker(port: port, redis: redis, broker: broker)
      #expect(try test.ask("GET", "/healthz").status == 200)
      #expect(try test.ask("GET", "/readyz").status == 503)
      try await redis.start()
      try await test.waitUntilReady()
      #expect(EntityID(try test.makeServer(owner: "alice")) != nil)
      broker.drain()
      try await running
    }
  }

  @Test func aTakenPortIsRefused() async throws {
    try await withBroker { first in
      var configuration = Configuration()
      configuration.listen = ListenAddress(host: "127.0.0.1", port: first.port)
      configuration.loops = 2
      let second = try Broker(
        configuration, keys: first.broker.keys, redisURL: first.redis.url)
      let error = await #expect(throws: StartError.self) { try await second.run { _ in } }
      #expect(error?.code == .cannotListen)
    }
  }
}
