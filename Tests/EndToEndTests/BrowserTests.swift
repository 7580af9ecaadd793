import Foundation
import TestKit
import Testing

extension EndToEnd {
  /// Pages in browsers, on brokers that share nothing but Redis.
  @Suite struct Browsers {
    private static let page = "http://127.0.0.1:8090"
    private static let settings = [
      "BELFRY_BROWSERS_ALLOWED_ORIGINS": "[\"\(page)\"]", "BELFRY_BROWSERS_COOKIE": "true",
    ]

    private func ticket(_ person: Person) throws -> String {
      let answer = try person.call("POST", "/v1/notifications/stream/tickets")
      try #require(answer.status == 201, "\(answer)")
      return try #require(answer["ticket"])
    }

    private func stream(_ broker: Broker, ticket: String, after: String = "") throws -> EventStream {
      try EventStream(
        port: broker.port, path: "/v1/notifications/stream?ticket=\(ticket)\(after)",
        headers: ["Origin": Self.page])
    }

    /// Reads only the head, because the answer might be a stream, which has no end.
    private func expectRevoked(_ broker: Broker, ticket: String) throws {
      let wire = try Wire(port: broker.port)
      try wire.writeRequest("GET", "/v1/notifications/stream?ticket=\(ticket)")
      try #require(try wire.readHead().status == 401)
      let body = String(decoding: try wire.readSome() ?? [], as: UTF8.self)
      #expect(body.contains("tokenRevoked"), "\(body)")
    }

    @Test func aTicketOpensAStreamOnAnyBrokerOnce() async throws {
      try await withWorld(brokers: 2, settings: Self.settings) { world in
        let bob = try Person("bob", at: world[0])
        let ticket = try ticket(bob)
        let stream = try stream(world[1], ticket: ticket)
        #expect(stream.status == 200)
        let app = try Person.app(at: world[0])
        try app.mustSend("to the page", ["toAccids": ["bob"]])
        #expect(stream.wait(forBody: "to the page"))
        for broker in world.brokers { #expect(try self.stream(broker, ticket: ticket).status == 401) }
        // Tickets are in URLs, and brokers do not log URLs.
        for broker in world.brokers { #expect(!broker.log.contains(ticket)) }
      }
    }

    /// Many clients use one ticket at the same instant, on several brokers; one wins.
    @Test func ofThoseWhoRaceForATicketOneWins() async throws {
      try await withWorld(brokers: 2, settings: Self.settings) { world in
        let bob = try Person("bob", at: world[0])
        for _ in 0..<20 {
          let ticket = try ticket(bob)
          let statuses = Box<Int>()
          let streams = Box<EventStream>()
          concurrently(8) { number in
            guard let stream = try? self.stream(world[number], ticket: ticket) else { return }
            statuses.add(stream.status)
            streams.add(stream)
          }
          #expect(statuses.values.sorted() == [200] + Array(repeating: 401, count: 7))
          for stream in streams.values where stream.status == 200 { _ = stream.cut() }
        }
      }
    }

    /// A ticket is worth no more than the token that asked for it, and neither is a cookie.
    @Test func revokedTokensEndCookiesTicketsAndTheirStreams() async throws {
      try await withWorld(brokers: 2, settings: Self.settings) { world in
        let bob = try Person("bob", at: world[0])
        let alice = try Person("alice", at: world[0])
        let session = try bob.call("POST", "/v1/session", extra: ["Origin": Self.page])
        try #require(session.status == 201, "\(session)")
        let cookie = try #require(
          session.headers["set-cookie"]?.split(separator: ";").first.map { String($0) })
        let headers = ["Cookie": cookie, "Origin": Self.page]
        let byCookie = try EventStream(port: world[1].port, headers: headers)
        let byTicket = try stream(world[1], ticket: try ticket(bob))
        let other = try stream(world[1], ticket: try ticket(alice))
        #expect(byCookie.status == 200 && byTicket.status == 200)
        let unused = try ticket(bob)
        #expect(try bob.call("POST", "/v1/account/revoke").status == 200)
        for stream in [byCookie, byTicket] {
          #expect(stream.wait(forEvent: "kicked"))
          #expect(stream.all.last?.object["reason"] as? String == "tokenRevoked")
        }
        for broker in world.brokers {
          let refused = try Wire(port: broker.port).request("GET", "/v1/account", headers: headers)
          #expect(refused.status == 401 && refused["code"] == "tokenRevoked")
        }
        try expectRevoked(world[1], ticket: unused)
        #expect(!other.isOver)
      }
    }

    /// The ticket is the first that this broker learns of the account.
    @Test func aTicketOfARevokedTokenIsVoidOnABrokerThatStartedLater() async throws {
      try await withWorld(settings: Self.settings) { world in
        let bob = try Person("bob", at: world[0])
        let ticket = try ticket(bob)
        #expect(try bob.call("POST", "/v1/account/revoke").status == 200)
        let late = try await Broker.started(redisURL: world.redis.url, options: Self.settings)
        try expectRevoked(late, ticket: ticket)
        await late.remove()
      }
    }

    /// A page reconnects when a broker restarts: it takes another ticket, and continues from its cursor.
    @Test func aPageGoesOnWithoutLossOverARestart() async throws {
      try await withWorld(brokers: 2, settings: Self.settings) { world in
        let (bob, app) = (try Person("bob", at: world[1]), try Person.app(at: world[1]))
        let first = try stream(world[0], ticket: try ticket(bob))
        try app.mustSend("one", ["toAccids": ["bob"]])
        #expect(first.wait(forBody: "one"))
        let cursor = try #require(first.all.last { $0.id != nil }?.id)
        await world[0].stop()
        try app.mustSend("two", ["toAccids": ["bob"]])
        try await world[0].start()
        let second = try stream(world[0], ticket: try ticket(bob), after: "&after=\(cursor)")
        #expect(second.wait(forBody: "two"))
        #expect(!second.all.contains { $0.object["body"] as? String == "one" })
      }
    }
  }
}
