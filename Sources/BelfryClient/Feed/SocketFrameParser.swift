import BelfryModel

/// Reads a broker's frames on a WebSocket (RFC 6455 section 5.2) in pieces of any size, as the network delivers them. It also
/// makes the answers: signs of life, pongs, and a close frame.
struct SocketFrameParser: Sendable {
  private let limitBytes: Int
  private var bytes: [UInt8] = []
  /// The part of the present message that has arrived. Nil between messages.
  private var message: [UInt8]?
  private var replies: [UInt8] = []

  init(limitBytes: Int = ClientLimits.eventBytes) { self.limitBytes = limitBytes }

  mutating func takeReplies() -> [UInt8] {
    defer { replies = [] }
    return replies
  }

  mutating func parse(_ more: some Collection<UInt8>, into items: inout [FeedItem]) throws(FeedFlaw) {
    bytes += more
    var start = 0
    defer { bytes.removeFirst(start) }
    while let frame = try nextFrame(at: start) {
      start = frame.payload.upperBound
      try take(frame.first, Array(bytes[frame.payload]), into: &items)
    }
  }

  /// Nil until the frame has arrived as a whole.
  private func nextFrame(at start: Int) throws(FeedFlaw) -> (first: UInt8, payload: Range<Int>)? {
    guard bytes.count >= start + 2 else { return nil }
    if let flaw = flaw(bytes[start], bytes[start + 1]) { throw .badFrame(flaw) }
    let short = Int(bytes[start + 1] & 0x7F)
    let width = short == 126 ? 2 : short == 127 ? 8 : 0
    let payload = start + 2 + width
    guard bytes.count >= payload else { return nil }
    let length = width == 0 ? UInt64(short) : bytes[(start + 2)..<payload].reduce(0) { $0 << 8 | UInt64($1) }
    guard length <= UInt64(limitBytes - (message?.count ?? 0)) else {
      throw FeedFlaw.tooLong(limitBytes: limitBytes)
    }
    let end = payload + Int(length)
    return bytes.count >= end ? (bytes[start], payload..<end) : nil
  }

  /// Returns the fault of a frame's first two bytes. Nil if there is none.
  private func flaw(_ first: UInt8, _ second: UInt8) -> String? {
    if second & Self.maskBit != 0 { return "it is masked" }
    if first & Self.reservedBits != 0 { return "a reserved bit is set" }
    switch first & 0x0F {
    case 0: return message == nil ? "there is nothing to continue" : nil
    case 1: return message == nil ? nil : "a message begins inside another"
    case 8, 9, 10:
      return first & Self.lastBit == 0 || second > Self.controlBytesMax
        ? "a control frame is long or fragmented" : nil
    default: return "it is neither a text frame nor a control frame"
    }
  }

  private mutating func take(
    _ first: UInt8, _ payload: [UInt8], into items: inout [FeedItem]
  ) throws(FeedFlaw) {
    switch first & 0x0F {
    case 0, 1:
      message = (message ?? []) + payload
      guard first & Self.lastBit != 0, let text = message else { return }
      message = nil
      guard (try? UTF8Span(validating: text.span)) != nil else {
        throw .badFrame("a text message is not UTF-8")
      }
      read(text, into: &items)
    case 8: replies += Self.frame(8, Array(payload.prefix(2)))
    case 9: replies += Self.frame(10, payload)
    default: break
    }
  }

  /// Reads the JSON of one message: the event's name and data, and perhaps a cursor.
  private mutating func read(_ text: [UInt8], into items: inout [FeedItem]) {
    guard let members = try? JSONParser.members(of: text, in: text.startIndex..<text.endIndex) else {
      return items.append(.event(name: "message", data: String(decoding: text, as: UTF8.self), id: nil))
    }
    if members.isEmpty { replies += Self.frame(1, Array("{}".utf8)) }
    var cursor: String?
    for (name, value) in members where name == "cursor" {
      if case .string(let text) = value { cursor = text }
    }
    for (name, value) in members where name != "cursor" && name != "id" {
      if name == "ok" { return wait(value, into: &items) }
      let data = String(decoding: JSONText.bytes(of: value), as: UTF8.self)
      items.append(.event(name: name.string, data: data, id: cursor))
    }
  }

  /// Reads from the answer to connecting how long to wait before the next connection.
  private func wait(_ answer: JSONValue, into items: inout [FeedItem]) {
    guard case .object(let fields) = answer, case .integer(let milliseconds)? = fields["retryMilliseconds"]
    else { return }
    items.append(.retry(.milliseconds(milliseconds)))
  }

  private static let lastBit: UInt8 = 0x80
  private static let reservedBits: UInt8 = 0x70
  private static let maskBit: UInt8 = 0x80
  private static let controlBytesMax: UInt8 = 125

  /// Makes a client's frame, of at most 125 bytes. Clients mask their frames so that no proxy takes the content for a
  /// request. Nobody outside chooses the content of these frames, so any mask will do.
  static func frame(_ opcode: UInt8, _ payload: [UInt8]) -> [UInt8] {
    let mask = (0..<4).map { _ in UInt8.random(in: 0 ... .max) }
    let masked = payload.prefix(125).enumerated().map { $0.element ^ mask[$0.offset & 3] }
    return [lastBit | opcode, lastBit | UInt8(masked.count)] + mask + masked
  }
}
