import BelfryModel
import TestKit
import Testing

@testable import BelfryServer

/// Invitations and applications that wait can be listed and answered by someone who no longer has the notification.
@Suite struct WaitingRequestTests {
  private func waiting(_ broker: TestBroker, _ path: String, as token: String) throws -> [JSONValue] {
    let answer = try broker.ask("GET", path, as: token)
    try #require(answer.status == 200, "\(answer.body)")
    return answer.json["requests"]?.elements ?? []
  }

  private func accids(_ requests: [JSONValue]) -> Set<String> {
    Set(requests.compactMap { $0["accid"]?.text })
  }

  @Test func anApplicationIsListedAndAdmittedByItsAccount() async throws {
    try await withBroker { broker in
      let (alice, bob) = (try broker.token("alice"), try broker.token("bob"))
      let server = try broker.makeServer(owner: "alice")
      let path = "/v1/servers/\(server)"
      _ = try broker.ask("PATCH", path, as: alice, #"{"applyMode":1}"#)
      for (name, body) in [("bob", #"{"postscript":"let me in"}"#), ("1001", nil), ("carol", nil)] {
        _ = try broker.ask("POST", path + "/applications", as: try broker.token(name), body)
      }
      _ = try broker.ask(
        "POST", path + "/invitations", as: alice, #"{"accids":["dave"],"postscript":"come"}"#)
      // The notification with the request's id is gone.
      _ = try broker.ask("POST", "/v1/notifications/read", as: alice, #"{"upTo":"9223372036854775807"}"#)

      let applications = try waiting(broker, path + "/applications", as: alice)
      #expect(accids(applications) == ["bob", "1001", "carol"])
      let bobs = try #require(applications.first { $0["accid"] == "bob" })
      #expect(bobs["message"] == "let me in" && bobs["inviters"] == nil && bobs["expiresAt"]?.number != nil)
      let invitations = try waiting(broker, path + "/invitations", as: alice)
      #expect(accids(invitations) == ["dave"])
      #expect(invitations.first?["inviters"] == ["alice"] && invitations.first?["message"] == "come")
      for list in ["/applications", "/invitations"] {
        #expect(try broker.ask("GET", path + list, as: bob).code == "notMember")
      }

      #expect(try broker.ask("POST", path + "/applications/bob/accept", as: alice).status == 204)
      // An accid of digits alone, and the id of a request.
      #expect(try broker.ask("POST", path + "/applications/1001/accept", as: alice).status == 204)
      let carols = try #require(applications.first { $0["accid"] == "carol" }?["requestId"]?.text)
      #expect(try broker.ask("POST", path + "/applications/\(carols)/reject", as: alice).status == 204)
      #expect(try waiting(broker, path + "/applications", as: alice).isEmpty)
      for account in ["bob", "1001"] {
        #expect(try broker.ask("GET", path + "/members/\(account)", as: alice).status == 200)
      }
      for name in ["bob", "1001", "nobody", carols] {
        let again = try broker.ask("POST", path + "/applications/\(name)/accept", as: alice)
        #expect(again.status == 404 && again.field == "requestId", "\(again.body)")
      }
      // A member that is no admin sees nothing, and nobody can answer for someone else.
      #expect(try broker.ask("GET", path + "/applications", as: bob).code == "forbidden")
      #expect(
        try broker.ask("POST", path + "/invitations/dave/accept", as: try broker.token("erin")).status == 404)
      let dave = try broker.token("dave")
      #expect(try broker.ask("POST", path + "/invitations/dave/accept", as: dave).status == 204)
      #expect(try waiting(broker, path + "/invitations", as: alice).isEmpty)
    }
  }

  @Test func anAccountThatMayApplySeesWhatTheServerIs() async throws {
    try await withBroker { broker in
      let server = try broker.makeServer(owner: "alice", members: ["bob"])
      let path = "/v1/servers/\(server)"
      let alice = try broker.token("alice")
      _ = try broker.ask("PATCH", path, as: alice, #"{"icon":"https://a.example/i.png","ext":"secret"}"#)
      let seen = try broker.ask("GET", path + "/preview", as: try broker.token("carol"))
      #expect(
        seen.json == [
          "serverId": .string(server), "name": "test", "memberCount": 2, "applyMode": 0,
          "icon": "https://a.example/i.png",
        ])
      #expect(try broker.ask("GET", path, as: try broker.token("carol")).code == "notMember")
      _ = try broker.ask("POST", path + "/bans", as: alice, #"{"accids":["carol"]}"#)
      #expect(try broker.ask("GET", path + "/preview", as: try broker.token("carol")).code == "banned")
      #expect(try broker.ask("GET", "/v1/servers/7/preview", as: alice).status == 404)
    }
  }

  /// The invitations are into a server, a group and a channel. The account needs no notification to find
  /// them.
  @Test func anAccountListsWhatItIsInvitedTo() async throws {
    try await withBroker { broker in
      let (alice, bob) = (try broker.token("alice"), try broker.token("bob"))
      let own = "/v1/account/invitations"
      let open = try broker.makeServer(owner: "alice")
      let invitation = #"{"accids":["bob","carol"],"postscript":"come"}"#
      _ = try broker.ask("POST", "/v1/servers/\(open)/invitations", as: alice, invitation)
      let home = try broker.makeServer(owner: "alice", members: ["bob"])
      let made = try broker.ask(
        "POST", "/v1/servers/\(home)/channels", as: alice,
        #"{"name":"backstage","type":"private","members":["alice"]}"#)
      let channel = try #require(made.json["channelId"]?.text)
      let channelPath = "/v1/servers/\(home)/channels/\(channel)"
      _ = try broker.ask("POST", channelPath + "/invitations", as: alice, #"{"accids":["bob"]}"#)
      let group = try broker.ask(
        "POST", "/v1/groups", as: alice, #"{"name":"Ringers","style":"publicOpen","invitees":["bob"]}"#)
      let groupId = try #require(group.json["groupId"]?.text)
      _ = try broker.ask("POST", "/v1/notifications/read", as: bob, #"{"upTo":"9223372036854775807"}"#)

      try await eventually { try waiting(broker, own, as: bob).count == 3 }
      let all = try waiting(broker, own, as: bob)
      let server = try #require(all.first { $0["serverId"]?.text == open })
      #expect(server["name"] == "test" && server["message"] == "come" && server["inviters"] == ["alice"])
      #expect(server["accid"] == "bob" && server["channelId"] == nil && server["expiresAt"]?.number != nil)
      let backstage = try #require(all.first { $0["channelId"]?.text == channel })
      #expect(backstage["name"] == "backstage" && backstage["serverId"]?.text == home)
      #expect(all.first { $0["groupId"]?.text == groupId }?["name"] == "Ringers")
      let first = try broker.ask("GET", own + "?limit=2", as: bob).json
      let cursor = try #require(first["cursor"]?.text)
      let rest = try broker.ask("GET", own + "?limit=2&cursor=\(cursor)", as: bob).json
      #expect((first["requests"]?.elements ?? []) + (rest["requests"]?.elements ?? []) == all)
      #expect(rest["cursor"] == .null)

      let request = try #require(server["requestId"]?.text)
      #expect(
        try broker.ask("POST", "/v1/servers/\(open)/invitations/\(request)/accept", as: bob).status == 204)
      #expect(
        try broker.ask("POST", "/v1/groups/\(groupId)/invitations/bob/decline", as: bob).status == 204)
      #expect(try waiting(broker, own, as: bob) == [backstage])
      #expect(try broker.ask("DELETE", channelPath, as: alice).status == 204)
      #expect(try waiting(broker, own, as: bob).isEmpty)
      #expect(try waiting(broker, own, as: try broker.token("carol")).map { $0["serverId"]?.text } == [open])
      #expect(try waiting(broker, own, as: alice).isEmpty)
    }
  }

  /// All inviters receive the answer. The invitee chooses the inviter whom the announcement names.
  @Test func theInviteeNamesAnInviter() async throws {
    try await withBroker { broker in
      let server = try broker.makeServer(owner: "alice", members: ["dave"])
      let path = "/v1/servers/\(server)"
      let (alice, bob) = (try broker.token("alice"), try broker.token("bob"))
      _ = try broker.ask("PATCH", path, as: alice, #"{"membersMayInvite":true}"#)
      for name in ["alice", "dave"] {
        _ = try broker.ask("POST", path + "/invitations", as: try broker.token(name), #"{"accids":["bob"]}"#)
      }
      let answer = path + "/invitations/bob/accept"
      let wrong = try broker.ask("POST", answer, as: bob, #"{"inviter":"carol"}"#)
      #expect(wrong.status == 400 && wrong.field == "inviter", "\(wrong.body)")
      #expect(try broker.ask("POST", answer, as: bob, #"{"inviter":"dave"}"#).status == 204)
      let told = try broker.ask("GET", "/v1/notifications?limit=100", as: alice).json["notifications"]
      #expect(told?.elements.first { $0["type"] == 9 }?["attach"]?["inviteAccid"] == "dave")
    }
  }

  @Test func aGroupAndAChannelListTheirsAlone() async throws {
    try await withBroker { broker in
      let (alice, app) = (try broker.token("alice"), try broker.token("app", .app))
      let made = try broker.ask(
        "POST", "/v1/groups", as: alice, #"{"name":"g","style":"publicApproval","invitees":["bob"]}"#)
      let group = "/v1/groups/" + (try #require(made.json["groupId"]?.text))
      _ = try broker.ask("POST", group + "/applications", as: try broker.token("carol"))
      #expect(accids(try waiting(broker, group + "/invitations", as: alice)) == ["bob"])
      #expect(accids(try waiting(broker, group + "/applications", as: app)) == ["carol"])
      let bob = try broker.token("bob")
      #expect(try broker.ask("POST", group + "/invitations/bob/decline", as: bob).status == 204)
      #expect(try broker.ask("POST", group + "/applications/carol/accept", as: alice).status == 204)
      #expect(try waiting(broker, group + "/invitations", as: alice).isEmpty)

      let server = try broker.makeServer(owner: "alice", members: ["bob", "carol"])
      var channels: [String] = []
      for name in ["bob", "carol"] {
        let made = try broker.ask(
          "POST", "/v1/servers/\(server)/channels", as: alice,
          #"{"name":"c","type":"private","members":["alice"]}"#)
        let channel = "/v1/servers/\(server)/channels/" + (try #require(made.json["channelId"]?.text))
        _ = try broker.ask("POST", channel + "/invitations", as: alice, #"{"accids":["\#(name)"]}"#)
        channels.append(channel)
      }
      #expect(accids(try waiting(broker, channels[0] + "/invitations", as: alice)) == ["bob"])
      #expect(accids(try waiting(broker, channels[1] + "/invitations", as: alice)) == ["carol"])
      #expect(try waiting(broker, "/v1/servers/\(server)/invitations", as: alice).isEmpty)
      #expect(try broker.ask("POST", channels[0] + "/invitations/bob/accept", as: bob).status == 204)
      #expect(try broker.ask("GET", channels[0] + "/invitations", as: bob).code == "forbidden")
      #expect(try broker.ask("GET", channels[1] + "/invitations", as: bob).status == 404)
    }
  }
}
