import BelfryModel
import TestKit
import Testing

@testable import BelfryServer

/// A back end announces changes of a server's data that Belfry does not keep.
@Suite struct AnnouncementRouteTests {
  private func told(_ broker: TestBroker, _ account: String) throws -> [JSONValue] {
    let page = try broker.ask("GET", "/v1/notifications?limit=100", as: try broker.token(account))
    return (page.json["notifications"]?.elements ?? []).filter { ($0["type"]?.number ?? 0) >= 18 }
      .filter { ![31, 32, 100].contains($0["type"]?.number ?? 0) }
  }

  @Test func membersAndThoseNamedReceiveIt() async throws {
    try await withBroker { broker in
      let app = try broker.token("app", .app)
      let server = try broker.makeServer(owner: "olga", members: ["mia"])
      let path = "/v1/servers/\(server)/announcements"
      let made = try broker.ask(
        "POST", path, as: app, #"{"type":26,"accids":["mia","zoe"],"attach":{"roleId":"7"}}"#)
      #expect(made.status == 201 && made.json["type"] == 26, "\(made.body)")
      let id = try #require(made.json["messageServerId"])
      for account in ["olga", "mia"] {
        let heard = try told(broker, account)
        #expect(heard.map { $0["messageServerId"] } == [id])
        #expect(heard.first?["attach"] == ["roleId": "7"])
        #expect(heard.first?["serverId"]?.text == server)
      }
      try await eventually { try told(broker, "zoe").map { $0["type"] } == [26] }

      let channel = try broker.ask(
        "POST", "/v1/servers/\(server)/channels", as: try broker.token("olga"),
        #"{"name":"c","type":"private","members":["olga"]}"#)
      let channelId = try #require(channel.json["channelId"]?.text)
      let inChannel = try broker.ask("POST", path, as: app, #"{"type":20,"channelId":"\#(channelId)"}"#)
      #expect(inChannel.status == 201)
      #expect(try told(broker, "olga").last?["channelId"]?.text == channelId)
      #expect(try told(broker, "mia").count == 1)
    }
  }

  @Test func onlyBackEndsAnnounceAndOnlyTheseTypes() async throws {
    try await withBroker { broker in
      let server = try broker.makeServer(owner: "olga")
      let path = "/v1/servers/\(server)/announcements"
      #expect(try broker.ask("POST", path, as: try broker.token("olga"), #"{"type":26}"#).status == 403)
      let app = try broker.token("app", .app)
      for type in ["1", "17", "19", "31", "33", "36", "100", "901", #""26""#] {
        let answer = try broker.ask("POST", path, as: app, #"{"type":\#(type)}"#)
        #expect(answer.status == 400 && answer.field == "type", "\(type): \(answer.body)")
        if !type.contains("\"") {
          #expect(answer.body.contains("must be 18, 20 to 30, 34 or 35"), "\(answer.body)")
        }
      }
      let sent = try broker.ask(
        "POST", "/v1/notifications", as: app, #"{"serverId":"\#(server)","type":26,"body":"x"}"#)
      #expect(sent.status == 400 && sent.field == "type")
      #expect(try broker.ask("POST", path, as: app, #"{"type":20,"channelId":"7"}"#).status == 404)
    }
  }
}
