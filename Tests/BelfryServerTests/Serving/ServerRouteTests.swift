import BelfryModel
import Testing

@testable import BelfryServer

@Suite struct ServerRouteTests {
  @Test func aServerIsMadeShownChangedAndRemoved() async throws {
    try await withBroker { broker in
      let alice = try broker.token("alice")
      let made = try broker.ask(
        "POST", "/v1/servers", as: alice, #"{"name":"Wharf","icon":"i","ext":"{}","inviteMode":1}"#)
      #expect(made.status == 201)
      let id = try #require(made.json["serverId"]?.text)
      #expect(made.headers["location"] == "/v1/servers/\(id)")
      #expect(made.json["owner"] == "alice")
      #expect(made.json["memberCount"] == 1)
      #expect(EntityID(try #require(made.json["defaultChannelId"]?.text)) != nil)

      #expect(try broker.ask("GET", "/v1/servers/\(id)", as: alice).json == made.json)
      let changed = try broker.ask(
        "PATCH", "/v1/servers/\(id)", as: alice, #"{"name":"Quay","icon":"","applyMode":1}"#)
      #expect(changed.status == 200)
      #expect(changed.json["name"] == "Quay")
      #expect(changed.json["icon"] == nil)
      #expect(changed.json["applyMode"] == 1)
      #expect(changed.json["ext"] == "{}")

      #expect(try broker.ask("DELETE", "/v1/servers/\(id)", as: alice).status == 204)
      for method in ["GET", "DELETE"] {
        let gone = try broker.ask(method, "/v1/servers/\(id)", as: alice)
        #expect(gone.status == 404)
        #expect(gone.code == "notFound")
      }
      #expect(try broker.ask("GET", "/v1/servers", as: alice).json["servers"] == [])
    }
  }

  @Test func onlyWhoMayIsLetIn() async throws {
    try await withBroker { broker in
      let id = try broker.makeServer(owner: "alice", members: ["bob"])
      let (bob, carol) = (try broker.token("bob"), try broker.token("carol"))
      let (app, alice) = (try broker.token("app", .app), try broker.token("alice"))
      for (method, path, body) in [
        ("GET", "", nil), ("GET", "/members", nil), ("GET", "/members/alice", nil), ("GET", "/channels", nil),
        ("PATCH", "", #"{"name":"x"}"#), ("DELETE", "", nil), ("DELETE", "/members/bob", nil),
        ("POST", "/channels", #"{"name":"x","type":"public"}"#), ("PUT", "/subscription", nil),
      ] {
        let refused = try broker.ask(method, "/v1/servers/\(id)\(path)", as: carol, body)
        #expect(refused.status == 403, "\(method) \(path)")
        #expect(refused.code == "notMember", "\(method) \(path)")
      }
      for (method, path, body) in [
        ("PATCH", "", #"{"name":"x"}"#), ("DELETE", "", nil), ("DELETE", "/members/alice", nil),
        ("POST", "/channels", #"{"name":"x","type":"public"}"#),
      ] {
        let refused = try broker.ask(method, "/v1/servers/\(id)\(path)", as: bob, body)
        #expect(refused.status == 403)
        #expect(refused.code == "forbidden")
      }
      #expect(
        try broker.ask("POST", "/v1/servers/\(id)/members", as: alice, #"{"accids":["x"]}"#).code
          == "forbidden")
      #expect(try broker.ask("GET", "/v1/servers/\(id)", as: app).status == 200)
    }
  }

  @Test func membersComeAndGo() async throws {
    try await withBroker { broker in
      let id = try broker.makeServer(owner: "alice", members: (1...250).map { "m\($0)" })
      let (m1, m2, alice) = (try broker.token("m1"), try broker.token("m2"), try broker.token("alice"))
      var seen: [String] = []
      var cursor = ""
      repeat {
        let page = try broker.ask("GET", "/v1/servers/\(id)/members?limit=100\(cursor)", as: m1)
        #expect(page.status == 200)
        seen += page.json["members"]?.elements.compactMap { $0["accid"]?.text } ?? []
        cursor = page.json["cursor"]?.text.map { "&cursor=\($0)" } ?? ""
      } while !cursor.isEmpty
      #expect(Set(seen) == Set((1...250).map { "m\($0)" } + ["alice"]))

      let again = try broker.ask(
        "POST", "/v1/servers/\(id)/members", as: try broker.token("app", .app),
        #"{"accids":["m1","new","new"]}"#)
      #expect(again.json["added"] == ["new"])
      #expect(try broker.ask("GET", "/v1/servers/\(id)/members/m1", as: m2).json["role"] == "member")
      #expect(try broker.ask("DELETE", "/v1/servers/\(id)/members/m1", as: m1).status == 204)
      #expect(try broker.ask("GET", "/v1/servers/\(id)/members/m1", as: m2).code == "notFound")
      #expect(try broker.ask("DELETE", "/v1/servers/\(id)/members/m2", as: alice).status == 204)
      #expect(try broker.ask("GET", "/v1/servers/\(id)", as: m2).code == "notMember")
      #expect(try broker.ask("DELETE", "/v1/servers/\(id)/members/alice", as: alice).code == "forbidden")
      #expect(try broker.ask("GET", "/v1/servers/\(id)", as: alice).json["memberCount"] == 250)
    }
  }

  @Test func myServersComeInPages() async throws {
    try await withBroker { broker in
      let ids = try (0..<5).map { _ in try broker.makeServer(owner: "alice") }
      let alice = try broker.token("alice")
      var seen: [String] = []
      var cursor: String? = "0"
      var path = "/v1/servers?limit=2"
      while cursor != nil {
        let page = try broker.ask("GET", path, as: alice)
        seen += page.json["servers"]?.elements.compactMap { $0["serverId"]?.text } ?? []
        cursor = page.json["cursor"]?.text
        path = "/v1/servers?limit=2&cursor=\(cursor ?? "")"
      }
      #expect(seen == ids.sorted { (Int($0) ?? 0) < (Int($1) ?? 0) })
      #expect(
        try broker.ask("GET", "/v1/servers", as: try broker.token("app", .app)).field == "Belfry-Account")
    }
  }

  @Test func aPrivateChannelIsThereForThoseInIt() async throws {
    try await withBroker { broker in
      let id = try broker.makeServer(owner: "alice", members: ["bob", "carol"])
      let (alice, bob, carol) = (
        try broker.token("alice"), try broker.token("bob"), try broker.token("carol")
      )
      let made = try broker.ask(
        "POST", "/v1/servers/\(id)/channels", as: alice,
        #"{"name":"den","type":"private","members":["bob"],"description":"d"}"#)
      #expect(made.status == 201)
      #expect(made.json["membership"] == "roster")
      let channel = try #require(made.json["channelId"]?.text)
      let path = "/v1/servers/\(id)/channels/\(channel)"
      #expect(made.headers["location"] == path)
      for (token, count) in [(alice, 2), (bob, 2), (carol, 1)] {
        let list = try broker.ask("GET", "/v1/servers/\(id)/channels", as: token)
        #expect(list.json["channels"]?.elements.count == count)
        #expect(try broker.ask("GET", path, as: token).status == (count == 2 ? 200 : 404))
        #expect(try broker.ask("PUT", path + "/subscription", as: token).status == (count == 2 ? 204 : 404))
        #expect(
          try broker.ask("DELETE", path + "/subscription", as: token).status == (count == 2 ? 204 : 404))
      }
      let changed = try broker.ask("PATCH", path, as: alice, #"{"name":"lair","description":""}"#)
      #expect(changed.json["name"] == "lair")
      #expect(changed.json["description"] == nil)
      #expect(try broker.ask("DELETE", path, as: alice).status == 204)
      #expect(try broker.ask("GET", path, as: alice).code == "notFound")
      let general = try #require(
        try broker.ask("GET", "/v1/servers/\(id)", as: alice).json["defaultChannelId"]?.text)
      #expect(
        try broker.ask("DELETE", "/v1/servers/\(id)/channels/\(general)", as: alice).code == "forbidden")
    }
  }

  @Test func aChannelOfEveryonesHasNoRoster() async throws {
    try await withBroker { broker in
      let id = try broker.makeServer(owner: "alice", members: ["bob"])
      let made = try broker.ask(
        "POST", "/v1/servers/\(id)/channels", as: try broker.token("alice"),
        #"{"name":"n","type":"public","members":["bob"]}"#)
      #expect(made.status == 400)
      #expect(made.field == "members")
    }
  }

  @Test func ceilingsAreTold() async throws {
    var limits = Limits()
    limits.channelsPerServer = 2
    limits.serversPerAccount = 1
    try await withBroker(limits: limits) { broker in
      let id = try broker.makeServer(owner: "alice")
      let alice = try broker.token("alice")
      let body = #"{"name":"x","type":"public"}"#
      #expect(try broker.ask("POST", "/v1/servers/\(id)/channels", as: alice, body).status == 201)
      let full = try broker.ask("POST", "/v1/servers/\(id)/channels", as: alice, body)
      #expect(full.status == 422)
      #expect(full.code == "tooMany")
      #expect(try broker.ask("POST", "/v1/servers", as: alice, #"{"name":"x"}"#).code == "tooMany")
    }
  }
}
