import BelfryModel
import Testing

@testable import BelfryServer

/// An update names a notification by its id alone.
@Suite struct UpdateLookupTests {
  @Test func whatWasSentIsFoundInEveryKindOfSpace() async throws {
    try await withBroker { broker in
      let (bob, app) = (try broker.token("bob"), try broker.token("app", .app))
      let server = try broker.makeServer(owner: "bob")
      func make(_ path: String, _ body: String, _ id: String) throws -> String {
        try #require(try broker.ask("POST", path, as: bob, body).json[id]?.text)
      }
      let channel = try make(
        "/v1/servers/\(server)/channels", #"{"name":"bells","type":"public","membership":"everyone"}"#,
        "channelId")
      let group = try make("/v1/groups", #"{"name":"ringers","style":"publicOpen"}"#, "groupId")
      let room = try make("/v1/rooms", #"{"subject":"practice"}"#, "roomId")
      for fields in [
        #""serverId":"\#(server)""#, #""serverId":"\#(server)","channelId":"\#(channel)""#,
        #""groupId":"\#(group)""#, #""roomId":"\#(room)""#, #""toAccids":["carol"]"#,
        #""toAccids":["carol","dave"]"#,
      ] {
        let sent = try broker.ask("POST", "/v1/notifications", as: bob, #"{\#(fields),"body":"one"}"#)
        let id = try #require(sent.json["messageServerId"]?.text, "\(fields): \(sent.body)")
        for (caller, body) in [(bob, "two"), (app, "three")] {
          let updated = try broker.ask(
            "PATCH", "/v1/notifications/\(id)", as: caller, #"{"body":"\#(body)"}"#)
          #expect(updated.status == 200, "\(fields): \(updated.body)")
          #expect(updated.json["body"]?.text == body)
        }
        let next = try #require(MessageID(id).flatMap { MessageID($0.raw + 1) })
        let unknown = try broker.ask("PATCH", "/v1/notifications/\(next)", as: app, #"{"body":"x"}"#)
        #expect(unknown.code == "notFound")
      }
    }
  }
}
