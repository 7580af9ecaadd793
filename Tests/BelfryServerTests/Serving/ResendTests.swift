import BelfryModel
import Testing

@testable import BelfryServer

/// A resend that says the `messageServerId` delivers nothing twice.
@Suite struct ResendTests {
  /// The event between the first send and the resend.
  enum Change: CaseIterable {
    case nothing, theWindowEnds, itIsUpdated, itIsRecalled
  }

  private static let places = [
    #""serverId":"$""#, #""serverId":"$","toAccids":["carol"]"#, #""toAccids":["carol"]"#,
    #""toAccids":["carol","dave"]"#,
  ]

  @Test(arguments: Change.allCases, [#""messageClientId":"c","#, ""])
  func whatStoodIsNeverSentAgain(change: Change, name: String) async throws {
    try await withBroker { broker in
      let server = try broker.makeServer(owner: "alice", members: ["bob", "carol", "dave"])
      let (bob, carol) = (try broker.token("bob"), try broker.token("carol"))
      for place in Self.places {
        let name = name.replacing("c", with: "c\(place.utf8.count)")
        let body = "{\(name)\(place.replacing("$", with: server)),\"body\":\"hello\"}"
        let sent = try broker.ask("POST", "/v1/notifications", as: bob, body)
        try #require(sent.status == 201, "\(sent.body)")
        let id = try #require(sent.json["messageServerId"]?.text)
        let shown = try #require(try Self.customs(broker, carol).last)
        try Self.make(change, of: id, broker, bob)
        let count = try Self.customs(broker, carol).count

        let object = String(decoding: JSONText.bytes(of: shown), as: UTF8.self)
        let again = try broker.ask("POST", "/v1/notifications/resend", as: bob, object)
        #expect(again.status == 200, "\(place): \(again.body)")
        #expect(again.json["duplicate"] == true)
        #expect(again.json["messageServerId"]?.text == id)
        #expect(again.json["messageClientId"] == sent.json["messageClientId"])
        #expect(again.json["time"] == sent.json["time"])
        #expect(try Self.customs(broker, carol).count == count, "\(change), \(place)")
      }
    }
  }

  /// The mark has removed the personal entry, and later the dedupe record is gone too.
  @Test func whatWasReadIsNeverSentAgain() async throws {
    try await withBroker { broker in
      let (bob, carol) = (try broker.token("bob"), try broker.token("carol"))
      let sent = try broker.ask(
        "POST", "/v1/notifications", as: bob, #"{"toAccids":["carol"],"body":"hello"}"#)
      let id = try #require(sent.json["messageServerId"]?.text)
      let shown = try #require(try Self.customs(broker, carol).last)
      let object = String(decoding: JSONText.bytes(of: shown), as: UTF8.self)
      let mark = #"{"items":[{"messageServerId":"\#(id)"}]}"#
      #expect(try broker.ask("POST", "/v1/notifications/read", as: carol, mark).status == 200)
      let again = try broker.ask("POST", "/v1/notifications/resend", as: bob, object)
      #expect(again.status == 200, "\(again.body)")
      #expect(again.json["messageServerId"]?.text == id)
      try Self.endWindow(broker)
      let later = try broker.ask("POST", "/v1/notifications/resend", as: bob, object)
      #expect(later.status == 404)
      #expect(later.field == "messageServerId")
      #expect(later.json["detail"]?.text?.hasSuffix("Nothing needs to be sent again") == true)
      #expect(try Self.customs(broker, carol).isEmpty)
    }
  }

  @Test func anIdOfAnotherNotificationIsRefused() async throws {
    try await withBroker { broker in
      let server = try broker.makeServer(owner: "alice", members: ["bob"])
      let (alice, bob) = (try broker.token("alice"), try broker.token("bob"))
      let sent = try broker.ask(
        "POST", "/v1/notifications", as: bob, #"{"serverId":"\#(server)","body":"hello"}"#)
      let id = try #require(sent.json["messageServerId"]?.text)
      func resend(_ place: String, as token: String) throws -> Answer {
        try broker.ask(
          "POST", "/v1/notifications/resend", as: token,
          #"{"messageServerId":"\#(id)",\#(place),"body":"hello"}"#)
      }
      let elsewhere = try resend(#""toAccids":["alice"]"#, as: bob)
      #expect(elsewhere.code == "duplicateContent")
      #expect(elsewhere.field == "messageServerId")
      let another = try resend(#""serverId":"\#(server)""#, as: alice)
      #expect(another.status == 404)
      #expect(try resend(#""serverId":"\#(server)""#, as: bob).status == 200)
      #expect(try Self.customs(broker, alice).count == 1)
    }
  }

  private static func customs(_ broker: TestBroker, _ token: String) throws -> [JSONValue] {
    let page = try broker.ask("GET", "/v1/notifications?limit=500", as: token)
    return page.json["notifications"]?.elements.filter { $0["type"] == 100 } ?? []
  }

  private static func make(_ change: Change, of id: String, _ broker: TestBroker, _ token: String) throws {
    let path = "/v1/notifications/\(id)"
    switch change {
    case .nothing: return
    case .theWindowEnds: try endWindow(broker)
    case .itIsUpdated:
      #expect(try broker.ask("PATCH", path, as: token, #"{"body":"bye"}"#).status == 200)
    case .itIsRecalled:
      #expect(try broker.ask("DELETE", path, as: token).status == 204)
    }
  }

  /// Removes all dedupe records, as if enough time had passed.
  private static func endWindow(_ broker: TestBroker) throws {
    for key in try broker.redis.command("KEYS", "*:dedupe:*").split(separator: "\n") {
      _ = try broker.redis.command("DEL", String(key))
    }
  }
}
