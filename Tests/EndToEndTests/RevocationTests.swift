import BelfryModel
import BelfryServer
import Foundation
import TestKit
import Testing

extension EndToEnd {
  /// `POST /v1/account/revoke`: tokens that were issued before it are void on all brokers, in all
  /// circumstances.
  @Suite struct Revocations {
    private func isRevoked(_ answer: Answer) -> Bool {
      answer.status == 401 && answer["code"] == "tokenRevoked"
    }

    private func expectKicked(_ stream: EventStream) {
      #expect(stream.wait(forEvent: "kicked"))
      #expect(stream.all.last?.object["reason"] as? String == "tokenRevoked")
      #expect(stream.all.last?.object["retry"] as? Bool == false)
    }

    @Test func whatWasIssuedBeforeIsVoidOnAllBrokers() async throws {
      try await withWorld(brokers: 2) { world in
        let (here, there) = (try Person("bob", at: world[0]), try Person("bob", at: world[1]))
        let app = try Person.app(at: world[1])
        let alice = try Person("alice", at: world[1])
        let streams = [try here.stream(), try there.stream(), try alice.stream()]
        let apps = try EventStream(
          port: world[0].port, headers: app.headers.merging(["Belfry-Account": "bob"]) { $1 })
        for person in [here, there] { #expect(try person.call("GET", "/v1/account").status == 200) }
        let answer = try here.call("POST", "/v1/account/revoke")
        try #require(answer.status == 200, "\(answer)")
        // Other brokers ask Redis four times a second, and end their streams when they learn of it.
        for stream in streams[..<2] { expectKicked(stream) }
        for person in [here, there] {
          let refused = try person.call("GET", "/v1/account")
          #expect(isRevoked(refused), "\(refused)")
          #expect(isRevoked(try person.call("POST", "/v1/account/revoke")))
          #expect(try person.stream().status == 401)
        }
        // A broker that never saw the token.
        let late = try Broker(redisURL: world.redis.url)
        try await late.start()
        let elsewhere = try Wire(port: late.port).request("GET", "/v1/account", headers: here.headers)
        #expect(isRevoked(elsewhere), "\(elsewhere)")
        await late.remove()

        let again = try Person("bob", at: world[1])
        #expect(try again.call("GET", "/v1/account").status == 200)
        let fresh = try again.stream()
        #expect(fresh.status == 200)
        #expect(!streams[2].isOver && !apps.isOver && !fresh.isOver)
        #expect(try app.call("POST", "/v1/account/revoke", extra: ["Belfry-Account": "bob"]).status == 200)
        expectKicked(fresh)
        #expect(isRevoked(try again.call("GET", "/v1/account")))
        let audit = try Person("ops", role: "operator", at: world[0]).call("GET", "/v1/audit?account=bob")
        #expect(audit.text.contains("account revoke"), "\(audit)")
      }
    }

    /// A token is checked with the request's head, and once more when the body is there.
    @Test func whatWasRevokedWhileABodyCameIsNotDone() async throws {
      try await withWorld { world in
        let bob = try Person("bob", at: world[0])
        let body = Array(#"{"toAccids":["alice"],"body":"too late"}"#.utf8)
        let wire = try Wire(port: world[0].port)
        let fields = ["Content-Length": "\(body.count)", "Content-Type": "application/json"]
        try wire.writeRequest("POST", "/v1/notifications", headers: bob.headers.merging(fields) { $1 })
        try wire.write(Array(body.prefix(10)))
        #expect(try bob.call("POST", "/v1/account/revoke").status == 200)
        try wire.write(Array(body.dropFirst(10)))
        #expect(try wire.readHead().status == 401)
        let alice = try Person("alice", at: world[0])
        let feed = try alice.call("GET", "/v1/notifications")
        #expect(!feed.text.contains("too late"), "\(feed)")
      }
    }

    @Test func itSurvivesRestartsOfBrokersAndOfRedis() async throws {
      var durable = RedisServer.Options()
      durable.appendOnly = .always
      try await withWorld(redis: durable) { world in
        let bob = try Person("bob", at: world[0])
        #expect(try bob.call("POST", "/v1/account/revoke").status == 200)
        await world[0].kill()
        try await world[0].start()
        #expect(isRevoked(try bob.call("GET", "/v1/account")))
        await world.redis.kill()
        try await world.redis.start()
        try await world[0].waitUntilReady()
        #expect(isRevoked(try bob.call("GET", "/v1/account")))
      }
    }

    /// The token has no time of issue, so it may be older than any revocation.
    @Test func aTokenThatDoesNotSayWhenItWasIssuedIsVoidAfterARevocation() async throws {
      try await withWorld { world in
        func token(_ issuedAt: Int64?) -> String {
          TokenSigner(secret: Array(Broker.secret.utf8)).mint(
            TokenClaims(
              subject: "bob", role: .user, expiresAtSeconds: 4_102_444_800, issuedAtMilliseconds: issuedAt))
        }
        func ask(_ token: String) throws -> Answer {
          try Wire(port: world[0].port).request(
            "GET", "/v1/account", headers: ["Authorization": "Bearer \(token)"])
        }
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        for issuedAt in [nil, now, now + 3_600_000] { #expect(try ask(token(issuedAt)).status == 200) }
        let answer = try Person("bob", at: world[0]).call("POST", "/v1/account/revoke")
        let before = try #require(answer["issuedBefore"].flatMap { Int64($0) })
        for issuedAt in [nil, now, before - 1_000] { #expect(isRevoked(try ask(token(issuedAt)))) }
        for issuedAt in [before, before + 3_600_000] { #expect(try ask(token(issuedAt)).status == 200) }
      }
    }

    /// This also holds if more tokens were revoked meanwhile than Redis keeps.
    @Test func aBrokerThatStoodStillLearnsOfIt() async throws {
      try await withWorld(brokers: 2) { world in
        for others in [0, 1_200] {
          let bob = try Person("bob", at: world[0])
          let alice = try Person("alice", at: world[0]).stream()
          let stream = try bob.stream()
          #expect(stream.status == 200)
          world[0].signal(SIGSTOP)
          let app = try Person.app(at: world[1])
          #expect(try app.call("POST", "/v1/account/revoke", extra: ["Belfry-Account": "bob"]).status == 200)
          for number in 0..<others {
            try world.redis.command(
              "XADD", "belfry:{\(Partitions.standard.hashTags[0])}:revocations", "*", "account", "a\(number)",
              "before", "1")
          }
          #expect(!stream.isOver)
          world[0].signal(SIGCONT)
          expectKicked(stream)
          #expect(isRevoked(try bob.call("GET", "/v1/account")))
          #expect(!alice.isOver)
        }
      }
    }

    /// A broker remembers the revocations of 4,096 accounts. With more it forgets all of them, and asks Redis
    /// again.
    @Test func whatABrokerForgetsItAsksAbout() async throws {
      try await withWorld { world in
        let (bob, alice) = (try Person("bob", at: world[0]), try Person("alice", at: world[0]))
        let stream = try alice.stream()
        #expect(try bob.call("POST", "/v1/account/revoke").status == 200)
        for round in 0..<6 {
          try world.redis.command(
            "EVAL",
            "for i = 1, 800 do redis.call('XADD', KEYS[1], '*', 'account', ARGV[1] .. i, 'before', '1') end",
            "1",
            "belfry:{\(Partitions.standard.hashTags[0])}:revocations", "a\(round).")
          try await Task.sleep(for: .milliseconds(400))
          #expect(isRevoked(try bob.call("GET", "/v1/account")))
          #expect(try alice.call("GET", "/v1/account").status == 200)
        }
        #expect(!stream.isOver)
      }
    }

    /// A token is checked with the request's head. Before the body is there, the broker has learned of a
    /// revocation, and forgotten it among others.
    @Test func whatWasForgottenWhileABodyCameIsAskedAboutAgain() async throws {
      try await withWorld { world in
        let bob = try Person("bob", at: world[0])
        #expect(try bob.call("GET", "/v1/account").status == 200)
        let fields = ["Transfer-Encoding": "chunked"]
        let wires = try ["/v1/notifications/stream", "/v1/account", "/v1/notifications?wait=2"].map { path in
          let wire = try Wire(port: world[0].port)
          try wire.writeRequest("GET", path, headers: bob.headers.merging(fields) { $1 })
          return wire
        }
        #expect(try bob.call("POST", "/v1/account/revoke").status == 200)
        for round in 0..<6 {
          try world.redis.command(
            "EVAL",
            "for i = 1, 800 do redis.call('XADD', KEYS[1], '*', 'account', ARGV[1] .. i, 'before', '1') end",
            "1", "belfry:{\(Partitions.standard.hashTags[0])}:revocations", "b\(round).")
          try await Task.sleep(for: .milliseconds(400))
        }
        for wire in wires {
          try wire.write("0\r\n\r\n")
          let head = try wire.readHead()
          #expect(head.status == 401, "\(head)")
        }
      }
    }

    /// Then nobody knows which tokens were revoked, and earlier knowledge is not used for answers.
    @Test func withoutRedisNoTokenIsBelievedForLong() async throws {
      try await withWorld { world in
        let bob = try Person("bob", at: world[0])
        #expect(try bob.call("GET", "/v1/types").status == 200)
        let stream = try bob.stream()
        await world.redis.kill()
        try await eventually { try bob.call("GET", "/v1/types").status == 503 }
        #expect(!stream.isOver)
        try await world.redis.start()
        try await world[0].waitUntilReady()
        #expect(try bob.call("GET", "/v1/types").status == 200)
      }
    }
  }
}
