import BelfryModel
import Foundation
import TestKit
import Testing

@testable import BelfryServer

@Suite struct StreamRouteTests {
  private func send(_ broker: TestBroker, to account: String, _ body: String) throws -> String {
    let sent = try broker.ask(
      "POST", "/v1/notifications", as: try broker.token("app", .app),
      #"{"toAccids":["\#(account)"],"body":"\#(body)"}"#)
    return try #require(sent.json["messageServerId"]?.text)
  }

  @Test func unreadFirstThenLiveThenResumed() async throws {
    try await withBroker(loops: 2) { broker in
      let bob = try broker.token("bob")
      _ = try send(broker, to: "bob", "before")
      let stream = try broker.connect()
      stream.begin("GET", "/v1/notifications/stream", as: bob)
      let head = try stream.answer(hasBody: false)
      #expect(head.status == 200)
      #expect(head.headers["content-type"] == "text/event-stream")
      #expect(head.headers["cache-control"] == "no-store")
      #expect(head.headers["x-content-type-options"] == "nosniff")
      #expect(try stream.nextEvent()?.json["body"] == "before")
      _ = try send(broker, to: "bob", "live")
      let live = try #require(try stream.nextEvent())
      #expect(live.name == "notification")
      #expect(live.json["body"] == "live")
      let cursor = try #require(live.id)
      stream.close()

      let missed = try send(broker, to: "bob", "missed")
      for (path, headers) in [
        ("/v1/notifications/stream", [("Last-Event-ID", cursor)]),
        ("/v1/notifications/stream?after=\(cursor)", []),
        ("/v1/notifications/stream?after=2.1", [("Last-Event-ID", cursor)]),
      ] {
        let resumed = try broker.connect()
        resumed.begin("GET", path, as: bob, headers: headers)
        #expect(try resumed.answer(hasBody: false).status == 200)
        #expect(try resumed.nextEvent()?.json["messageServerId"]?.text == missed)
      }
    }
  }

  @Test func readIsToldToOtherDevicesOnly() async throws {
    try await withBroker { broker in
      let (phone, desk) = (try broker.token("bob", device: "phone"), try broker.token("bob", device: "desk"))
      let id = try send(broker, to: "bob", "x")
      let streams = try [phone, desk].map { token in
        let stream = try broker.connect()
        stream.begin("GET", "/v1/notifications/stream", as: token)
        _ = try stream.answer(hasBody: false)
        #expect(try stream.nextEvent()?.json["body"] == "x")
        return stream
      }
      let body = #"{"items":[{"messageServerId":"\#(id)","type":100}]}"#
      #expect(try broker.ask("POST", "/v1/notifications/read", as: phone, body).json["read"] == 1)
      #expect(try streams[1].nextEvent()?.json["messageServerIds"] == [.string(id)])
      _ = try send(broker, to: "bob", "next")
      #expect(try streams[0].nextEvent()?.json["body"] == "next")
    }
  }

  @Test func aStreamEndsWithItsToken() async throws {
    try await withBroker { broker in
      let stream = try broker.connect()
      try broker.withShortToken("bob") { token in
        stream.begin("GET", "/v1/notifications/stream", as: token)
        return try stream.answer(hasBody: false).status == 200
      }
      let last = try #require(try stream.nextEvent())
      #expect(last.name == "kicked")
      #expect(last.json == ["reason": "tokenExpired", "retry": false])
      #expect(try stream.nextEvent() == nil)
    }
  }

  @Test func whoWaitsIsToldNothingOnceTheTokenHasExpired() async throws {
    try await withBroker { broker in
      let waiting = try broker.connect()
      let begin = ContinuousClock.now
      waiting.begin("GET", "/v1/notifications?wait=60", as: try broker.token("bob", seconds: 2))
      let answer = try waiting.answer()
      #expect(answer.status == 401)
      // This is long before the end of the wait.
      #expect(begin.duration(to: .now) < .seconds(45))
      _ = try send(broker, to: "bob", "later")
      let again = try broker.ask("GET", "/v1/notifications?wait=30", as: try broker.token("bob"))
      #expect(again.json["notifications"]?.elements.count == 1)
    }
  }

  @Test func anAccountHasSoManyStreamsOnAllLoops() async throws {
    var limits = Limits()
    limits.streamsPerAccount = 3
    try await withBroker(loops: 2, limits: limits) { broker in
      let bob = try broker.token("bob")
      var streams = try (0..<3).map { _ in
        let stream = try broker.connect()
        stream.begin("GET", "/v1/notifications/stream", as: bob)
        #expect(try stream.answer(hasBody: false).status == 200)
        return stream
      }
      for path in ["/v1/notifications/stream", "/v1/notifications?wait=1"] {
        let refused = try broker.ask("GET", path, as: bob)
        #expect(refused.status == 422)
        #expect(refused.code == "tooMany")
      }
      #expect(try broker.ask("GET", "/v1/notifications/stream", as: try broker.token("eve")).status == 200)
      streams.removeLast().close()
      for _ in 0..<6_000 where broker.broker.accountLimits.connectionSlots(of: "bob") == 3 {
        try await Task.sleep(for: .milliseconds(10))
      }
      let stream = try broker.connect()
      stream.begin("GET", "/v1/notifications/stream", as: bob)
      #expect(try stream.answer(hasBody: false).status == 200)
    }
  }

  @Test func whoLeavesWhileWaitingMakesRoom() async throws {
    try await withBroker { broker in
      let waiting = try broker.connect()
      waiting.begin("GET", "/v1/notifications?wait=60", as: try broker.token("bob"))
      for _ in 0..<6_000 where broker.broker.accountLimits.connectionSlots(of: "bob") == 0 {
        try await Task.sleep(for: .milliseconds(10))
      }
      #expect(broker.broker.accountLimits.connectionSlots(of: "bob") == 1)
      waiting.close()
      for _ in 0..<6_000 where broker.broker.accountLimits.connectionSlots(of: "bob") == 1 {
        try await Task.sleep(for: .milliseconds(10))
      }
      #expect(broker.broker.accountLimits.connectionSlots(of: "bob") == 0)
    }
  }

  @Test func drainingSendsEverybodyAway() async throws {
    try await withBroker(loops: 2) { broker in
      let bob = try broker.token("bob")
      let streams = try (0..<4).map { _ in
        let stream = try broker.connect()
        stream.begin("GET", "/v1/notifications/stream", as: bob)
        #expect(try stream.answer(hasBody: false).status == 200)
        return stream
      }
      let waiting = try broker.connect()
      waiting.begin("GET", "/v1/notifications?wait=60", as: bob)
      for _ in 0..<6_000 where broker.broker.accountLimits.connectionSlots(of: "bob") < 5 {
        try await Task.sleep(for: .milliseconds(10))
      }
      broker.broker.drain()
      for stream in streams {
        let last = try #require(try stream.nextEvent())
        #expect(last.name == "kicked")
        #expect(last.json == ["reason": "shutdown", "retry": true])
        #expect(try stream.nextEvent() == nil)
      }
      let answer = try waiting.answer()
      #expect(answer.status == 200)
      #expect(answer.json["notifications"] == [])
      #expect(waiting.ends())
      #expect(throws: FixtureError.self) {
        for _ in 0..<1_000 { _ = try broker.connect().ask("GET", "/healthz") }
      }
    }
  }

  @Test func headOfAStreamIsOnlyAHead() async throws {
    try await withBroker { broker in
      let answer = try broker.ask("HEAD", "/v1/notifications/stream", as: try broker.token("bob"))
      #expect(answer.status == 200)
      #expect(answer.headers["content-type"] == "text/event-stream")
    }
  }
}

extension TestBroker {
  /// Opens a stream with a token that expires soon, so that a test can wait for its end. On a machine that
  /// stalls, the token may have expired before it was shown. Then a token with a longer life is tried.
  func withShortToken(_ subject: String, _ open: (_ token: String) throws -> Bool) throws {
    for seconds: Int64 in [2, 5, 20] where try open(try token(subject, seconds: seconds)) { return }
    throw TestFailure("no token was accepted in time")
  }
}

extension AccountLimits {
  fileprivate func connectionSlots(of name: String) -> Int {
    AccountID(name).map { connectionSlots(of: $0) } ?? 0
  }
}
