import BelfryModel
import Testing

@testable import BelfryServer

/// A server decides by its `sendMode` and its mutes who may send to it.
@Suite struct ServerSilenceTests {
  private func send(_ broker: TestBroker, as account: String, _ fields: String) throws -> Answer {
    try broker.ask("POST", "/v1/notifications", as: try broker.token(account), #"{\#(fields),"body":"x"}"#)
  }

  @Test func whereOnlyAdminsSendToEverybody() async throws {
    try await withBroker { broker in
      let owner = try broker.token("owner")
      let server = try broker.makeServer(owner: "owner", members: ["adam", "mia"])
      let path = "/v1/servers/\(server)"
      _ = try broker.ask("PUT", path + "/admins/adam", as: owner)
      #expect(try broker.ask("GET", path, as: owner).json["sendMode"] == "everybody")
      #expect(try send(broker, as: "mia", #""serverId":"\#(server)""#).status == 201)

      let changed = try broker.ask("PATCH", path, as: owner, #"{"sendMode":"admins"}"#)
      #expect(changed.json["sendMode"] == "admins")
      let refused = try send(broker, as: "mia", #""serverId":"\#(server)""#)
      #expect(refused.status == 403 && refused.code == "forbidden", "\(refused.body)")
      for account in ["owner", "adam"] {
        #expect(try send(broker, as: account, #""serverId":"\#(server)""#).status == 201)
      }
      // To one member, and to a channel, every member sends as before.
      #expect(try send(broker, as: "mia", #""serverId":"\#(server)","toAccids":["adam"]"#).status == 201)
      let channel = try #require(changed.json["defaultChannelId"]?.text)
      let inChannel = try send(broker, as: "mia", #""serverId":"\#(server)","channelId":"\#(channel)""#)
      #expect(inChannel.status == 201)
      let told = try broker.ask("GET", "/v1/notifications", as: try broker.token("mia"))
      let updates = told.json["notifications"]?.elements.filter { $0["type"] == 7 } ?? []
      #expect(updates.map { $0["attach"]?["serverInfo"]?["sendMode"] } == ["admins"])

      let made = try broker.ask("POST", "/v1/servers", as: owner, #"{"name":"quiet","sendMode":"admins"}"#)
      #expect(made.json["sendMode"] == "admins")
    }
  }

  @Test func aMuteBindsTheServerAndItsChannels() async throws {
    try await withBroker { broker in
      let owner = try broker.token("owner")
      let server = try broker.makeServer(owner: "owner", members: ["adam", "mia", "bob"])
      let path = "/v1/servers/\(server)"
      _ = try broker.ask("PUT", path + "/admins/adam", as: owner)
      let channel = try #require(try broker.ask("GET", path, as: owner).json["defaultChannelId"]?.text)
      let adam = try broker.token("adam")
      let mute = #"{"accids":["mia"],"durationSeconds":3600}"#
      #expect(try broker.ask("POST", path + "/mutes", as: try broker.token("bob"), mute).status == 403)
      #expect(try broker.ask("POST", path + "/mutes", as: adam, mute).status == 204)
      for fields in [
        #""serverId":"\#(server)""#, #""serverId":"\#(server)","toAccids":["bob"]"#,
        #""serverId":"\#(server)","channelId":"\#(channel)""#,
      ] {
        #expect(try send(broker, as: "mia", fields).code == "muted")
        #expect(try send(broker, as: "bob", fields.replacing("bob", with: "mia")).status == 201)
      }
      let muted = try broker.ask("GET", path + "/mutes", as: owner).json["muted"]?.elements ?? []
      #expect(muted.map { $0["accid"] } == ["mia"])
      #expect(try broker.ask("GET", path + "/mutes", as: try broker.token("mia")).status == 403)
      #expect(
        try broker.ask("POST", path + "/mutes", as: adam, #"{"accids":["owner"],"durationSeconds":9}"#).status
          == 403)

      // Leaving does not lift it.
      let mia = try broker.token("mia")
      #expect(try broker.ask("DELETE", path + "/members/mia", as: mia).status == 204)
      _ = try broker.ask("POST", path + "/members", as: try broker.token("app", .app), #"{"accids":["mia"]}"#)
      #expect(try send(broker, as: "mia", #""serverId":"\#(server)""#).code == "muted")
      #expect(try broker.ask("DELETE", path + "/mutes/mia", as: adam).status == 204)
      #expect(try send(broker, as: "mia", #""serverId":"\#(server)""#).status == 201)
      #expect(try broker.ask("GET", path + "/mutes", as: owner).json["muted"] == [])

      func told(_ account: String) throws -> [JSONValue?] {
        let all = try broker.ask("GET", "/v1/notifications?limit=100", as: try broker.token(account))
        return (all.json["notifications"]?.elements ?? []).filter { $0["type"] == 208 }
          .map { $0["attach"]?["muted"] }
      }
      #expect(try told("owner") == [true, false])
      #expect(try told("adam") == [] && told("bob") == [])
    }
  }
}
