import BelfryModel
import Foundation
import TestKit
import Testing

@testable import BelfryServer

/// Pushes and their receivers, at a real gateway.
@Suite struct PushTests: PushStage {
  // MARK: Contents

  /// The text that was pushed to a device.
  private func texts(_ server: ScriptedServer, to key: String) -> [String] {
    server.requests.compactMap { request in
      let value = (try? JSONParser.value(of: Array(request.body.utf8)))?["notification"]
      guard value?["devices"]?[0]?["pushkey"]?.text == key else { return nil }
      return value?["content"]?["body"]?.text
    }
  }

  @Test func invitationsAndApplicationsArePushedAsSentences() async throws {
    let server = try gateway()
    try await withPush { broker async throws in
      for name in ["alice", "bob"] { try put(name, server, broker) }
      let (alice, carol) = (try broker.token("alice"), try broker.token("carol"))
      let made = try broker.ask("POST", "/v1/servers", as: alice, #"{"name":"Campfire","applyMode":1}"#)
      let path = "/v1/servers/" + (try #require(made.json["serverId"]?.text))
      _ = try broker.ask(
        "POST", path + "/invitations", as: alice, #"{"accids":["bob"],"postscript":"Come!"}"#)
      _ = try broker.ask("POST", path + "/applications", as: carol)
      _ = try broker.ask(
        "POST", "/v1/groups", as: alice, #"{"name":"Ringers","style":"publicOpen","invitees":["bob"]}"#)
      // Nobody asked for pushes of this event.
      _ = try broker.ask("PATCH", path, as: alice, #"{"name":"Fire"}"#)
      try await eventually { texts(server, to: "bob").count == 2 && texts(server, to: "alice").count == 1 }
      try await broker.waitUntilNothingIsToBeSent()
      #expect(
        Set(texts(server, to: "bob")) == [
          "alice invited you to Campfire: Come!", "alice invited you to Ringers",
        ])
      #expect(texts(server, to: "alice") == ["carol asks to join server \(path.split(separator: "/")[2])"])
    }
  }

  @Test func withNoTypesOnlyWhatAskedForItIsPushed() async throws {
    let server = try gateway()
    try await withPush({ $0.push.types = [] }) { broker async throws in
      try put("bob", server, broker)
      let alice = try broker.token("alice")
      let made = try broker.ask(
        "POST", "/v1/groups", as: alice, #"{"name":"Ringers","style":"publicOpen","invitees":["bob"]}"#)
      #expect(made.status == 201)
      let sent = try send(broker, #""toAccids":["bob"],"body":"one""#)
      try await expect(["\(sent) to bob"], at: server, on: broker)
    }
  }

  // MARK: To whom

  @Test func whoeverIsToReceiveItIsPushedToOnce() async throws {
    let server = try gateway()
    try await withPush { broker async throws in
      for name in ["bob", "carol", "dave", "erin"] { try put(name, server, broker) }
      try put("bob", device: "tablet", key: "bob's tablet", server, broker)
      let place = try broker.makeServer(owner: "alice", members: ["bob", "carol", "dave"])
      let all = try send(broker, #""serverId":"\#(place)","body":"all""#)
      let two = try send(broker, #""toAccids":["carol","erin"],"body":"two""#)
      let one = try send(broker, #""toAccids":["erin"],"body":"one""#)
      try send(broker, #""serverId":"\#(place)","body":"quiet""#, setting: #""pushEnable":false"#)
      try await expect(
        [
          "\(all) to bob", "\(all) to bob's tablet", "\(all) to carol", "\(all) to dave", "\(two) to carol",
          "\(two) to erin", "\(one) to erin",
        ], at: server, on: broker,
        // Two pushes to a device may be on their way at the same time: a count corrects what either has told.
        passing: { $0.hasPrefix("badge ") })
    }
  }

  /// A broadcast is entered in pages of 1,000 members, and each waits until most of the one before is pushed.
  @Test func aBroadcastDoesNotKeepALaterPushWaiting() async throws {
    let server = try gateway()
    var limits = Limits.unhurried
    limits.subscriptionThreshold = 10_000
    try await withPush(limits: limits, { $0.partitions = try #require(Partitions(count: 1)) }) {
      broker async throws in
      let members = (0..<2_100).map { "member\($0)" }
      let place = try broker.makeServer(owner: "alice", members: Array(members[..<1_000]))
      let connection = try broker.connect()
      for more in [members[1_000..<2_000], members[2_000...]] {
        let list = more.map { "\"\($0)\"" }.joined(separator: ",")
        let added = try connection.ask(
          "POST", "/v1/servers/\(place)/members", as: try broker.token("app", .app),
          #"{"accids":[\#(list)]}"#)
        try #require(added.status == 200, "\(added)")
      }
      for name in members + ["erin"] { try put(name, server, broker, on: connection) }
      try send(
        broker, #""serverId":"\#(place)","body":"all""#, setting: #""pushEnable":true,"needBadge":false"#)
      let one = try send(broker, #""toAccids":["erin"],"body":"one""#)
      try await broker.waitUntilNothingIsToBeSent()
      let order = server.requests.map { $0.body.contains(one) }
      // A push whose answer is late on a busy machine is made again, so only its receivers are counted.
      #expect(Set(posts(server).filter { !$0.hasPrefix("badge ") }).count == 2_101)
      #expect(try #require(order.firstIndex(of: true)) < 1_400)
    }
  }

  @Test func nothingIsPushedThatIsReadRecalledOverUnwantedOrNotTheirsByThen() async throws {
    let server = try gateway()
    // Its pushes are due when the clock has stepped, so there is time for all that comes before.
    let clock = try await ShiftedClock()
    try await withPush(delayMilliseconds: 60_000, clock: clock) { broker async throws in
      for name in ["bob", "carol", "dave", "erin"] { try put(name, server, broker) }
      let place = try broker.makeServer(owner: "alice", members: ["bob", "dave"])
      let soon = Int64(Date().timeIntervalSince1970 * 1_000) + 30_000
      let read = try send(broker, #""toAccids":["bob"],"body":"read""#)
      let recalled = try send(broker, #""toAccids":["bob"],"body":"recalled""#)
      try send(broker, #""toAccids":["bob"],"body":"over","expireAt":\#(soon)"#)
      try send(broker, #""toAccids":["erin"],"body":"unwanted""#)
      let kept = try send(broker, #""serverId":"\#(place)","body":"for those who are there""#)
      try self.read(read, by: "bob", broker)
      let app = try broker.token("app", .app)
      #expect(try broker.ask("DELETE", "/v1/notifications/\(recalled)", as: app).status == 204)
      #expect(
        try broker.ask(
          "PUT", "/v1/account/preferences", as: try broker.token("erin"),
          #"{"preferences":[{"level":"none"}]}"#
        ).status == 200)
      // An account that joins afterwards was not there. A device that was given up is not pushed to.
      #expect(
        try broker.ask("POST", "/v1/servers/\(place)/members", as: app, #"{"accids":["carol"]}"#).status
          == 200)
      #expect(
        try broker.ask("DELETE", "/v1/account/pushers/phone", as: try broker.token("dave")).status == 204)
      try clock.step(bySeconds: 61)
      try await expect(["\(kept) to bob"], at: server, on: broker)
    }
  }

  @Test func aboveTheThresholdSubscribersArePushedTo() async throws {
    let server = try gateway()
    var limits = Limits.unhurried
    limits.subscriptionThreshold = 3
    try await withPush(limits: limits) { broker async throws in
      for name in ["bob", "carol", "dave"] { try put(name, server, broker) }
      let place = try broker.makeServer(owner: "alice", members: ["bob", "carol", "dave", "erin"])
      #expect(
        try broker.ask(
          "POST", "/v1/subscriptions", as: try broker.token("carol"),
          #"{"servers":["\#(place)"],"subscribe":true}"#
        ).status == 200)
      let sent = try send(broker, #""serverId":"\#(place)","body":"to subscribers""#)
      try await expect(["\(sent) to carol"], at: server, on: broker)
    }
  }
}
