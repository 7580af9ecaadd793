import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryServer

/// Much at once on a socket: requests without waiting, marks against sends, and clients that do not read.
@Suite struct SocketLoadTests {
  /// All requests are answered, each once, even if many are sent without waiting.
  @Test func requestsWithoutWaiting() async throws {
    try await withBroker(loops: 2) { broker in
      let socket = try broker.connectedSocket(as: try broker.token("bob"))
      var bytes: [UInt8] = []
      for id in 2..<502 {
        let text = #"{"id":\#(id),"send":{"toAccids":["alice"],"body":"n\#(id)"}}"#
        bytes += socket.raw.frame(0x81, Array(text.utf8))
      }
      socket.raw.connection.send(bytes)
      var ids: [Int64] = []
      while ids.count < 500 {
        let answer = try socket.hear()
        #expect(answer["ok"]?["messageServerId"] != nil, "\(answer)")
        ids.append(try #require(answer["id"]?.number))
      }
      #expect(Set(ids) == Set(2..<502))
      let page = try broker.ask("GET", "/v1/notifications?limit=500", as: try broker.token("alice"))
      #expect(Set(page.json["notifications"]?.elements.compactMap { $0["body"]?.text } ?? []).count == 500)
    }
  }

  /// Notifications that are marked while others are sent are gone, and those sent after a mark are not.
  @Test func sendsRaceMarks() async throws {
    try await withBroker(loops: 2) { broker in
      let (phone, desk) = (try broker.token("bob", device: "phone"), try broker.token("bob", device: "desk"))
      let (sender, marker) = (try broker.connectedSocket(as: phone), try broker.connectedSocket(as: desk))
      var (unread, marked) = (Set<String>(), 0)
      for round in 0..<100 {
        sender.say(#"{"id":\#(round + 2),"send":{"toAccids":["bob"],"body":"r\#(round)"}}"#)
        let id = try #require(try marker.hear("notification")["messageServerId"]?.text)
        guard round.isMultiple(of: 3) else {
          unread.insert(id)
          continue
        }
        marker.say(#"{"id":\#(round + 2),"read":{"items":[{"messageServerId":"\#(id)"}]}}"#)
        #expect(try marker.answer(to: Int64(round + 2))["ok"] == ["read": 1])
        marked += 1
      }
      var (echoes, answers) = (0, 0)
      while echoes < marked || answers < 100 {
        let frame = try sender.hear()
        if frame["read"] != nil { echoes += 1 }
        if frame["ok"] != nil { answers += 1 }
        if frame == .null { break }
      }
      #expect(echoes == marked && answers == 100)
      let left = try broker.ask("GET", "/v1/notifications?limit=500", as: phone)
      #expect(
        Set(left.json["notifications"]?.elements.compactMap { $0["messageServerId"]?.text } ?? []) == unread)
    }
  }

  /// When the client finally reads, everything comes once and in order. Nobody waits for it meanwhile.
  @Test func whoDoesNotReadLosesNothing() async throws {
    try await withBroker { broker in
      let (bob, app) = (try broker.token("bob"), try broker.token("app", .app))
      let slow = TestSocket(
        try RawSocket(port: broker.port, headers: [("Authorization", "Bearer \(bob)")], receiveBytes: 4_096))
      let quick = try broker.connectedSocket(as: bob)
      let text = String(repeating: "x", count: 3_000)
      for batch in 0..<20 {
        let lines = (0..<50).map { #"{"toAccids":["bob"],"body":"\#(batch * 50 + $0)","ext":"\#(text)"}"# }
        let sent = try broker.ask(
          "POST", "/v1/notifications/batch", as: app, lines.joined(separator: "\n"),
          headers: [("Content-Type", "application/x-ndjson")])
        #expect(sent.status == 200)
        for number in 0..<50 {
          #expect(try quick.hear("notification")["body"]?.text == "\(batch * 50 + number)")
        }
      }
      for number in 0..<1_000 {
        #expect(try slow.hear("notification")["body"]?.text == "\(number)")
      }
    }
  }

  @Test func whoGoesTooFastIsTold() async throws {
    var limits = Limits()
    limits.sendsPerSecondPerAccount = 5
    try await withBroker(limits: limits) { broker in
      let socket = try broker.connectedSocket(as: try broker.token("bob"))
      for id in 2..<32 { socket.say(#"{"id":\#(id),"send":{"toAccids":["alice"],"body":"x"}}"#) }
      var refused = 0
      for _ in 2..<32 {
        let answer = try socket.hear()
        if answer["problem"]?["code"] == "rateLimited" { refused += 1 }
      }
      #expect(refused > 5)
    }
  }

  /// Sockets that open and close leave nothing behind.
  @Test func nothingStays() async throws {
    try await withBroker(loops: 2) { broker in
      let bob = try broker.token("bob")
      for round in 0..<60 {
        let socket = round.isMultiple(of: 3) ? try broker.socket() : try broker.connectedSocket(as: bob)
        switch round % 4 {
        case 0: socket.raw.connection.reset()
        case 1: socket.say("nonsense")
        case 2: socket.raw.connection.send([0x81])
        default: socket.raw.send(0x88, [])
        }
        socket.raw.connection.cut()
      }
      let account: AccountID = "bob"
      for _ in 0..<3_000 where broker.broker.accountLimits.connectionSlots(of: account) > 0 {
        try await Task.sleep(for: .milliseconds(10))
      }
      #expect(broker.broker.accountLimits.connectionSlots(of: account) == 0)
      var metrics = ""
      for _ in 0..<600 {
        metrics = try broker.ask("GET", "/metrics").body
        if metrics.contains("belfry_sockets{loop=\"0\"} 0"), metrics.contains("belfry_sockets{loop=\"1\"} 0")
        {
          break
        }
        try await Task.sleep(for: .milliseconds(10))
      }
      #expect(
        metrics.contains("belfry_streams{loop=\"0\"} 0") && metrics.contains("belfry_streams{loop=\"1\"} 0"))
      #expect(
        metrics.contains("belfry_sockets{loop=\"0\"} 0") && metrics.contains("belfry_sockets{loop=\"1\"} 0"))
    }
  }
}
