import BelfryModel
import TestKit
import Testing

@testable import BelfryServer

/// Sockets that pages open. The browser keeps no page from opening one, and sends its cookies along.
@Suite struct SocketPageTests {
  private static let page = "https://app.example"

  private static func allow(_ configuration: inout Configuration) {
    configuration.browsers.allowedOrigins = [page].compactMap { WebOrigin($0) }
    configuration.browsers.givesCookies = true
  }

  private func open(
    _ broker: TestBroker, _ query: String = "", _ headers: [(String, String)]
  ) throws -> TestSocket {
    TestSocket(try RawSocket(port: broker.port, path: "/v1/socket" + query, headers: headers))
  }

  private func cookie(_ broker: TestBroker, of account: String) throws -> (String, String) {
    let answer = try broker.ask(
      "POST", "/v1/session", as: try broker.token(account), headers: [("Origin", Self.page)])
    return ("Cookie", String(try #require(answer.headers["set-cookie"]).prefix { $0 != ";" }))
  }

  private func ticket(_ broker: TestBroker, of account: String) throws -> String {
    let made = try broker.ask("POST", "/v1/notifications/stream/tickets", as: try broker.token(account))
    return try #require(made.json["ticket"]?.text)
  }

  @Test func onlyPagesThatAreAllowed() async throws {
    try await withBroker(configure: Self.allow) { broker in
      let bob = ("Authorization", "Bearer \(try broker.token("bob"))")
      let cookie = try cookie(broker, of: "bob")
      let ticket = try ticket(broker, of: "bob")
      for origin in ["https://evil.example", "null", "https://APP.example", "https://app.example:444"] {
        let byTicket = try open(broker, "?ticket=\(ticket)", [("Origin", origin)])
        #expect(byTicket.raw.head.status == 403, "\(origin)")
        for headers in [[], [bob], [cookie]] {
          for query in ["", "?connect=1"] {
            let refused = try open(broker, query, [("Origin", origin)] + headers)
            #expect(refused.raw.head.status == 403, "\(origin)")
          }
        }
      }
      for headers in [[bob], [cookie]] {
        let socket = try open(broker, "", [("Origin", Self.page)] + headers)
        #expect(try socket.hear()["ok"] != nil)
      }
      // The refusals have not used up the ticket.
      let socket = try open(broker, "?ticket=\(ticket)", [("Origin", Self.page)])
      #expect(try socket.hear()["ok"] != nil)
    }
  }

  @Test func noPageWhereNoneIsAllowed() async throws {
    try await withBroker { broker in
      let socket = try open(
        broker, "?ticket=\(try ticket(broker, of: "bob"))", [("Origin", "https://evil.example")])
      #expect(socket.raw.head.status == 403)
    }
  }

  @Test func theFirstFrameGoesBeforeACookieWhereThePageSaysSo() async throws {
    try await withBroker(configure: Self.allow) { broker in
      let headers = [("Origin", Self.page), try cookie(broker, of: "carol")]
      _ = try broker.send("for bob", to: "bob")
      let socket = try open(broker, "?connect=1", headers)
      socket.say(#"{"id":1,"connect":{"token":"\#(try broker.token("bob"))"}}"#)
      #expect(try socket.answer(to: 1)["ok"] != nil)
      #expect(try socket.hear("notification")["body"] == "for bob")
      let other = try open(broker, "", headers)
      other.say(#"{"id":1,"connect":{"token":"\#(try broker.token("bob"))"}}"#)
      #expect(try other.hear()["id"] == 0, "it is carol's")
      #expect(try other.closeCode() == 4_400)
    }
  }

  @Test func aTicketOpensOne() async throws {
    try await withBroker(configure: Self.allow) { broker in
      let ticket = try ticket(broker, of: "bob")
      _ = try broker.send("for bob", to: "bob")
      let socket = try open(broker, "?ticket=\(ticket)", [("Origin", Self.page)])
      #expect(try socket.hear()["ok"] != nil)
      #expect(try socket.hear("notification")["body"] == "for bob")
      socket.say(#"{"id":2,"send":{"toAccids":["bob"],"body":"by a ticket"}}"#)
      #expect(try socket.answer(to: 2)["ok"] != nil)
      #expect(try open(broker, "?ticket=\(ticket)", [("Origin", Self.page)]).raw.head.status == 401)
    }
  }
}
