import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryServer

/// How sockets end: each code that the page lists.
@Suite struct SocketCloseTests {
  @Test func badFrames() async throws {
    try await withBroker { broker in
      let bob = try broker.token("bob")
      let frames = [
        "", "x", "[]", "null", "{", "{}x", #"{"id":2}"#, #"{"send":{}}"#, #"{"id":2,"send":{},"read":{}}"#,
        #"{"id":2,"id":3,"send":{}}"#, #"{"id":0,"send":{}}"#, #"{"id":-1,"send":{}}"#,
        #"{"id":"2","send":{}}"#,
        #"{"id":2.0,"send":{}}"#, #"{"id":9007199254740992,"send":{}}"#, #"{"id":2,"sing":{}}"#,
        #"{"id":2,"send":}"#, #"{"id":2,"send":{}"#, #"{"id":2,"send":{},}"#, #"{"id":2 "send":{}}"#,
        #"{"id":2,"connect":{"token":"x"}}"#, #"{"id":2,"\u0073end":{}}"#,
      ]
      for frame in frames {
        let socket = try broker.connectedSocket(as: bob)
        socket.say(frame)
        #expect(try socket.closeCode() == 4_400, "\(frame)")
      }
      let unknown = try broker.socket()
      unknown.say(#"{"id":1,"send":{"toAccids":["bob"],"body":"x"}}"#)
      #expect(try unknown.closeCode() == 4_400)
      let wrong = try broker.socket()
      wrong.say(#"{"id":1,"connect":{"token":"\#(bob)","after":"nonsense"}}"#)
      #expect(try wrong.answer(to: 1)["problem"]?["field"] == "after")
      #expect(try wrong.closeCode() == 4_400)
    }
  }

  @Test func againstTheProtocol() async throws {
    try await withBroker { broker in
      let bob = try broker.token("bob")
      let hello = Array(#"{"id":2,"send":{}}"#.utf8)
      let cases: [(UInt8, [UInt8], Bool, Int)] = [
        (0x81, hello, false, 1_002), (0xC1, hello, true, 1_002), (0x83, [], true, 1_002),
        (0x89, [UInt8](repeating: 1, count: 126), true, 1_002), (0x82, hello, true, 1_003),
        (0x81, [0xC0, 0xAF], true, 1_007), (0x81, [UInt8](repeating: 0x20, count: 65_537), true, 1_009),
        (0x88, [3], true, 1_002),
      ]
      for (first, payload, isMasked, code) in cases {
        let socket = try broker.connectedSocket(as: bob)
        socket.raw.send(first, payload, isMasked: isMasked)
        #expect(try socket.closeCode() == code)
      }
      // Before the client is known, long messages are not accepted.
      let unknown = try broker.socket()
      unknown.raw.send(0x81, [UInt8](repeating: 0x20, count: 40_000))
      #expect(try unknown.closeCode() == 1_009)
      let leaving = try broker.connectedSocket(as: bob)
      leaving.raw.send(0x88, RawSocket.closing(3_999))
      #expect(try leaving.closeCode() == 3_999)
    }
  }

  @Test func noConnectInTime() async throws {
    try await withBroker { broker in
      let begin = ContinuousClock.now
      let socket = try broker.socket()
      socket.say("{}")
      #expect(try socket.closeCode() == 4_408)
      #expect(begin.duration(to: .now) > .seconds(4.5))
    }
  }

  @Test func whoIsNotAccepted() async throws {
    try await withBroker { broker in
      let socket = try broker.socket()
      socket.say(#"{"id":1,"connect":{"token":"nonsense"}}"#)
      #expect(try socket.answer(to: 1)["problem"]?["status"] == 401)
      #expect(try socket.closeCode() == 4_401)
      var expiring = socket
      try broker.withShortToken("bob") { token in
        expiring = try broker.socket()
        expiring.say(#"{"id":1,"connect":{"token":"\#(token)"}}"#)
        return try expiring.answer(to: 1)["ok"] != nil
      }
      #expect(try expiring.hear("kicked")["reason"] == "tokenExpired")
      #expect(try expiring.closeCode() == 4_401)
    }
  }

  /// The refusal uses the name in the frame, not the name of the header.
  @Test func whatOfAConnectIsWrongIsNamed() async throws {
    try await withBroker { broker in
      let (bob, app) = (try broker.token("bob", device: "phone"), try broker.token("app", .app))
      let cases = [
        (bob, #","account":"alice""#, "forbidden", "account"), (app, "", "invalidField", "account"),
        (bob, #","device":"desk""#, "forbidden", "device"),
      ]
      for (token, more, code, field) in cases {
        let socket = try broker.socket()
        socket.say(#"{"id":1,"connect":{"token":"\#(token)"\#(more)}}"#)
        let problem = try socket.answer(to: 1)["problem"]
        #expect(problem?["code"]?.text == code && problem?["field"]?.text == field, "\(problem ?? .null)")
      }
    }
  }

  @Test func tooManyThatHaveYetToConnect() async throws {
    try await withBroker(configure: { $0.socketsWaitingMax = 3 }) { broker in
      let bob = try broker.token("bob")
      let waiting = try (0..<3).map { _ in try broker.socket() }
      let refused = try broker.ask("GET", "/v1/socket", headers: RawSocket.upgrade)
      #expect(refused.status == 503 && refused.code == "unavailable")
      // A client that sends its token with the request does not wait.
      #expect(try broker.socket(as: bob).answer(to: 0)["ok"] != nil)
      waiting[0].say(#"{"id":1,"connect":{"token":"\#(bob)"}}"#)
      #expect(try waiting[0].answer(to: 1)["ok"] != nil)
      let next = try broker.socket()
      #expect(try broker.ask("GET", "/v1/socket", headers: RawSocket.upgrade).status == 503)
      next.raw.connection.close()
      try await eventually { try broker.socket().raw.head.status == 101 }
    }
  }

  @Test func tooMany() async throws {
    var limits = Limits.unhurried
    limits.streamsPerAccount = 2
    try await withBroker(limits: limits) { broker in
      let bob = try broker.token("bob")
      let open = try (0..<2).map { _ in try broker.connectedSocket(as: bob) }
      let third = try broker.socket()
      third.say(#"{"id":1,"connect":{"token":"\#(bob)"}}"#)
      #expect(try third.answer(to: 1)["problem"]?["code"] == "tooMany")
      #expect(try third.closeCode() == 4_429)
      #expect(try broker.ask("GET", "/v1/notifications/stream", as: bob).code == "tooMany")
      #expect(try broker.ask("GET", "/v1/socket", as: bob, headers: RawSocket.upgrade).code == "tooMany")
      // A client that leaves makes room.
      open[0].raw.send(0x88, [])
      #expect(try open[0].raw.hear() == .close(nil))
      let account: AccountID = "bob"
      for _ in 0..<6_000 where broker.broker.accountLimits.connectionSlots(of: account) == 2 {
        try await Task.sleep(for: .milliseconds(10))
      }
      _ = try broker.connectedSocket(as: bob)
    }
  }

  @Test func replacedEndedAndRevoked() async throws {
    try await withBroker(loops: 2, configure: { $0.logins = .onePerDevice }) { broker in
      let bob = try broker.token("bob", device: "phone")
      // Each is registered a moment after it is connected. While it is not, nothing can end it.
      func listed() throws -> [String] {
        let streams = try broker.ask("GET", "/v1/account/streams", as: bob).json["streams"]?.elements ?? []
        return streams.compactMap { $0["streamId"]?.text }
      }
      let first = try broker.connectedSocket(as: bob)
      try await eventually { try listed().count == 1 }
      let before = try listed()
      let second = try broker.connectedSocket(as: bob)
      #expect(try first.hear("kicked")["reason"] == "replaced")
      #expect(try first.closeCode() == 3_001)
      try await eventually { try listed().count == 1 && listed() != before }
      _ = try broker.ask("DELETE", "/v1/account/streams/phone", as: bob)
      #expect(try second.hear("kicked")["reason"] == "ended")
      #expect(try second.closeCode() == 3_002)
      let third = try broker.connectedSocket(as: bob)
      #expect(try broker.ask("POST", "/v1/account/revoke", as: bob).status == 200)
      #expect(try third.hear("kicked")["reason"] == "tokenRevoked")
      #expect(try third.closeCode() == 3_002)
      let late = try broker.socket()
      late.say(#"{"id":1,"connect":{"token":"\#(bob)"}}"#)
      #expect(try late.answer(to: 1)["problem"]?["code"] == "tokenRevoked")
      #expect(try late.closeCode() == 4_401)
    }
  }

  @Test func drainingSendsEverybodyAway() async throws {
    try await withBroker(loops: 2) { broker in
      let bob = try broker.token("bob")
      let open = try (0..<4).map { _ in try broker.connectedSocket(as: bob) }
      let waiting = try broker.socket()
      broker.broker.drain()
      for socket in open {
        #expect(try socket.hear("kicked") == ["reason": "shutdown", "retry": true])
        #expect(try socket.closeCode() == 3_000)
      }
      #expect(try waiting.closeCode() == 3_000)
    }
  }

  /// A request under way is answered before the socket is closed.
  @Test func whatWasUnderWayIsAnsweredFirst() async throws {
    try await withBroker { broker in
      let bob = try broker.token("bob")
      let sends = try broker.connectedSocket(as: bob)
      try await eventually {
        try broker.ask("GET", "/v1/account/streams", as: bob).json["streams"]?.elements.count == 1
      }
      for id in 2...17 { sends.say(#"{"id":\#(id),"send":{"toAccids":["bob"],"body":"x"}}"#) }
      #expect(try broker.ask("DELETE", "/v1/account/streams", as: bob).status == 200)
      var answers = 0
      reading: while true {
        switch try sends.raw.hear() {
        case .text(let text):
          let frame = try JSONParser.value(of: Array(text.utf8))
          if frame["ok"] != nil, frame["id"]?.number ?? 0 > 1 { answers += 1 }
        case .close(let code):
          #expect(code == 3_002)
          break reading
        case .end: throw TestFailure("ended without a close frame")
        case .ping, .pong: break
        }
      }
      let kept = try broker.ask("GET", "/v1/notifications?limit=100", as: bob).json["notifications"]
      #expect(kept?.elements.count == answers)
    }
  }

  /// Frames that ask for nothing, as fast as the line takes them. A few of them are allowed.
  @Test func tooManyFramesThatAskForNothing() async throws {
    try await withBroker { broker in
      let bob = try broker.token("bob")
      let floods: [@Sendable (TestSocket) -> Void] = [
        { $0.say("{}") }, { $0.raw.send(0x89, []) }, { $0.raw.send(0x8A, []) }, { $0.raw.send(0x00, []) },
      ]
      for (index, flood) in floods.enumerated() {
        let socket = try broker.connectedSocket(as: bob)
        if index == 3 { socket.raw.send(0x01, []) }
        for _ in 0..<5 * FramePace.atOnce { flood(socket) }
        #expect(try socket.closeCode() == 4_429, "\(index)")
      }
      let calm = try broker.connectedSocket(as: bob)
      for _ in 0..<FramePace.atOnce / 2 { calm.say("{}") }
      calm.say(#"{"id":2,"read":{"upTo":"1"}}"#)
      #expect(try calm.answer(to: 2)["ok"] == ["read": 0])
    }
  }

  @Test func theirPaceGrowsAgain() {
    let start = ContinuousClock.now
    var pace = FramePace()
    let outcomes = [
      pace.take(FramePace.atOnce, now: start), pace.take(1, now: start),
      pace.take(FramePace.perSecond, now: start + .seconds(1)), pace.take(1, now: start + .seconds(1)),
      pace.take(FramePace.atOnce, now: start + .seconds(3_600)), pace.take(1, now: start + .seconds(3_600)),
    ]
    #expect(outcomes == [true, false, true, false, true, false])
  }

  /// The client does not answer the first of two beats.
  @Test func whoIsSilent() async throws {
    try await withBroker(configure: { $0.heartbeatSeconds = 3 }) { broker in
      let socket = try broker.connectedSocket(as: try broker.token("bob"))
      let talker = try broker.connectedSocket(as: try broker.token("bob"))
      #expect(try socket.raw.hear() == .text("{}"))
      #expect(try talker.raw.hear() == .text("{}"))
      talker.say("{}")
      #expect(try socket.closeCode() == 4_408)
      #expect(try talker.raw.hear() == .text("{}"))
      talker.raw.send(0x8A, [])
      talker.say(#"{"id":2,"read":{"upTo":"1"}}"#)
      #expect(try talker.answer(to: 2)["ok"] == ["read": 0])
    }
  }
}
