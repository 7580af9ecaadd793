import BelfryModel
import Testing

@testable import BelfryInterface
@testable import BelfryServer

@Suite struct AccessTests {
  @Test func nothingIsOpenWithoutAToken() async throws {
    try await withBroker(configure: { $0.browsers.givesCookies = true }) { broker in
      let open = [
        "GET /healthz": 200, "GET /readyz": 200, "GET /metrics": 200, "GET /openapi.json": 200,
        "DELETE /v1/session": 204,
        // This is no request for a socket. A client that opens one sends its token in the first frame.
        "GET /v1/socket": 426,
      ]
      for route in Routes.all {
        let path = route.path.description
          .replacing("{serverId}", with: "1").replacing("{channelId}", with: "2")
          .replacing("{accid}", with: "x").replacing("{messageServerId}", with: "3")
        let answer = try broker.ask(
          route.verb.rawValue, path, as: nil, route.body.form == .none ? nil : "{}",
          headers: route.body.form == .lines ? [("Content-Type", "application/x-ndjson")] : [])
        if let status = open["\(route.verb.rawValue) \(path)"] {
          #expect(answer.status == status, "\(path)")
        } else {
          #expect(answer.status == 401, "\(route.verb) \(path)")
          #expect(answer.code == "unauthorized")
          #expect(answer.headers["www-authenticate"] == "Bearer")
          #expect(answer.headers["content-type"] == "application/problem+json")
          #expect(answer.json["status"] == 401)
        }
      }
    }
  }

  /// If there were two of them, a proxy could check one and Belfry believe the other.
  @Test func whoAsksIsSaidOnce() async throws {
    try await withBroker { broker in
      let (alice, app) = (try broker.token("alice"), try broker.token("app", .app))
      for (token, headers) in [
        (alice, [("Authorization", "Bearer \(try broker.token("bob"))")]),
        (alice, [("authorization", "Bearer \(alice)")]),
        (app, [("Belfry-Account", "alice"), ("Belfry-Account", "bob")]),
        (alice, [("Belfry-Device", "phone"), ("belfry-device", "tablet")]),
        (alice, [("Last-Event-ID", ""), ("Last-Event-ID", "")]),
      ] {
        let connection = try broker.connect()
        let answer = try connection.ask("GET", "/v1/notifications", as: token, headers: headers)
        #expect(answer.status == 400)
        #expect(answer.code == "malformed")
        #expect(connection.ends())
      }
    }
  }

  @Test func badTokensAreRefused() async throws {
    try await withBroker { broker in
      let good = try broker.token("alice")
      let stranger = TokenSigner(secret: Array("another secret of thirty-two byte".utf8))
      let forged = stranger.mint(
        TokenClaims(subject: "alice", role: .operation, expiresAtSeconds: 4_102_444_800))
      let expired = try broker.token("alice", seconds: -1)
      for header in [
        "", "Bearer", "Bearer ", "Basic YTpi", "Bearer \(forged)", "Bearer \(expired)", "Bearer x.y.z", good,
        "Bearer \(good)x", "Bearer \(good) \(good)",
      ] {
        let answer = try broker.ask("GET", "/v1/servers", headers: [("Authorization", header)])
        #expect(answer.status == 401, "\(header)")
        #expect(!answer.body.contains(good))
      }
      for header in ["Bearer \(good)", "bearer \(good)", "BEARER   \(good)"] {
        #expect(try broker.ask("GET", "/v1/servers", headers: [("Authorization", header)]).status == 200)
      }
      #expect(try broker.ask("GET", "/metrics", as: forged).status == 401)
      #expect(try broker.ask("GET", "/metrics", as: good).status == 200)
    }
  }

  @Test func whoActsForWhom() async throws {
    try await withBroker { broker in
      let (alice, app) = (try broker.token("alice"), try broker.token("the back end", .app))
      func ask(_ token: String, _ headers: [(String, String)]) throws -> Answer {
        try broker.ask("GET", "/v1/notifications", as: token, headers: headers)
      }
      #expect(try ask(alice, []).status == 200)
      #expect(try ask(alice, [("Belfry-Account", "alice")]).status == 200)
      #expect(try ask(alice, [("Belfry-Account", "bob")]).code == "forbidden")
      #expect(try ask(app, [("belfry-account", "bob")]).status == 200)
      #expect(try ask(app, []).field == "Belfry-Account")
      #expect(try ask(app, [("Belfry-Account", "not an accid")]).field == "Belfry-Account")
      #expect(try ask(alice, [("Belfry-Device", "phone")]).status == 200)
      #expect(try ask(alice, [("Belfry-Device", "a b")]).field == "Belfry-Device")
      let phone = try broker.token("alice", device: "phone")
      #expect(try ask(phone, [("Belfry-Device", "phone")]).status == 200)
      #expect(try ask(phone, [("Belfry-Device", "desk")]).code == "forbidden")

      let made = try broker.ask(
        "POST", "/v1/servers", as: app, #"{"name":"x"}"#, headers: [("Belfry-Account", "carol")])
      #expect(made.json["owner"] == "carol")
      for path in ["/v1/stats", "/v1/notifications/1/explain?account=alice"] {
        #expect(try broker.ask("GET", path, as: alice).code == "forbidden")
      }
    }
  }

  @Test func usersSendAsThemselves() async throws {
    try await withBroker { broker in
      let id = try broker.makeServer(owner: "alice", members: ["bob"])
      func send(_ token: String, _ fields: String, _ headers: [(String, String)] = []) throws -> Answer {
        try broker.ask(
          "POST", "/v1/notifications", as: token, #"{"serverId":"\#(id)",\#(fields)}"#, headers: headers)
      }
      let bob = try broker.token("bob", device: "phone")
      #expect(try send(bob, #""fromAccount":"bob""#).status == 201)
      #expect(try send(bob, #""fromAccount":"alice""#).field == "fromAccount")
      #expect(try send(bob, #""fromDeviceId":"phone""#).status == 201)
      #expect(try send(bob, #""fromDeviceId":"desk""#).field == "fromDeviceId")
      #expect(try send(try broker.token("app", .app), #""fromAccount":"zoe""#).status == 201)
      #expect(try send(try broker.token("carol"), #""body":"x""#).code == "notMember")
    }
  }
}
