import BelfryModel
import Testing

@testable import BelfryServer

/// The data that spaces show of themselves and their members, and the values that their options refuse.
@Suite struct SpaceDetailsTests {
  @Test func aMembersProfileIsShownAsItWasWritten() async throws {
    try await withBroker { broker in
      let id = try broker.makeServer(owner: "alice", members: ["bob"])
      let path = "/v1/servers/\(id)/members/bob"
      let (alice, bob) = (try broker.token("alice"), try broker.token("bob"))
      #expect(try broker.ask("GET", path, as: alice).json["nick"] == nil)
      let written = #"{"nick":"Bobby","avatar":"a","ext":"{}"}"#
      #expect(try broker.ask("PATCH", path, as: bob, written).status == 200)
      let shown = try broker.ask("GET", path, as: alice).json
      #expect(shown["nick"] == "Bobby")
      #expect(shown["avatar"] == "a")
      #expect(shown["ext"] == "{}")
      #expect(shown["role"] == "member")
      _ = try broker.ask("PATCH", path, as: bob, #"{"nick":""}"#)
      #expect(try broker.ask("GET", path, as: alice).json["nick"] == nil)
    }
  }

  @Test func aServerAboveTheThresholdSaysThatItNeedsSubscriptions() async throws {
    try await withBroker(configure: { $0.limits.subscriptionThreshold = 2 }) { broker in
      let id = try broker.makeServer(owner: "alice", members: ["bob"])
      let alice = try broker.token("alice")
      func needsSubscription() throws -> [JSONValue?] {
        let server = try broker.ask("GET", "/v1/servers/\(id)", as: alice).json
        let listed = try broker.ask("GET", "/v1/servers", as: alice).json["servers"]?.elements.first
        return [server["needsSubscription"], listed?["needsSubscription"]]
      }
      #expect(try needsSubscription() == [nil, nil])
      let app = try broker.token("app", .app)
      _ = try broker.ask("POST", "/v1/servers/\(id)/members", as: app, #"{"accids":["carol"]}"#)
      #expect(try needsSubscription() == [true, true])
    }
  }

  @Test func aChannelSaysHowManyBelongToIt() async throws {
    try await withBroker { broker in
      let id = try broker.makeServer(owner: "alice", members: ["bob", "carol"])
      let alice = try broker.token("alice")
      let channels = "/v1/servers/\(id)/channels"
      for body in [
        #"{"name":"all","type":"public"}"#, #"{"name":"two","type":"private","members":["alice","bob"]}"#,
      ] { _ = try broker.ask("POST", channels, as: alice, body) }
      let listed = try broker.ask("GET", channels, as: alice).json["channels"]?.elements ?? []
      let counts = listed.map { ($0["name"]?.text ?? "", $0["memberCount"]) }
      #expect(
        Dictionary(counts) { first, _ in first }.filter { ["all", "two"].contains($0.key) }
          == ["all": 3, "two": 2])
      for channel in listed {
        let path = channels + "/" + (try #require(channel["channelId"]?.text))
        #expect(try broker.ask("GET", path, as: alice).json["memberCount"] == channel["memberCount"])
      }
    }
  }

  @Test func aRostersBoundHoldsHoweverOneJoins() async throws {
    try await withBroker { broker in
      let id = try broker.makeServer(owner: "alice", members: ["bob", "carol", "dave"])
      let (alice, bob, carol) = (
        try broker.token("alice"), try broker.token("bob"), try broker.token("carol")
      )
      let channels = "/v1/servers/\(id)/channels"
      let made = try broker.ask(
        "POST", channels, as: alice,
        #"{"name":"c","type":"public","membership":"roster","maxMembers":2,"ext":"e"}"#)
      #expect(made.status == 201)
      #expect(made.json["maxMembers"] == 2)
      #expect(made.json["ext"] == "e")
      let channel = "\(channels)/\(try #require(made.json["channelId"]?.text))"
      let invited = try broker.ask("POST", channel + "/invitations", as: alice, #"{"accids":["carol"]}"#)
      let request = try #require(invited.json["invitations"]?[0]?["requestId"]?.text)
      #expect(try broker.ask("POST", channel + "/members", as: bob).status == 204)
      // An account that is already in it is not refused.
      #expect(try broker.ask("POST", channel + "/members", as: bob).status == 204)
      for (who, path) in [
        (carol, "/members"), (try broker.token("dave"), "/members"),
        (carol, "/invitations/\(request)/accept"),
      ] {
        let refused = try broker.ask("POST", channel + path, as: who)
        #expect(refused.status == 409)
        #expect(refused.code == "full")
      }
      // A lower bound removes nobody; a higher one lets accounts in.
      #expect(try broker.ask("PATCH", channel, as: alice, #"{"maxMembers":1}"#).status == 200)
      #expect(try broker.ask("GET", channel + "/members/bob", as: alice).json["member"] == true)
      #expect(try broker.ask("PATCH", channel, as: alice, #"{"maxMembers":3,"ext":""}"#).json["ext"] == nil)
      #expect(try broker.ask("POST", channel + "/invitations/\(request)/accept", as: carol).status == 204)

      for (body, field) in [
        (#"{"name":"c","type":"public","maxMembers":2}"#, "maxMembers"),
        (#"{"name":"c","type":"private","maxMembers":0}"#, "maxMembers"),
        (#"{"name":"c","type":"private","maxMembers":1,"members":["bob"]}"#, "channelId"),
      ] {
        #expect(try broker.ask("POST", channels, as: alice, body).json["field"]?.text == field, "\(body)")
      }
    }
  }

  @Test func channelsAreListedByType() async throws {
    try await withBroker { broker in
      let id = try broker.makeServer(owner: "alice")
      let alice = try broker.token("alice")
      let channels = "/v1/servers/\(id)/channels"
      for type in ["private", "public", "private"] {
        _ = try broker.ask("POST", channels, as: alice, #"{"name":"c","type":"\#(type)"}"#)
      }
      func count(_ query: String) throws -> Int? {
        guard case .array(let all)? = try broker.ask("GET", channels + query, as: alice).json["channels"]
        else {
          return nil
        }
        return all.count
      }
      #expect(try count("") == 4)
      #expect(try count("?type=private") == 2)
      #expect(try count("?type=public") == 2)
      #expect(try broker.ask("GET", channels + "?type=secret", as: alice).json["field"] == "type")
    }
  }

  @Test func aGroupsDetailsAndItsDisabling() async throws {
    try await withBroker { broker in
      let (alice, bob) = (try broker.token("alice"), try broker.token("bob"))
      let app = try broker.token("app", .app)
      let made = try broker.ask(
        "POST", "/v1/groups", as: alice,
        #"{"name":"g","style":"publicOpen","inviteNeedConfirm":false,"invitees":["bob","carol"]}"#)
      let id = try #require(made.json["groupId"]?.text)
      let group = "/v1/groups/\(id)"
      _ = try broker.ask("PUT", group + "/admins/carol", as: alice)
      #expect(try broker.ask("DELETE", group + "/receiving", as: bob).status == 204)
      let stranger = try broker.ask(
        "GET", group + "/receiving", as: app, headers: [("Belfry-Account", "nobodyever")])
      #expect(stranger.code == "notMember")
      let seen = try broker.ask("GET", group, as: bob).json
      #expect(seen["administrators"] == ["carol"])
      #expect(seen["isBlockedByMe"] == true)
      #expect(seen["isDisabled"] == false)
      #expect(try broker.ask("GET", group, as: alice).json["isBlockedByMe"] == false)

      #expect(try broker.ask("PUT", group + "/disabled", as: alice).status == 403)
      #expect(try broker.ask("PUT", group + "/disabled", as: app).status == 204)
      #expect(try broker.ask("PUT", group + "/disabled", as: app).status == 204)
      #expect(try broker.ask("GET", group, as: bob).json["isDisabled"] == true)
      let dave = try broker.token("dave")
      let send = #"{"groupId":"\#(id)","body":"x"}"#
      for (who, path, body) in [
        (alice, "/v1/notifications", send), (app, "/v1/notifications", send),
        (dave, group + "/applications", "{}"), (alice, group + "/invitations", #"{"accids":["dave"]}"#),
      ] {
        let refused = try broker.ask("POST", path, as: who, body)
        #expect(refused.status == 403, "\(path)")
        #expect(refused.code == "disabled", "\(path)")
      }
      // A member may leave.
      #expect(try broker.ask("DELETE", group + "/members/bob", as: bob).status == 204)
      #expect(try broker.ask("DELETE", group + "/disabled", as: app).status == 204)
      #expect(try broker.ask("POST", "/v1/notifications", as: alice, send).status == 201)
      #expect(try broker.ask("POST", group + "/applications", as: dave).status == 200)
    }
  }

  @Test func whoEntersARoomIsShownWhoIsHeardThere() async throws {
    try await withBroker { broker in
      let (hal, lea, lou) = (try broker.token("hal"), try broker.token("lea"), try broker.token("lou"))
      let made = try broker.ask("POST", "/v1/rooms", as: hal, #"{"subject":"s"}"#)
      let room = "/v1/rooms/\(try #require(made.json["roomId"]?.text))"
      _ = try broker.ask("POST", room + "/attendees", as: lea)
      #expect(try broker.ask("PUT", room + "/hands/lea", as: lea).status == 204)

      let entered = try broker.ask("POST", room + "/attendees", as: lou)
      #expect(entered.status == 200)
      #expect(entered.json["subject"] == "s")
      func attendee(_ name: String, _ page: JSONValue) -> JSONValue? {
        guard case .array(let all)? = page["attendees"] else { return nil }
        return all.first { $0["accid"]?.text == name }
      }
      #expect(
        attendee("hal", entered.json) == ["accid": "hal", "role": "host", "microphone": "on", "hand": false])
      #expect(
        attendee("lea", entered.json) == [
          "accid": "lea", "role": "listener", "microphone": "off", "hand": true,
        ])
      #expect(
        attendee("lou", entered.json) == [
          "accid": "lou", "role": "listener", "microphone": "off", "hand": false,
        ])
      let listed = try broker.ask("GET", room + "/attendees", as: lou)
      #expect(listed.json["attendees"] == entered.json["attendees"])

      // On stage by accepting, the hand is down and the microphone on, until the host mutes the new guest.
      let invited = try broker.ask("POST", room + "/stage", as: hal, #"{"accid":"lea"}"#)
      let token = try #require(invited.json["token"]?.text)
      #expect(try broker.ask("POST", room + "/stage/\(token)/accept", as: lea).status == 204)
      let after = try broker.ask("GET", room + "/attendees", as: lou).json
      #expect(
        attendee("lea", after) == ["accid": "lea", "role": "guest", "microphone": "on", "hand": false])
      #expect(try broker.ask("PUT", room + "/microphones/lea", as: hal, #"{"on":false}"#).status == 204)
      let muted = try broker.ask("GET", room + "/attendees", as: lou).json
      #expect(attendee("lea", muted)?["microphone"] == "off")
      let present = try broker.ask("PUT", "/v1/rooms/presence", as: lou)
      #expect(present.json["user"]?["accid"] == "lou")
    }
  }

  @Test func listsAreTakenBackTogetherOrNotAtAll() async throws {
    try await withBroker { broker in
      let members = ["bob", "carol", "dave"]
      let id = try broker.makeServer(owner: "alice", members: members)
      let alice = try broker.token("alice")
      let server = "/v1/servers/\(id)"
      let both = #"{"accids":["bob","carol"]}"#
      let made = try broker.ask(
        "POST", server + "/channels", as: alice,
        #"{"name":"c","type":"private","members":["bob","carol","dave"]}"#)
      let channel = server + "/channels/\(try #require(made.json["channelId"]?.text))"
      let group = try broker.ask(
        "POST", "/v1/groups", as: alice,
        #"{"name":"g","style":"publicOpen","inviteNeedConfirm":false,"invitees":["bob","carol","dave"]}"#)
      let groups = "/v1/groups/\(try #require(group.json["groupId"]?.text))"
      let muting = #"{"accids":["bob","carol"],"durationSeconds":60}"#
      for (list, body, name) in [
        (channel + "/allow-list", both, "accids"), (channel + "/mutes", muting, "muted"),
        (channel + "/block-list", both, "accids"), (groups + "/allow-list", both, "accids"),
        (groups + "/mutes", muting, "muted"), (groups + "/block-list", both, "accids"),
        (server + "/bans", both, "accids"),
      ] {
        func count() throws -> Int? {
          guard case .array(let all)? = try broker.ask("GET", list, as: alice).json[name] else { return nil }
          return all.count
        }
        let added = try broker.ask("POST", list, as: alice, body)
        #expect(added.status == 204, "\(list): \(added.json)")
        #expect(try count() == 2, "\(list)")
        #expect(try broker.ask("DELETE", list, as: alice, "{}").json["field"] == "accids", "\(list)")
        #expect(try broker.ask("DELETE", list, as: alice, both).status == 204, "\(list)")
        #expect(try count() == 0, "\(list)")
      }
    }
  }

  @Test func membersAreRemovedTogetherOrNotAtAll() async throws {
    try await withBroker { broker in
      let id = try broker.makeServer(owner: "alice", members: ["bob", "carol", "dave"])
      let alice = try broker.token("alice")
      let server = "/v1/servers/\(id)"
      let made = try broker.ask(
        "POST", server + "/channels", as: alice,
        #"{"name":"c","type":"private","members":["bob","carol","dave"]}"#)
      let channel = server + "/channels/\(try #require(made.json["channelId"]?.text))"
      for (space, kept) in [(channel, "/members/bob"), (server, "/members/bob")] {
        func isIn(_ name: String) throws -> Bool {
          let answer = try broker.ask("GET", "\(space)/members/\(name)", as: alice)
          return answer.status == 200 && answer.json["member"] != false
        }
        // One of the accounts is not a member.
        let half = try broker.ask("DELETE", space + "/members", as: alice, #"{"accids":["bob","nobody"]}"#)
        #expect(half.status == 404, "\(space)\(kept): \(half.json)")
        #expect(try isIn("bob"))
        let both = #"{"accids":["bob","carol"]}"#
        #expect(
          try broker.ask("DELETE", space + "/members", as: try broker.token("dave"), both).status == 403)
        #expect(try broker.ask("DELETE", space + "/members", as: alice, both).status == 204)
        #expect(try !isIn("bob"))
        #expect(try !isIn("carol"))
        #expect(try isIn("dave"))
      }
    }
  }

  @Test func whatIsSentAgainMayBeGivenAsItWasReturned() async throws {
    try await withBroker { broker in
      let id = try broker.makeServer(owner: "alice", members: ["bob"])
      let (alice, bob) = (try broker.token("alice"), try broker.token("bob"))
      let sent = try broker.ask(
        "POST", "/v1/notifications", as: alice,
        #"{"serverId":"\#(id)","messageClientId":"m1","body":"x","pushPayload":"{\"a\":[1]}","status":10001}"#
      )
      #expect(sent.status == 201)
      guard
        case .array(let unread)? = try broker.ask("GET", "/v1/notifications", as: bob).json["notifications"],
        let shown = unread.last
      else {
        Issue.record("nothing is unread")
        return
      }
      #expect(shown["pushPayload"] == ["a": [1]])
      let text = String(decoding: JSONText.bytes(of: shown), as: UTF8.self)
      let again = try broker.ask("POST", "/v1/notifications/resend", as: alice, text)
      #expect(again.status == 200, "\(again.json)")
      #expect(again.json["duplicate"] == true)
      #expect(again.json["messageServerId"] == sent.json["messageServerId"])
      // A send is no resend.
      #expect(try broker.ask("POST", "/v1/notifications", as: alice, text).json["field"] == "messageServerId")
      for payload in [#""[1]""#, #""{""#, "1", #""""#] {
        let refused = try broker.ask(
          "POST", "/v1/notifications", as: alice, #"{"serverId":"\#(id)","pushPayload":\#(payload)}"#)
        #expect(refused.json["field"] == "pushPayload", "\(payload)")
      }
    }
  }
}
