import BelfryRedis
import TestKit
import Testing

@testable import BelfryServer

/// `/readyz` says with 503 why the broker is not ready.
@Suite struct UnreadinessTests {
  private func detail(_ broker: TestBroker) throws -> String? {
    let answer = try broker.ask("GET", "/readyz")
    #expect(answer.status == 503 && answer.code == "unavailable", "\(answer.body)")
    return answer.json["detail"]?.text
  }

  @Test func aRedisThatWasThereAndIsAwayIsNamed() async throws {
    try await withBroker { broker in
      await broker.redis.kill()
      try await eventually { try broker.ask("GET", "/readyz").status == 503 }
      #expect(try detail(broker) == "Redis cannot be reached")
    }
  }

  /// A broker that has not reached its Redis yet.
  private func detail(
    beforeReaching redis: RedisServer, isDiskFull: Bool = false, until isExpected: (String?) -> Bool
  ) async throws {
    var configuration = Configuration()
    configuration.listen = ListenAddress(host: "127.0.0.1", port: 0)
    configuration.loops = 1
    let signer = TokenSigner(secret: Array("a secret for nothing but these tests".utf8))
    let broker = try Broker(
      configuration, keys: TokenKeys(signer), redisURL: redis.url, isDiskFull: { isDiskFull })
    let (ports, listening) = AsyncStream<UInt16>.makeStream()
    async let running: Void = broker.run { listening.yield($0) }
    let port = try #require(await ports.first { _ in true })
    try await eventually { isExpected(try detail(TestBroker(port: port, redis: redis, broker: broker))) }
    broker.drain()
    try await running
  }

  @Test(arguments: [false, true])
  func aStartIsToldFromAFullDisk(isDiskFull: Bool) async throws {
    try await withRedisServer { redis in
      await redis.kill()
      try await detail(beforeReaching: redis, isDiskFull: isDiskFull) { words in
        words
          == (isDiskFull
            ? "Redis does not run, because its disk is full: free space, and the broker starts it again"
            : "this broker is starting: not every event loop has reached Redis yet; if that lasts, the broker's log says why")
      }
    }
  }

  @Test func aRedisThatAsksForAPasswordIsNamed() async throws {
    try await withRedisServer { redis in
      try redis.command("CONFIG", "SET", "requirepass", "word")
      try await detail(beforeReaching: redis) { words in
        words == "Redis asks for a password, and this broker has none (NOAUTH): add it to the setting redis"
      }
    }
  }

  /// Each send would be stored, and then refused: a function publishes after it has appended.
  @Test func aUserWithoutAnyChannelIsNamedBeforeItServes() async throws {
    try await withRedisServer { redis in
      try redis.command("ACL", "SETUSER", "default", "resetchannels")
      try await detail(beforeReaching: redis) { words in words?.contains("(NOPERM)") == true }
    }
  }

  /// Redis answers, so nobody should look for it.
  @Test func aRightThatIsTakenFromARunningBrokerIsNamed() async throws {
    try await withBroker { broker in
      try broker.redis.command("ACL", "SETUSER", "default", "-hmget", "-fcall")
      for path in ["/v1/servers/1", "/v1/account"] {
        let answer = try broker.ask("GET", path, as: try broker.token("alice"))
        #expect(answer.status == 503 && answer.code == "unavailable", "\(answer.body)")
        #expect(answer.json["detail"]?.text?.contains("(NOPERM)") == true, "\(answer.body)")
      }
      #expect(try detail(broker)?.contains("(NOPERM)") == true)
      try broker.redis.command("ACL", "SETUSER", "default", "+hmget", "+fcall")
      try await eventually { try broker.ask("GET", "/readyz").status == 200 }
    }
  }

  /// Redis does not undo what a function did before the command that it refuses, and to undo it needs rights as well.
  @Test(arguments: ["spublish", "xadd"])
  func aSendThatAFunctionBreaksOffIsOfUnknownOutcome(command: String) async throws {
    try await withBroker { broker in
      let (server, token) = (try broker.makeServer(owner: "alice"), try broker.token("alice"))
      for (number, place) in [#""serverId":"\#(server)""#, #""toAccids":["bob"]"#].enumerated() {
        let body = #"{\#(place),"body":"x","messageClientId":"\#(number)"}"#
        try broker.redis.command("ACL", "SETUSER", "default", "-\(command)")
        let broken = try broker.ask("POST", "/v1/notifications", as: token, body)
        #expect(broken.status == 503 && broken.code == "unknownOutcome", "\(broken.body)")
        #expect(try detail(broker)?.contains("(NOPERM)") == true)
        try broker.redis.command("ACL", "SETUSER", "default", "+\(command)")
        try await eventually { try broker.ask("GET", "/readyz").status == 200 }
        let repeated = try broker.ask("POST", "/v1/notifications", as: token, body)
        #expect([200, 201].contains(repeated.status), "\(repeated.body)")
      }
    }
  }

  /// Redis ends the connection for live messages, and refuses each new one.
  @Test func channelsThatAreTakenFromARunningBrokerAreNamed() async throws {
    try await withBroker { broker in
      let stream = try broker.connect()
      stream.begin("GET", "/v1/notifications/stream", as: try broker.token("bob"))
      try await eventually { try broker.redis.command("PUBSUB", "SHARDCHANNELS") != "" }
      try broker.redis.command("ACL", "SETUSER", "default", "resetchannels", "&nothing:*")
      try await eventually {
        let answer = try broker.ask("GET", "/readyz")
        return answer.status == 503 && answer.json["detail"]?.text?.contains("(NOPERM)") == true
      }
      try broker.redis.command("ACL", "SETUSER", "default", "allchannels")
      try await eventually { try broker.ask("GET", "/readyz").status == 200 }
    }
  }

  @Test(arguments: [
    ("WRONGPASS invalid username-password pair or user is disabled.", AccessRefusal.wrongPassword),
    ("NOPERM User bob has no permissions to run the 'hmget' command", .noPermission),
    ("NOAUTH Authentication required.", .noPassword), ("LOADING Redis is loading the dataset", nil),
  ])
  func aRefusalOfTheBrokerIsToldFromOtherErrors(reply: String, expected: AccessRefusal?) {
    #expect(AccessRefusal(.replied(reply, to: "connection set-up")) == expected)
  }

  @Test func aShutdownIsNamedAndNoTimeToTryAgain() {
    let refusal = Unreadiness.shuttingDown.refusal
    #expect(refusal.detail == "this broker is shutting down")
    #expect(refusal.retryAfterSeconds == nil)
  }
}
