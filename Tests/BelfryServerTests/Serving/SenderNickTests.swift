import BelfryModel
import Testing

@testable import BelfryServer

/// The name and the kind of client that receivers are shown of a sender.
@Suite struct SenderNickTests {
  private func sent(_ broker: TestBroker, to account: String) throws -> [String: JSONValue] {
    let page = try broker.ask("GET", "/v1/notifications?limit=100", as: try broker.token(account))
    let all = page.json["notifications"]?.elements.compactMap { one -> (String, JSONValue)? in
      one["body"]?.text.map { ($0, one) }
    }
    return Dictionary(all ?? []) { first, _ in first }
  }

  private func send(
    _ broker: TestBroker, as token: String, _ fields: String, for account: String? = nil
  ) throws -> Answer {
    try broker.ask(
      "POST", "/v1/notifications", as: token, fields, headers: account.map { [("Belfry-Account", $0)] } ?? [])
  }

  @Test func theNickIsTheProfilesWhereTheSenderGivesNone() async throws {
    try await withBroker { broker in
      let (em, app) = (try broker.token("em"), try broker.token("app", .app))
      let server = try broker.makeServer(owner: "owner", members: ["em", "bob"])
      let place = #""serverId":"\#(server)""#
      _ = try send(broker, as: em, #"{\#(place),"body":"without","messageClientId":"w"}"#)
      let nick = #"{"nick":"Em \#u{1F514} é"}"#
      #expect(try broker.ask("PATCH", "/v1/servers/\(server)/members/em", as: em, nick).status == 200)
      for fields in [
        #""body":"own""#, #""body":"given","fromNick":"The Owner""#, #""body":"named","toAccids":["bob"]"#,
      ] {
        #expect(try send(broker, as: em, "{\(place),\(fields)}").status == 201)
      }
      #expect(try send(broker, as: app, #"{\#(place),"body":"by an app"}"#, for: "em").status == 201)
      #expect(try send(broker, as: app, #"{\#(place),"body":"by nobody"}"#).status == 201)
      // A repetition is the same send, although the account has a nick now.
      let again = try send(broker, as: em, #"{\#(place),"body":"without","messageClientId":"w"}"#)
      #expect(again.status == 200 && again.json["duplicate"] == true, "\(again.body)")

      let seen = try sent(broker, to: "bob").mapValues { $0["fromNick"]?.text }
      #expect(
        seen == [
          "without": nil, "own": "Em \u{1F514} é", "given": "The Owner", "named": "Em \u{1F514} é",
          "by an app": "Em \u{1F514} é", "by nobody": nil,
        ])
    }
  }

  @Test func whatAnOperationTellsHasTheNickOfTheActor() async throws {
    try await withBroker { broker in
      let (olga, em) = (try broker.token("olga"), try broker.token("em"))
      let server = try broker.makeServer(owner: "olga", members: ["em", "bob"])
      let path = "/v1/servers/\(server)"
      _ = try broker.ask("PATCH", path, as: olga, #"{"name":"before"}"#)
      for (name, token) in [("olga", olga), ("em", em)] {
        _ = try broker.ask("PATCH", path + "/members/\(name)", as: token, #"{"nick":"Nick of \#(name)"}"#)
      }
      _ = try broker.ask("PATCH", path, as: olga, #"{"name":"after"}"#)
      _ = try broker.ask("PATCH", path, as: try broker.token("app", .app), #"{"name":"by nobody"}"#)
      _ = try broker.ask("DELETE", path + "/members/em", as: em)
      let page = try broker.ask("GET", "/v1/notifications?limit=100", as: try broker.token("bob"))
      let told = (page.json["notifications"]?.elements ?? []).filter {
        [7, 13, 14].contains($0["type"]?.number)
      }
      #expect(
        told.map { $0["fromNick"]?.text } == [
          nil, "Nick of olga", "Nick of em", "Nick of olga", nil, "Nick of em",
        ]
      )
    }
  }

  @Test func aServerMayTakeNoNickButTheProfiles() async throws {
    try await withBroker { broker in
      let (owner, em) = (try broker.token("owner"), try broker.token("em"))
      let server = try broker.makeServer(owner: "owner", members: ["em", "bob"])
      let path = "/v1/servers/\(server)"
      let set = try broker.ask("PATCH", path, as: owner, #"{"nicks":"profile"}"#)
      #expect(set.json["nicks"] == "profile")
      #expect(try broker.ask("GET", path, as: em).json["nicks"] == "profile")
      func send(_ nick: String, as token: String) throws -> Answer {
        try self.send(broker, as: token, #"{"serverId":"\#(server)","body":"x","fromNick":"\#(nick)"}"#)
      }
      let forged = try send("The Owner", as: em)
      #expect(forged.status == 403 && forged.field == "fromNick", "\(forged.body)")
      _ = try broker.ask("PATCH", path + "/members/em", as: em, #"{"nick":"Em"}"#)
      #expect(try send("Em", as: em).status == 201)
      #expect(try send("", as: em).status == 403)
      #expect(try send("Anybody", as: try broker.token("app", .app)).status == 201)
      // Leaving takes the profile away, and its nick with it.
      #expect(try broker.ask("DELETE", path + "/members/em", as: em).status == 204)
      _ = try broker.ask(
        "POST", path + "/members", as: try broker.token("app", .app), #"{"accids":["em"]}"#)
      #expect(try send("Em", as: em).status == 403)
    }
  }

  @Test func theKindOfClientIsATextOrANumberAndComesBackAsGiven() async throws {
    try await withBroker { broker in
      let alice = try broker.token("alice")
      for (body, given) in [("text", #""web""#), ("number", "16"), ("zero", "0")] {
        let answer = try send(
          broker, as: alice, #"{"toAccids":["bob"],"body":"\#(body)","fromClientType":\#(given)}"#)
        #expect(answer.status == 201, "\(answer.body)")
      }
      let seen = try sent(broker, to: "bob").mapValues { $0["fromClientType"] }
      #expect(seen == ["text": "web", "number": 16, "zero": 0])
      for wrong in ["-1", "2147483648", "1.5", "true", "[]"] {
        let answer = try send(
          broker, as: alice, #"{"toAccids":["bob"],"body":"x","fromClientType":\#(wrong)}"#)
        #expect(answer.status == 400 && answer.field == "fromClientType", "\(wrong): \(answer.body)")
      }
    }
  }
}
