import BelfryBytes

/// A request for a WebSocket, and the answer to it (RFC 6455 section 4.2). No extension is offered:
/// compression would need its own buffer for each client.
package struct WebSocketHandshake: Sendable {
  package enum Flaw: Error, Sendable, Hashable {
    /// The request asks for no WebSocket, or for one of another version.
    case upgradeNeeded
    case malformed(detail: String)
  }

  /// The fields that may occur only once in a request.
  package static let fieldsGivenOnce = ["Sec-WebSocket-Key", "Sec-WebSocket-Version"]
  /// The headers that tell a client how to ask for a WebSocket.
  package static let upgradeHeaders: [(name: String, value: String)] = [
    ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", version),
  ]

  let headers: [(name: String, value: String)]

  /// - Parameter subprotocol: the protocol that the broker speaks; its case matters. A client that does not
  ///   name it may expect another one.
  package init(_ head: HTTPRequestHead, subprotocol: StaticString) throws(Flaw) {
    guard head.method == Self.method, !head.isHTTP10, head.headers.lists("Upgrade", "websocket"),
      head.headers.lists("Connection", "upgrade"), head.headers["Sec-WebSocket-Version"] == Self.version
    else { throw .upgradeNeeded }
    guard let key = head.headers["Sec-WebSocket-Key"], Base64.decode(key.utf8)?.count == Self.keyBytes else {
      throw .malformed(detail: "Sec-WebSocket-Key must be \(Self.keyBytes) bytes in base64")
    }
    guard head.headers.lists("Sec-WebSocket-Protocol", subprotocol, isExact: true) else {
      throw .malformed(detail: "Sec-WebSocket-Protocol must offer \(subprotocol)")
    }
    headers = [
      ("Upgrade", "websocket"), ("Connection", "Upgrade"),
      ("Sec-WebSocket-Accept", Self.accept(key)), ("Sec-WebSocket-Protocol", "\(subprotocol)"),
    ]
  }

  static func accept(_ key: String) -> String { Base64.encode(Hashing.sha1(Array((key + Self.magic).utf8))) }

  private static let method: UTF8Text = "GET"
  private static let version = "13"
  private static let keyBytes = 16
  /// Source: RFC 6455 section 1.3.
  private static let magic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
}
