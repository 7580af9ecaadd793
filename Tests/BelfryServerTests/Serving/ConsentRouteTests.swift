import BelfryModel
import Testing

@testable import BelfryServer

/// An account's consent to actions of others, over HTTP.
@Suite struct ConsentRouteTests {
  private static func write(
    _ broker: TestBroker, as token: String, to accounts: String..., body: String = "ding"
  ) throws -> Answer {
    let list = accounts.map { "\"\($0)\"" }.joined(separator: ",")
    return try broker.ask(
      "POST", "/v1/notifications", as: token, #"{"toAccids":[\#(list)],"body":"\#(body)"}"#)
  }

  @Test func optionsAreKeptAndShown() async throws {
    try await withBroker { broker in
      let bob = try broker.token("bob")
      let all = try broker.ask("GET", "/v1/account", as: bob)
      #expect(
        all.json == [
          "autoAcceptInvitation": false, "mayWrite": "everybody", "mayInvite": "everybody",
          "mayAdd": "everybody",
        ])
      let chosen = try broker.ask(
        "PATCH", "/v1/account", as: bob, #"{"mayWrite":"sharedSpace","mayAdd":"nobody"}"#)
      #expect(chosen.json["mayWrite"] == "sharedSpace")
      #expect(chosen.json["mayInvite"] == "everybody")
      #expect(try broker.ask("GET", "/v1/account", as: bob).json == chosen.json)
      #expect(try broker.ask("PATCH", "/v1/account", as: bob, #"{"mayWrite":"friends"}"#).field == "mayWrite")
    }
  }

  @Test func whoIsBlockedNeitherWritesNorInvites() async throws {
    try await withBroker { broker in
      let (bob, eve, app) = (
        try broker.token("bob"), try broker.token("eve"), try broker.token("app", .app)
      )
      let server = try broker.makeServer(owner: "eve")
      let sent = try Self.write(broker, as: eve, to: "bob")
      let id = try #require(sent.json["messageServerId"]?.text)
      for _ in 0..<2 { #expect(try broker.ask("PUT", "/v1/account/blocked/eve", as: bob).status == 204) }
      #expect(try broker.ask("GET", "/v1/account/blocked", as: bob).json["accids"] == ["eve"])
      #expect(try broker.ask("GET", "/v1/account/blocked", as: eve).json["accids"] == [])

      for answer in [
        try Self.write(broker, as: eve, to: "bob"), try Self.write(broker, as: eve, to: "carol", "bob"),
        try broker.ask("PATCH", "/v1/notifications/\(id)", as: eve, #"{"body":"again"}"#),
        try broker.ask("POST", "/v1/servers/\(server)/invitations", as: eve, #"{"accids":["bob"]}"#),
      ] {
        #expect(answer.status == 403)
        #expect(answer.code == "blocked")
      }
      #expect(try Self.write(broker, as: app, to: "bob").status == 201)
      let carol = try broker.ask("GET", "/v1/notifications", as: try broker.token("carol"))
      #expect(carol.json["notifications"] == [])

      #expect(try broker.ask("DELETE", "/v1/account/blocked/eve", as: bob).status == 204)
      #expect(try Self.write(broker, as: eve, to: "bob").status == 201)
    }
  }

  @Test func whoSharesASpaceMayWrite() async throws {
    try await withBroker { broker in
      let (bob, eve) = (try broker.token("bob"), try broker.token("eve"))
      _ = try broker.ask("PATCH", "/v1/account", as: bob, #"{"mayWrite":"sharedSpace"}"#)
      #expect(try Self.write(broker, as: eve, to: "bob").code == "blocked")
      let server = try broker.makeServer(owner: "olivia", members: ["bob", "eve"])
      #expect(try Self.write(broker, as: eve, to: "bob").status == 201)
      #expect(try Self.write(broker, as: eve, to: "carol", "bob").status == 201)
      #expect(try broker.ask("DELETE", "/v1/servers/\(server)/members/eve", as: eve).status == 204)
      #expect(try Self.write(broker, as: eve, to: "bob").code == "blocked")
    }
  }

  @Test func othersFillHalfOfThePlacesAndNoMore() async throws {
    var limits = Limits()
    limits.serversPerAccount = 4
    try await withBroker(limits: limits) { broker in
      let (bob, eve) = (try broker.token("bob"), try broker.token("eve"))
      var joined: [JSONValue?] = []
      for _ in 0..<4 {
        let server = try broker.makeServer(owner: "eve")
        _ = try broker.ask("PATCH", "/v1/servers/\(server)", as: eve, #"{"inviteMode":1}"#)
        let invited = try broker.ask(
          "POST", "/v1/servers/\(server)/invitations", as: eve, #"{"accids":["bob"]}"#)
        joined.append(invited.json["invitations"]?[0]?["joined"])
      }
      #expect(joined == [true, true, false, false])
      for _ in 0..<2 {
        #expect(try broker.ask("POST", "/v1/servers", as: bob, #"{"name":"mine"}"#).status == 201)
      }
      #expect(try broker.ask("POST", "/v1/servers", as: bob, #"{"name":"one too many"}"#).code == "tooMany")
    }
  }

  @Test func aFullMailboxRefusesAndKeepsWhatIsThere() async throws {
    var limits = Limits()
    limits.notificationsPerMailbox = 8
    limits.directMessagesPerMailbox = 8
    limits.unreadPerSender = 4
    try await withBroker(limits: limits) { broker in
      let (bob, eve, mia, bank) = (
        try broker.token("bob"), try broker.token("eve"), try broker.token("mia"),
        try broker.token("bank", .app)
      )
      #expect(try Self.write(broker, as: bank, to: "bob", body: "bank").status == 201)
      #expect(try Self.write(broker, as: bank, to: "bob", "carol", body: "bank").status == 201)
      var codes: [String?] = []
      for number in 0..<8 {
        codes.append(
          number % 2 == 0
            ? try Self.write(broker, as: eve, to: "bob").code
            : try Self.write(broker, as: eve, to: "bob", "carol").code)
      }
      #expect(codes == [nil, nil, nil, nil] + Array(repeating: "mailboxFull", count: 4))
      #expect(
        try Self.write(broker, as: eve, to: "bob").detail
          == "nothing was sent, because these accounts have full mailboxes: bob. Leave them out, or try again when they have read some"
      )
      #expect(try Self.write(broker, as: mia, to: "bob").status == 201)
      #expect(try Self.write(broker, as: bank, to: "bob", body: "bank").status == 201)
      let seen =
        try broker.ask("GET", "/v1/notifications?limit=100", as: bob).json["notifications"]?.elements ?? []
      #expect(seen.count { $0["body"] == "bank" } == 3)
      #expect(seen.count == 8)

      // A refused line of a batch does not affect the others.
      let lines = [#"{"toAccids":["bob"]}"#, #"{"toAccids":["dave"]}"#].joined(separator: "\n")
      let batch = try broker.ask(
        "POST", "/v1/notifications/batch", as: eve, lines, headers: [("Content-Type", "application/x-ndjson")]
      )
      let statuses = try batch.body.split(separator: "\n").map {
        try JSONParser.value(of: Array($0.utf8))["status"]?.number
      }
      #expect(statuses == [422, 201])

      let last = try #require(seen.last?["messageServerId"]?.text)
      #expect(
        try broker.ask(
          "POST", "/v1/notifications/read", as: bob, #"{"items":[{"messageServerId":"\#(last)"}]}"#
        ).status == 200)
      #expect(try Self.write(broker, as: eve, to: "bob").status == 201)
    }
  }

  /// A cursor holds the id of a channel, but only of one that the caller can see.
  @Test func aPageOfChannelsTellsOfNoOther() async throws {
    try await withBroker { broker in
      let server = try broker.makeServer(owner: "olivia", members: ["bob"])
      let (olivia, bob) = (try broker.token("olivia"), try broker.token("bob"))
      var secret: Set<String> = []
      for number in 0..<12 {
        let type = number % 3 == 0 ? "public" : "private"
        let made = try broker.ask(
          "POST", "/v1/servers/\(server)/channels", as: olivia, #"{"name":"c","type":"\#(type)"}"#)
        if type == "private" { secret.insert(try #require(made.json["channelId"]?.text)) }
      }
      var (seen, path): ([String], String?) = ([], "/v1/servers/\(server)/channels?limit=1")
      while let next = path {
        let page = try broker.ask("GET", next, as: bob)
        #expect(secret.allSatisfy { !page.body.contains($0) })
        seen += (page.json["channels"]?.elements ?? []).compactMap { $0["channelId"]?.text }
        path = page.json["cursor"]?.text.map { "/v1/servers/\(server)/channels?limit=1&cursor=\($0)" }
      }
      #expect(seen.count == 5)
      #expect(Set(seen).isDisjoint(with: secret))
      let all = try broker.ask("GET", "/v1/servers/\(server)/channels", as: olivia)
      #expect(all.json["channels"]?.elements.count == 13)
    }
  }
}

extension Answer {
  fileprivate var detail: String? { json["detail"]?.text }
}
