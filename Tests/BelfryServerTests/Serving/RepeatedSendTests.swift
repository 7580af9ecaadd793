import BelfryModel
import Testing

@testable import BelfryServer

/// A repeated send gets the first receipt, even if anything has changed since.
@Suite struct RepeatedSendTests {
  /// The change between a send and its repetition.
  enum Change: CaseIterable {
    case nothing, theReceiverLeft, theSenderIsOut, theSenderIsBanned, theServerIsRemoved, theChannelIsClosed
    case theSenderIsBlocked
  }

  @Test(arguments: Change.allCases) func theFirstReceiptIsGivenAgain(after change: Change) async throws {
    try await withBroker { broker in
      let sending = try Sending(broker)
      let fields = [
        #""serverId":"\#(sending.server)""#, #""serverId":"\#(sending.server)","toAccids":["carol"]"#,
        #""serverId":"\#(sending.server)","channelId":"\#(sending.channel)""#,
        #""serverId":"\#(sending.server)","channelId":"\#(sending.channel)","toAccids":["carol"]"#,
      ]
      let bodies = fields.enumerated().map { #"{\#($1),"body":"hello","messageClientId":"c\#($0)"}"# }
      let first = try bodies.map { try sending.send($0) }
      for answer in first { #expect(answer.status == 201, "\(answer.body)") }
      try sending.make(change)

      for (body, first) in zip(bodies, first) {
        for (path, device) in [("", "phone"), ("/resend", "phone"), ("", "tablet"), ("/resend", "tablet")] {
          let again = try sending.send(body, path, from: device)
          #expect(again.status == 200, "\(change) \(body) from \(device): \(again.body)")
          #expect(again.json["duplicate"] == true)
          #expect(again.json["messageServerId"] == first.json["messageServerId"])
          #expect(again.json["time"] == first.json["time"])
        }
        let other = try sending.send(body.replacing("hello", with: "bye"))
        #expect(other.status == 409)
        #expect(other.code == "duplicateContent")
      }
      let batch = try broker.ask(
        "POST", "/v1/notifications/batch", as: sending.bob("tablet"), bodies.joined(separator: "\n"),
        headers: [("Content-Type", "application/x-ndjson")])
      let lines = try batch.body.split(separator: "\n").map { try JSONParser.value(of: Array($0.utf8)) }
      #expect(lines.map { $0["status"] } == first.map { _ in 200 })
      #expect(lines.map { $0["messageServerId"] } == first.map { $0.json["messageServerId"] })

      // Nothing was sent twice, and what is new is refused as ever.
      #expect(try sending.customs(of: "alice") == fields.count / 2)
      let new = try sending.send(bodies[3].replacing("c3", with: "c9"))
      #expect((new.status == 201) == (change == .nothing), "\(change): \(new.body)")
      #expect(new.code != "duplicateContent")
    }
  }

  /// Sends to accounts that need not have anything in common; also live only.
  @Test(arguments: [
    #""toAccids":["carol"]"#, #""toAccids":["carol","dave"]"#,
    #""toAccids":["carol"],"setting":{"persistEnable":false}"#,
    #""toAccids":["carol","dave"],"setting":{"persistEnable":false}"#,
  ])
  func aDirectMessageIsRepeatedFromAnotherDevice(fields: String) async throws {
    try await withBroker { broker in
      let sending = try Sending(broker)
      let body = #"{\#(fields),"body":"hello","messageClientId":"c"}"#
      let named = #"{\#(fields),"body":"hello","messageClientId":"c","fromDeviceId":"phone"}"#
      let first = try sending.send(body)
      #expect(first.status == 201, "\(first.body)")
      for (body, device) in [(body, "tablet"), (named, "phone"), (named, "tablet")] {
        let again = try sending.send(body, "/resend", from: device)
        #expect(again.status == 200, "\(again.body)")
        #expect(again.json["messageServerId"] == first.json["messageServerId"])
      }
      let other = try sending.send(body.replacing("hello", with: "bye"), from: "tablet")
      #expect(other.code == "duplicateContent")
      // Nobody sends from a device that is not theirs.
      let new = try sending.send(named.replacing(#""c""#, with: #""c2""#), from: "tablet")
      #expect(new.status == 403)
      #expect(new.field == "fromDeviceId")
    }
  }

  /// Other senders cannot find out what an account has sent, or that it has sent anything.
  @Test func anotherSenderLearnsNothing() async throws {
    try await withBroker { broker in
      let sending = try Sending(broker)
      let body = #"{"serverId":"\#(sending.server)","body":"hello","messageClientId":"c"}"#
      #expect(try sending.send(body).status == 201)
      let eve = try broker.token("eve")
      for path in ["", "/resend"] {
        for body in [body, body.replacing("hello", with: "bye")] {
          let answer = try broker.ask("POST", "/v1/notifications" + path, as: eve, body)
          #expect(answer.code == "notMember")
        }
      }
    }
  }
}

/// Bob, on two devices, sends to a server of alice's, in which carol and dave are too.
private struct Sending {
  let broker: TestBroker
  let server: String
  let channel: String

  init(_ broker: TestBroker) throws {
    self.broker = broker
    server = try broker.makeServer(owner: "alice", members: ["bob", "carol", "dave"])
    let made = try broker.ask(
      "POST", "/v1/servers/\(server)/channels", as: try broker.token("alice"),
      #"{"name":"bells","type":"public","membership":"everyone"}"#)
    channel = try #require(made.json["channelId"]?.text)
  }

  func bob(_ device: String) throws -> String { try broker.token("bob", device: device) }

  func send(_ body: String, _ path: String = "", from device: String = "phone") throws -> Answer {
    try broker.ask("POST", "/v1/notifications" + path, as: bob(device), body)
  }

  func make(_ change: RepeatedSendTests.Change) throws {
    let here = "/v1/servers/\(server)"
    switch change {
    case .nothing: return
    case .theReceiverLeft: try alice("DELETE", here + "/members/carol")
    case .theSenderIsOut: try alice("DELETE", here + "/members/bob")
    case .theSenderIsBanned: try alice("POST", here + "/bans", #"{"accids":["bob"]}"#)
    case .theServerIsRemoved: try alice("DELETE", here)
    case .theChannelIsClosed: try alice("DELETE", here + "/channels/\(channel)")
    case .theSenderIsBlocked:
      try alice("POST", here + "/channels/\(channel)/block-list", #"{"accids":["bob"]}"#)
    }
  }

  private func alice(_ method: String, _ path: String, _ body: String? = nil) throws {
    let answer = try broker.ask(method, path, as: try broker.token("alice"), body)
    #expect(answer.status == 204, "\(path): \(answer.body)")
  }

  func customs(of account: String) throws -> Int {
    let page = try broker.ask("GET", "/v1/notifications?limit=500", as: try broker.token(account))
    return page.json["notifications"]?.elements.count { $0["type"] == 100 } ?? 0
  }
}
