import BelfryBytes

/// The parts of frames (RFC 6455 section 5.2).
package enum WebSocketFrame {
  package enum Opcode: UInt8, Sendable {
    case continuation = 0, text, binary
    case close = 8
    case ping, pong

    var isControl: Bool { rawValue >= 8 }
  }

  /// The longest payload of a frame, and of a message, in either direction.
  package static let payloadBytesMax = 64 * 1_024
  /// The head of a server's frame of at most that many bytes.
  package static let headBytesMost = 10
  /// The longest payload of a control frame.
  static let controlBytesMax = 125

  static let lastBit: UInt8 = 0x80
  static let reservedBits: UInt8 = 0x70
  static let maskBit: UInt8 = 0x80
  static let twoBytesFollow: UInt8 = 126
  static let eightBytesFollow: UInt8 = 127

  /// The head of a frame from a server, which is not masked. There must be room for it.
  package static func appendHead(
    _ opcode: Opcode, payloadBytes count: Int, isLast: Bool = true, to text: inout OutputSpan<UInt8>
  ) {
    text.append(opcode.rawValue | (isLast ? lastBit : 0))
    switch count {
    case ...controlBytesMax: text.append(UInt8(truncatingIfNeeded: count))
    case ...Int(UInt16.max):
      text.append(twoBytesFollow)
      append(count, bytes: 2, to: &text)
    default:
      text.append(eightBytesFollow)
      append(count, bytes: 8, to: &text)
    }
  }

  private static func append(_ number: Int, bytes count: Int, to text: inout OutputSpan<UInt8>) {
    for index in (0..<count).reversed() { text.append(UInt8(truncatingIfNeeded: number >> (index * 8))) }
  }

  /// A message of text in as many frames as its length needs. There must be room for it: ``byteCountMost(ofMessage:)``.
  package static func append(message: [UInt8], to text: inout OutputSpan<UInt8>) {
    var start = 0
    repeat {
      let end = min(start + payloadBytesMax, message.count)
      appendHead(
        start == 0 ? .text : .continuation, payloadBytes: end - start, isLast: end == message.count, to: &text
      )
      if start == 0, end == message.count {
        text.append(contentsOf: message)
      } else {
        text.append(contentsOf: Array(message[start..<end]))
      }
      start = end
    } while start < message.count
  }

  package static func byteCountMost(ofMessage count: Int) -> Int {
    count + headBytesMost * (count / payloadBytesMax + 1)
  }

  static func bytes(message: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(addingCapacity: byteCountMost(ofMessage: message.count)) {
      append(message: message, to: &$0)
    }
    return bytes
  }

  /// - Parameter payload: as much as a control frame may have.
  static func bytes(control opcode: Opcode, _ payload: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(addingCapacity: headBytesMost + payload.count) {
      appendHead(opcode, payloadBytes: payload.count, to: &$0)
      $0.append(contentsOf: payload)
    }
    return bytes
  }
}

/// Why a WebSocket ends, as its close frame says (RFC 6455 section 7.4).
package struct WebSocketClose: Error, Sendable, Hashable {
  package let code: Int
  /// For people who look at what their client was told.
  package let reason: String

  /// - Parameter reason: at most 123 bytes; a longer one is cut.
  package init(_ code: Int, _ reason: String = "") {
    self.code = code
    self.reason = UTF8Text(reason).beginning(bytes: WebSocketFrame.controlBytesMax - 2)
  }

  /// The answer to a client that closes: the client's own code, or none if it gave none.
  init(answering code: Int?) { self.init(code ?? Self.noCode) }

  private static let noCode = 1_005

  var payload: [UInt8] {
    guard code != Self.noCode else { return [] }
    return [UInt8(truncatingIfNeeded: code >> 8), UInt8(truncatingIfNeeded: code)] + reason.utf8
  }

  static func violation(_ reason: String) -> WebSocketClose { WebSocketClose(1_002, reason) }
  package static let unsupportedData = WebSocketClose(1_003, "only text messages are accepted")
  static let notUTF8 = WebSocketClose(1_007, "a text message must be UTF-8")
  static func tooLong(limitBytes: Int) -> WebSocketClose {
    WebSocketClose(1_009, "a message has at most \(limitBytes) bytes")
  }
  package static let tryAgainLater = WebSocketClose(
    1_013, "this broker has reached its memory limit for requests")

  /// True if a client may send this code. The others are reserved, or have no meaning yet.
  static func isSayable(_ code: Int) -> Bool {
    switch code {
    case 1_000...1_003, 1_007...1_014, 3_000...4_999: true
    default: false
    }
  }
}
