import BelfryModel
import TestKit
import Testing

@testable import BelfryServer

/// A socket, and its frames as JSON.
final class TestSocket {
  let raw: RawSocket

  init(_ raw: RawSocket) { self.raw = raw }

  func say(_ text: String) { raw.say(text) }

  /// The JSON of the next frame; the broker's pings are passed over. Null if the frame is no text.
  func hear() throws -> JSONValue {
    while true {
      guard case .text(let text) = try raw.hear() else { return .null }
      if text != "{}" { return try JSONParser.value(of: Array(text.utf8)) }
    }
  }

  /// The next frame of the one kind; others are passed over.
  func hear(_ name: String) throws -> JSONValue {
    while true {
      let frame = try hear()
      if let value = frame[name] { return value }
      if frame == .null { throw TestFailure("the socket ended before \(name)") }
    }
  }

  func answer(to id: Int64) throws -> JSONValue {
    while true {
      let frame = try hear()
      if frame["id"]?.number == id { return frame }
      if frame == .null { throw TestFailure("the socket ended before \(id) was answered") }
    }
  }

  /// The code with which the socket is closed, after all other frames.
  func closeCode() throws -> Int? {
    while true {
      switch try raw.hear() {
      case .close(let code):
        raw.send(0x88, RawSocket.closing(1_000))
        #expect(try raw.hear() == .end)
        return code
      case .end: throw TestFailure("ended without a close frame")
      case .text, .ping, .pong: break
      }
    }
  }
}

extension TestBroker {
  /// A socket whose client has not sent a token yet.
  func socket(_ query: String = "", as token: String? = nil) throws -> TestSocket {
    let headers = token.map { [("Authorization", "Bearer \($0)")] } ?? []
    return TestSocket(try RawSocket(port: port, path: "/v1/socket" + query, headers: headers))
  }

  func connectedSocket(as token: String, _ more: String = "") throws -> TestSocket {
    let socket = try socket()
    socket.say(#"{"id":1,"connect":{"token":"\#(token)"\#(more)}}"#)
    let answer = try socket.hear()
    let seconds = Int64(broker.configuration.heartbeatSeconds)
    #expect(answer["ok"]?["pingSeconds"]?.number == seconds, "\(answer)")
    return socket
  }

  func send(_ body: String, to account: String) throws -> String {
    let sent = try ask(
      "POST", "/v1/notifications", as: try token("app", .app),
      #"{"toAccids":["\#(account)"],"body":"\#(body)"}"#)
    return try #require(sent.json["messageServerId"]?.text)
  }
}

@Suite struct SocketRouteTests {
  @Test func unreadFirstThenLiveThenResumedOnEither() async throws {
    try await withBroker(loops: 2) { broker in
      let bob = try broker.token("bob")
      _ = try broker.send("before", to: "bob")
      let socket = try broker.connectedSocket(as: bob)
      #expect(try socket.hear("notification")["body"] == "before")
      _ = try broker.send("live", to: "bob")
      let live = try socket.hear()
      #expect(live["notification"]?["body"] == "live")
      let cursor = try #require(live["cursor"]?.text)
      socket.raw.connection.close()

      let missed = try broker.send("missed", to: "bob")
      let resumed = try broker.connectedSocket(as: bob, #","after":"\#(cursor)""#)
      #expect(try resumed.hear("notification")["messageServerId"]?.text == missed)
      let byAddress = try broker.socket("?after=\(cursor)", as: bob)
      #expect(try byAddress.answer(to: 0)["ok"]?["pingSeconds"] == 15)
      #expect(try byAddress.hear("notification")["messageServerId"]?.text == missed)
      let stream = try broker.connect()
      stream.begin("GET", "/v1/notifications/stream", as: bob, headers: [("Last-Event-ID", cursor)])
      _ = try stream.answer(hasBody: false)
      let event = try stream.nextEvent()
      #expect(event?.json["messageServerId"]?.text == missed)
      // And the other way round.
      let again = try broker.connectedSocket(as: bob, #","after":"\#(try #require(event?.id))""#)
      let next = try broker.send("next", to: "bob")
      #expect(try again.hear("notification")["messageServerId"]?.text == next)
    }
  }

  @Test func asksForWhatHTTPAnswers() async throws {
    try await withBroker { broker in
      let server = try broker.makeServer(owner: "alice", members: ["bob"])
      let (phone, desk) = (try broker.token("bob", device: "phone"), try broker.token("bob", device: "desk"))
      let (socket, other) = (try broker.connectedSocket(as: phone), try broker.connectedSocket(as: desk))
      let body = #"{"serverId":"\#(server)","body":"x","messageClientId":"once"}"#
      socket.say(#"{"id":7,"send":\#(body)}"#)
      let sent = try socket.answer(to: 7)
      #expect(sent["ok"]?["duplicate"] == false)
      let id = try #require(sent["ok"]?["messageServerId"]?.text)
      // The announcements of the new server came first.
      while try other.hear("notification")["messageServerId"]?.text != id {}
      socket.say(#" { "resend" : \#(body) , "id" : 8 } "#)
      #expect(try socket.answer(to: 8)["ok"]?["messageServerId"]?.text == id)
      socket.say(#"{"id":9,"read":{"items":[{"messageServerId":"\#(id)"}]}}"#)
      #expect(try socket.answer(to: 9)["ok"] == ["read": 1])
      #expect(try other.hear("read")["messageServerIds"] == [.string(id)])
      for word in ["subscribe", "unsubscribe"] {
        socket.say(#"{"id":10,"\#(word)":{"servers":["\#(server)","404"]}}"#)
        let failed = try socket.answer(to: 10)["ok"]?["failed"]
        #expect(failed?.elements.count == 1)
        #expect(failed?[0]?["serverId"] == "404")
      }
    }
  }

  /// The same body gets the same refusal as over HTTP.
  @Test func refusesAsHTTPDoes() async throws {
    try await withBroker { broker in
      let bob = try broker.token("bob")
      let socket = try broker.connectedSocket(as: bob)
      let cases = [
        ("send", "/v1/notifications", #"{"toAccid":["x"],"body":"b"}"#),
        ("send", "/v1/notifications", #"{"toAccids":["x"],"body":7}"#),
        ("send", "/v1/notifications", #"{"toAccids":["x"],"body":"b","body":"c"}"#),
        ("send", "/v1/notifications", #"{"toAccids":["x"],"body":"\u00"}"#),
        ("send", "/v1/notifications", #"{"toAccids":["x"],"attach":[1 2]}"#),
        ("send", "/v1/notifications", "[]"), ("send", "/v1/notifications", "null"),
        ("resend", "/v1/notifications/resend", #"{"toAccids":["x"],"body":"b"}"#),
        ("read", "/v1/notifications/read", "{}"), ("read", "/v1/notifications/read", #"{"upTo":"x"}"#),
        ("read", "/v1/notifications/read", #"{"upTo":"1","items":[{"messageServerId":"1"}]}"#),
      ]
      for (word, path, body) in cases {
        socket.say(#"{"id":3,"\#(word)":\#(body)}"#)
        let problem = try #require(try socket.answer(to: 3)["problem"])
        #expect(problem == (try broker.ask("POST", path, as: bob, body).json), "\(word) \(body)")
      }
      socket.say(#"{"id":4,"subscribe":{"servers":["1"],"subscribe":false}}"#)
      #expect(try socket.answer(to: 4)["problem"]?["field"] == "subscribe")
    }
  }

  @Test func scopesHoldForFrames() async throws {
    try await withBroker { broker in
      let claims = TokenClaims(
        subject: "bob", role: .user, scopes: [.read], expiresAtSeconds: 4_102_444_800)
      let socket = try broker.connectedSocket(as: broker.broker.keys.signing.mint(claims))
      for (word, scope) in [("send", "send"), ("read", "manage"), ("subscribe", "manage")] {
        socket.say(#"{"id":2,"\#(word)":{}}"#)
        let problem = try socket.answer(to: 2)["problem"]
        #expect(problem?["code"] == "forbidden")
        #expect(problem?["detail"]?.text?.contains(scope) == true)
      }
      let sender = TokenClaims(
        subject: "bob", role: .user, scopes: [.send], expiresAtSeconds: 4_102_444_800)
      let refused = try broker.socket()
      refused.say(#"{"id":1,"connect":{"token":"\#(broker.broker.keys.signing.mint(sender))"}}"#)
      #expect(try refused.answer(to: 1)["problem"]?["code"] == "forbidden")
      #expect(try refused.closeCode() == 4_401)
    }
  }

  @Test func theHandshakeIsStrict() async throws {
    try await withBroker { broker in
      let bob = try broker.token("bob")
      let plain = try broker.ask("GET", "/v1/socket", as: bob)
      #expect(plain.status == 426 && plain.code == "upgradeNeeded")
      #expect(plain.headers["sec-websocket-version"] == "13")
      #expect(plain.headers["upgrade"] == "websocket")
      var headers = RawSocket.upgrade.filter { $0.0 != "Sec-WebSocket-Protocol" }
      #expect(try broker.ask("GET", "/v1/socket", as: bob, headers: headers).status == 400)
      headers = RawSocket.upgrade.map { $0.0 == "Sec-WebSocket-Version" ? ($0.0, "8") : $0 }
      #expect(try broker.ask("GET", "/v1/socket", as: bob, headers: headers).status == 426)
      headers = RawSocket.upgrade + [("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")]
      #expect(try broker.ask("GET", "/v1/socket", as: bob, headers: headers).status == 400)
      #expect(try broker.ask("GET", "/v1/socket", as: "bad", headers: RawSocket.upgrade).status == 401)
      #expect(try broker.ask("POST", "/v1/socket", as: bob).status == 405)
      let socket = try broker.socket(as: bob)
      #expect(socket.raw.head.status == 101)
      #expect(socket.raw.head.headers["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
      #expect(socket.raw.head.headers["sec-websocket-protocol"] == "belfry.v1.json")
      #expect(socket.raw.head.headers["sec-websocket-extensions"] == nil)
    }
  }

  /// The broker also reads the frames of a client that does not wait for the handshake's answer.
  @Test func framesBehindTheRequest() async throws {
    try await withBroker { broker in
      let bob = try broker.token("bob")
      let early = RawSocket.frame(0x81, Array(#"{"id":1,"connect":{"token":"\#(bob)"}}"#.utf8), mask: 7)
      let socket = TestSocket(try RawSocket(port: broker.port, early: early))
      #expect(try socket.answer(to: 1)["ok"] != nil)
    }
  }
}
