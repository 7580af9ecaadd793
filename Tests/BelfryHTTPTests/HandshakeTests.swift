import BelfryBytes
import Testing

@testable import BelfryHTTP

@Suite struct HandshakeTests {
  private static let good = [
    ("Upgrade", "websocket"), ("Connection", "keep-alive, Upgrade"), ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), ("Sec-WebSocket-Protocol", "chat, echo.v1"),
  ]

  private func flaw(
    method: UTF8Text = "GET", version: String = "HTTP/1.1", without: String? = nil,
    _ changed: (String, String)? = nil
  ) -> WebSocketHandshake.Flaw? {
    var fields = Self.good.filter { $0.0 != without && $0.0 != changed?.0 }
    if let changed { fields.append(changed) }
    var text = "\(method.string) /socket \(version)\r\nHost: t\r\n"
    for (name, value) in fields { text += "\(name): \(value)\r\n" }
    var reader = RequestReader(HeadLimits(bytesMax: 8_000), namesOnce: [])
    guard case .head(let head) = reader.next(Array((text + "\r\n").utf8)[...]).step else {
      Issue.record("no head")
      return nil
    }
    let client = ClientAddress(host: "127.0.0.1", isLoopback: true)
    do throws(WebSocketHandshake.Flaw) {
      let handshake = try WebSocketHandshake(
        HTTPRequestHead(head, target: nil, client: client), subprotocol: "echo.v1")
      #expect(handshake.headers.contains { $0.0 == "Sec-WebSocket-Protocol" && $0.1 == "echo.v1" })
      return nil
    } catch {
      return error
    }
  }

  /// The example of RFC 6455, section 1.3.
  @Test func answersTheKey() {
    #expect(WebSocketHandshake.accept("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    #expect(flaw() == nil)
  }

  @Test func asksForAnUpgrade() {
    for name in ["Upgrade", "Connection", "Sec-WebSocket-Version"] {
      #expect(flaw(without: name) == .upgradeNeeded)
    }
    for version in ["8", "12", "14", "13, 8", "", "013"] {
      #expect(flaw(("Sec-WebSocket-Version", version)) == .upgradeNeeded)
    }
    #expect(flaw(("Upgrade", "h2c")) == .upgradeNeeded)
    #expect(flaw(("Connection", "close")) == .upgradeNeeded)
    #expect(flaw(method: "HEAD") == .upgradeNeeded)
    #expect(flaw(method: "POST") == .upgradeNeeded)
    #expect(flaw(version: "HTTP/1.0") == .upgradeNeeded)
  }

  @Test func theKeyIsSixteenBytes() {
    let keys = [
      "", "dGhlIHNhbXBsZSBub25j", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZR==",
      "dGhlIHNhbXBsZSBub25jZQ=A",
      "dGhlIHNhbXBsZSBub25jZQ====", "dGhlIHNhbXBsZSBub25jZXM=", "********************####",
      "_-hlIHNhbXBsZSBub25jZQ==",
    ]
    for key in keys {
      guard case .malformed = flaw(("Sec-WebSocket-Key", key)) else {
        Issue.record("\(key) was taken")
        continue
      }
    }
    guard case .malformed = flaw(without: "Sec-WebSocket-Key") else {
      Issue.record("without a key")
      return
    }
  }

  @Test func theSubprotocolIsOffered() {
    for names in ["chat", "echo.v2", "echo.v1x", "", "ECHO.v1", "Echo.V1", "chat, Echo.v1"] {
      guard case .malformed = flaw(("Sec-WebSocket-Protocol", names)) else {
        Issue.record("\(names) was taken")
        continue
      }
    }
  }
}
