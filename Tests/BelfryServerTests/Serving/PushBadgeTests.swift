import BelfryModel
import Foundation
import ModelSamples
import TestKit
import Testing

@testable import BelfryServer

/// The numbers of unread notifications that a gateway is told.
@Suite struct PushBadgeTests: PushStage {
  @Test func theNumberIsCorrectedAfterReadingElsewhere() async throws {
    let server = try gateway()
    try await withPush { broker async throws in
      try put("bob", server, broker)
      let sent = try send(broker, #""toAccids":["bob"],"body":"counted""#)
      let other = try send(
        broker, #""toAccids":["bob"],"body":"not""#, setting: #""pushEnable":true,"needBadge":false"#)
      try await expect(["\(sent) to bob", "\(other) to bob"], at: server, on: broker)
      let counts = server.requests.compactMap {
        (try? JSONParser.value(of: Array($0.body.utf8)))?["notification"]?["counts"]
      }
      #expect(counts == [["unread": 1]])
      // On one connection, so that no pause of this machine comes between them.
      let marks = try broker.connect()
      for id in [other, sent] {
        marks.begin(
          "POST", "/v1/notifications/read", as: try broker.token("bob"),
          Array(#"{"items":[{"messageServerId":"\#(id)"}]}"#.utf8))
      }
      for _ in 0..<2 { #expect(try marks.answer().json["read"] == 1) }
      // Two marks at once cause one correction. When nothing is left, nothing needs to be corrected.
      try await expect(["\(sent) to bob", "\(other) to bob", "badge 0 to bob"], at: server, on: broker)
      let later = try send(
        broker, #""toAccids":["bob"],"body":"later""#, setting: #""pushEnable":true,"needBadge":false"#)
      try await expect(
        ["\(sent) to bob", "\(other) to bob", "badge 0 to bob", "\(later) to bob"], at: server, on: broker)
      try read(later, by: "bob", broker)
      try await expect(
        ["\(sent) to bob", "\(other) to bob", "badge 0 to bob", "\(later) to bob"], at: server, on: broker)
    }
  }

  /// A notification that a preference hides does not count.
  @Test func theNumberIsCorrectedAfterAPreference() async throws {
    let server = try gateway()
    try await withPush { broker async throws in
      try put("bob", server, broker)
      let place = try broker.makeServer(owner: "alice", members: ["bob"])
      let sent = try send(broker, #""serverId":"\#(place)","body":"counted""#)
      try await expect(["\(sent) to bob"], at: server, on: broker)
      let answer = try broker.ask(
        "PUT", "/v1/account/preferences", as: try broker.token("bob"),
        #"{"preferences":[{"space":"server:\#(place)","level":"none"}]}"#)
      try #require(answer.status == 200, "\(answer)")
      try await expect(["\(sent) to bob", "badge 0 to bob"], at: server, on: broker)
    }
  }

  @Test func theNumberIsCorrectedAfterARecallAndAnExpiry() async throws {
    let server = try gateway()
    let clock = try await ShiftedClock()
    try await withPush(clock: clock) { broker async throws in
      for name in ["bob", "carol"] { try put(name, server, broker) }
      let place = try broker.makeServer(owner: "alice", members: ["bob"])
      // bob has joined, and the server is one of his.
      let joined = 2
      let kept = try send(broker, #""serverId":"\#(place)","body":"recalled""#)
      try await expect(["\(kept) to bob"], at: server, on: broker)
      #expect(
        try broker.ask("DELETE", "/v1/notifications/\(kept)", as: try broker.token("app", .app)).status == 204
      )
      let recalled = ["\(kept) to bob", "badge \(joined) to bob"]
      try await expect(recalled, at: server, on: broker)
      let soon = Int64(Date().timeIntervalSince1970 * 1_000) + 60_000
      let over = try send(broker, #""toAccids":["bob","carol"],"body":"over","expireAt":\#(soon)"#)
      try await eventually { posts(server).count == recalled.count + 2 }
      try await broker.waitUntilNothingIsToBePushed()
      try clock.step(bySeconds: 61)
      try await expect(
        recalled + [
          "\(over) to bob", "\(over) to carol", "badge \(joined) to bob", "badge 0 to carol",
        ], at: server, on: broker)
    }
  }

  /// After a restart of Redis ids are ahead of the clock. The delay begins when the notification was sent.
  @Test func aPushDoesNotWaitForTheTimeOfItsID() async throws {
    let server = try gateway()
    try await withPush { broker async throws in
      try put("bob", server, broker)
      let ahead = Int64(Date().timeIntervalSince1970 * 1_000) + 3_600_000
      let partition = Partitions.standard.holding(.personal("bob"))
      try broker.redis.setLastID(MessageID(unixMilliseconds: ahead, partition: partition, sequence: 0))
      let sent = try send(broker, #""toAccids":["bob"],"body":"from a later hour""#)
      #expect(try #require(MessageID(sent)).unixMilliseconds >= ahead)
      try await expect(["\(sent) to bob"], at: server, on: broker)
    }
  }

  /// A slow gateway is told each number once.
  @Test func aSlowDeliveryIsCorrectedOnlyIfSomethingCameBetween() async throws {
    let gate = Latch()
    let server = try gateway { _, _ in
      gate.wait()
      return [.kept(200, #"{"rejected":[]}"#), .next]
    }
    try await withPush { broker async throws in
      for name in ["bob", "carol"] { try put(name, server, broker) }
      let sent = try send(broker, #""toAccids":["bob","carol"],"body":"slow""#)
      try await eventually { posts(server).count == 2 }
      try read(sent, by: "carol", broker)
      gate.open()
      try await broker.waitUntilNothingIsToBeSent()
      let told = posts(server)
      #expect(told.filter { $0.hasSuffix("bob") } == ["\(sent) to bob"])
      #expect(Set(told.filter { $0.hasSuffix("carol") }) == ["\(sent) to carol", "badge 0 to carol"])
    }
  }
}
