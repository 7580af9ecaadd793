import BelfryInterface
import BelfryModel
import Foundation
import TestKit
import Testing

@testable import BelfryServer

/// Streams that are opened by a ticket.
@Suite struct TicketTests {
  private func ticket(_ broker: TestBroker, _ token: String, headers: [(String, String)] = []) throws
    -> String
  {
    let answer = try broker.ask("POST", "/v1/notifications/stream/tickets", as: token, headers: headers)
    try #require(answer.status == 201, "\(answer)")
    #expect(answer.json["expiresInSeconds"] == 30)
    return try #require(answer.json["ticket"]?.text)
  }

  private func open(
    _ broker: TestBroker, _ ticket: String, headers: [(String, String)] = [], query: String = ""
  ) throws -> (head: Answer, stream: TestConnection) {
    let stream = try broker.connect()
    stream.begin("GET", "/v1/notifications/stream?ticket=\(ticket)\(query)", headers: headers)
    let answer = try stream.answer()
    return (answer, stream)
  }

  private func isUnknown(_ answer: Answer) -> Bool {
    answer.status == 401 && answer.code == "invalidTicket" && answer.field == "ticket"
  }

  @Test func aTicketOpensOneStream() async throws {
    try await withBroker(loops: 2) { broker in
      let bob = try broker.token("bob", device: "phone")
      let ticket = try ticket(broker, bob)
      let (head, stream) = try open(broker, ticket)
      #expect(head.status == 200 && head.headers["content-type"] == "text/event-stream")
      let sent = try broker.ask(
        "POST", "/v1/notifications", as: try broker.token("app", .app), #"{"toAccids":["bob"],"body":"live"}"#
      )
      #expect(sent.status == 201)
      #expect(try stream.nextEvent()?.json["body"] == "live")
      #expect(isUnknown(try open(broker, ticket).head))
      // The stream is for the device of the token that asked for the ticket.
      try await eventually {
        try broker.ask("GET", "/v1/account/streams", as: bob).json["streams"]?[0]?["deviceId"] == "phone"
      }
    }
  }

  @Test func whatIsNoTicketOpensNothing() async throws {
    try await withBroker { broker in
      let bob = try broker.token("bob")
      let good = try ticket(broker, bob)
      for text in [
        "x", String(good.dropLast()), good + "A", String(good.reversed()), bob.prefix(100) + "", "%00",
        "%F0%9F%94%94",
      ] {
        let answer = try open(broker, text).head
        #expect(isUnknown(answer), "\(text): \(answer)")
      }
      #expect(try open(broker, String(repeating: "A", count: 200)).head.status == 400)
      #expect(try open(broker, "\(good)&ticket=\(good)").head.status == 400)
      #expect(try open(broker, "").head.status != 200)
      // A ticket is for streams alone.
      #expect(try broker.ask("GET", "/v1/notifications?ticket=\(good)").status == 401)
      #expect(try broker.ask("HEAD", "/v1/notifications/stream?ticket=\(good)").status == 401)
      for name in ["Belfry-Account", "Belfry-Device"] {
        #expect(try open(broker, good, headers: [(name, "alice")]).head.field == name)
      }
      #expect(try open(broker, good).head.status == 200)
    }
  }

  @Test func authorizationGoesBeforeTheTicket() async throws {
    try await withBroker { broker in
      let good = try ticket(broker, try broker.token("bob"))
      #expect(try open(broker, good, headers: [("Authorization", "Bearer x")]).head.status == 401)
      let alice = try broker.token("alice")
      let (head, _) = try open(broker, good, headers: [("Authorization", "Bearer \(alice)")])
      #expect(head.status == 200)
      #expect(try open(broker, good).head.status == 200)
    }
  }

  @Test func itIsForWhomItWasAskedFor() async throws {
    try await withBroker { broker in
      let app = try broker.token("app", .app)
      #expect(try broker.ask("POST", "/v1/notifications/stream/tickets", as: app).field == "Belfry-Account")
      #expect(try broker.ask("POST", "/v1/notifications/stream/tickets").status == 401)
      let ticket = try ticket(broker, app, headers: [("Belfry-Account", "carol")])
      let (head, stream) = try open(broker, ticket)
      #expect(head.status == 200)
      let sent = try broker.ask(
        "POST", "/v1/notifications", as: app, #"{"toAccids":["carol"],"body":"for her"}"#)
      #expect(sent.status == 201)
      #expect(try stream.nextEvent()?.json["body"] == "for her")
    }
  }

  /// A ticket allows no more than its token, and a stream by ticket ends with the token.
  @Test func theTokenBehindItHolds() async throws {
    try await withBroker { broker in
      let sender = broker.broker.keys.signing.mint(
        TokenClaims(subject: "bob", role: .user, scopes: [.send], expiresAtSeconds: 4_102_444_800))
      #expect(try broker.ask("POST", "/v1/notifications/stream/tickets", as: sender).status == 403)
      let short = try broker.token("bob", seconds: 3)
      let (kept, used) = (try ticket(broker, short), try ticket(broker, short))
      let (head, stream) = try open(broker, used)
      #expect(head.status == 200)
      #expect(try stream.nextEvent()?.json == ["reason": "tokenExpired", "retry": false])
      let late = try open(broker, kept).head
      #expect(late.status == 401 && late.code == "unauthorized")
    }
  }

  @Test func redisHoldsNothingThatOpensAStream() async throws {
    try await withBroker { broker in
      let bob = try broker.token("bob")
      let ticket = try ticket(broker, bob)
      let keys = try broker.redis.command("KEYS", "*ticket:*")
      #expect(keys.contains("ticket:") && !keys.contains(ticket))
      let key = try #require(keys.split(whereSeparator: \.isWhitespace).first { $0.contains("ticket:") })
        .description
      let record = try broker.redis.command("GET", key)
      #expect(record.contains("bob") && !record.contains(ticket) && !record.contains(bob))
      let milliseconds = Int(try broker.redis.command("PTTL", key).filter(\.isNumber)) ?? 0
      #expect((20_000...30_000).contains(milliseconds))
      // The ticket looks as it does when its time is over.
      try broker.redis.command("PEXPIRE", key, "1")
      try await Task.sleep(for: .milliseconds(20))
      #expect(isUnknown(try open(broker, ticket).head))
    }
  }

  @Test func anAccountMakesSoManyAtItsPace() async throws {
    var limits = Limits.unhurried
    limits.sendsPerSecondPerAccount = 5
    try await withBroker(limits: limits) { broker in
      let bob = try broker.token("bob")
      let answers = try (0..<6).map { _ in
        try broker.ask("POST", "/v1/notifications/stream/tickets", as: bob).status
      }
      #expect(answers.first == 201 && answers.contains(429))
    }
  }

  @Test func withoutRedisATicketIsNotSaidToBeWrong() async throws {
    try await withBroker { broker in
      let good = try ticket(broker, try broker.token("bob"))
      await broker.redis.stop()
      try await eventually { try open(broker, good).head.status == 503 }
    }
  }
}
