package import BelfryTransport

/// A WebSocket as its client sees it, frame by frame, which also says what no client library would.
package final class RawSocket: @unchecked Sendable {
  package enum Heard: Sendable, Hashable {
    case text(String)
    case ping([UInt8])
    case pong([UInt8])
    /// Nil: without a code.
    case close(Int?)
    /// The connection has ended.
    case end
  }

  package let connection: RawConnection
  /// The answer to the handshake.
  package let head: RawConnection.Response
  private var mask: UInt32 = 0x1234_5678

  package static let upgrade = [
    ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), ("Sec-WebSocket-Protocol", "belfry.v1.json"),
  ]

  /// - Parameters:
  ///   - early: sent together with the request, and not after its answer.
  ///   - receiveBytes, tls: as of ``RawConnection``.
  package init(
    port: UInt16, path: String = "/v1/socket", headers: [(String, String)] = [], early: [UInt8] = [],
    receiveBytes: Int32? = nil, timeoutSeconds: Int = 60, tls: TLSContext? = nil
  ) throws(FixtureError) {
    connection = try RawConnection(
      port: port, timeoutSeconds: timeoutSeconds, receiveBytes: receiveBytes, tls: tls)
    var text = "GET \(path) HTTP/1.1\r\nHost: test\r\n"
    for (name, value) in Self.upgrade + headers { text += "\(name): \(value)\r\n" }
    connection.send(Array((text + "\r\n").utf8) + early)
    head = try connection.readHead()
  }

  // MARK: Saying

  /// - Parameter first: the opcode, and whether the frame is the last of its message.
  @discardableResult
  package func send(_ first: UInt8, _ payload: [UInt8], isMasked: Bool = true) -> Bool {
    connection.send(frame(first, payload, isMasked: isMasked))
  }

  @discardableResult
  package func say(_ text: String) -> Bool { send(0x81, Array(text.utf8)) }

  package func frame(_ first: UInt8, _ payload: [UInt8], isMasked: Bool = true) -> [UInt8] {
    mask = mask &* 1_664_525 &+ 1_013_904_223
    return Self.frame(first, payload, mask: isMasked ? mask : nil)
  }

  package static func frame(_ first: UInt8, _ payload: [UInt8], mask: UInt32?) -> [UInt8] {
    let bit: UInt8 = mask == nil ? 0 : 0x80
    var bytes = [first]
    switch payload.count {
    case ..<126: bytes.append(bit | UInt8(payload.count))
    case ..<65_536: bytes += [bit | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    default:
      bytes.append(bit | 127)
      for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(payload.count >> shift & 0xFF)) }
    }
    guard let mask else { return bytes + payload }
    let key = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: mask >> $0) }
    return bytes + key + payload.enumerated().map { $0.element ^ key[$0.offset & 3] }
  }

  package static func closing(_ code: Int) -> [UInt8] {
    [UInt8(truncatingIfNeeded: code >> 8), UInt8(truncatingIfNeeded: code)]
  }

  // MARK: Hearing

  /// The next message or control frame.
  package func hear() throws(FixtureError) -> Heard {
    var text: [UInt8] = []
    while true {
      guard let head = try? connection.read(count: 2) else {
        return connection.ends() ? .end : try fail("nothing was heard")
      }
      guard head[1] & 0x80 == 0 else { return try fail("a broker's frame is masked") }
      var count = Int(head[1])
      if count >= 126 {
        count = try connection.read(count: count == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) }
      }
      let payload = try connection.read(count: count)
      switch head[0] & 0x0F {
      case 8: return .close(payload.count < 2 ? nil : Int(payload[0]) << 8 | Int(payload[1]))
      case 9: return .ping(payload)
      case 10: return .pong(payload)
      case 0, 1:
        text += payload
        if head[0] & 0x80 != 0 { return .text(String(decoding: text, as: UTF8.self)) }
      default: return try fail("a frame with \(head[0])")
      }
    }
  }

  private func fail(_ text: String) throws(FixtureError) -> Heard { throw FixtureError(text) }
}
