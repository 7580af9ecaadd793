/// Reads a client's frames as they arrive (RFC 6455 section 5). It is a pure state machine: it receives
/// bytes, and returns their meaning.
///
/// It is strict, as clients must be: their frames are masked, control frames are short and whole, nothing
/// reserved is used, lengths are written in as few bytes as they need, and text is UTF-8. A mistake is
/// reported with the first byte that cannot be right. Between two messages it holds no memory except its own
/// few words.
struct FrameReader {
  enum Step: Equatable {
    /// More has to arrive.
    case incomplete
    case text([UInt8])
    case ping([UInt8])
    case pong
    /// - code: nil if the client gave none.
    case close(code: Int?)
    /// Nothing after it is read.
    case refused(WebSocketClose)
  }

  private enum Phase {
    case head
    case payload
    case ended(WebSocketClose)
  }

  /// The longest message, over all of its frames. A later message may be allowed more.
  var messageBytesMax: Int
  /// Control frames and short fragments since ``takeLightFrames()`` was last called.
  private var lightFrames = 0
  private var phase = Phase.head
  /// The bytes of a frame's head that have arrived: at most 14.
  private var head: [UInt8] = []
  private var opcode = WebSocketFrame.Opcode.continuation
  private var isLastFrame = false
  private var payloadBytes = 0
  private var payloadLeft = 0
  private var mask = FrameMask()
  /// True if a message has begun to arrive. It is text.
  private var isWithinText = false
  private var message: [UInt8] = []
  private var control: [UInt8] = []
  private var utf8 = UTF8Progress()
  /// True if messages are thrown away as they arrive, since only a close frame is waited for.
  private var dropsMessages = false

  init(messageBytesMax: Int) { self.messageBytesMax = messageBytesMax }

  /// True if a frame or a message has begun to arrive and is not complete.
  var isWithinMessage: Bool {
    if case .payload = phase { return true }
    return isWithinText || !head.isEmpty
  }

  var heldBytes: Int { message.count }

  /// Forgets the message that has begun to arrive, and all that come.
  mutating func dropMessages() { (dropsMessages, message) = (true, []) }

  /// The number of frames that were neither a message nor a long part of one. They cost as much as others,
  /// and nothing else limits them: a message may have any number of empty fragments.
  mutating func takeLightFrames() -> Int {
    defer { lightFrames = 0 }
    return lightFrames
  }

  private static let lightBytesMax = 1_023

  /// - Parameter input: the bytes that have arrived; consumed bytes are removed.
  mutating func next(_ input: inout ArraySlice<UInt8>) -> Step {
    while true {
      switch phase {
      case .ended(let close): return .refused(close)
      case .head:
        guard let byte = input.popFirst() else { return .incomplete }
        head.append(byte)
        if let flaw = flawOfHead() { return refuse(flaw) }
        if head.count == headBytes { beginPayload() }
      case .payload:
        guard payloadLeft == 0 || !input.isEmpty else { return .incomplete }
        if let flaw = takePayload(&input) { return refuse(flaw) }
        guard payloadLeft == 0 else { return .incomplete }
        phase = .head
        if let step = finishFrame() { return step }
      }
    }
  }

  private mutating func refuse(_ close: WebSocketClose) -> Step {
    phase = .ended(close)
    (head, message, control) = ([], [], [])
    return .refused(close)
  }
}

// MARK: - Heads

extension FrameReader {
  /// The length of the head, as far as it is known.
  private var headBytes: Int {
    guard head.count > 1 else { return 2 }
    return 2 + lengthBytes + 4
  }

  /// The number of bytes of length that follow the first seven bits.
  private var lengthBytes: Int {
    switch head[1] & ~WebSocketFrame.maskBit {
    case WebSocketFrame.twoBytesFollow: 2
    case WebSocketFrame.eightBytesFollow: 8
    default: 0
    }
  }

  /// The flaw in the last byte of the head; nil if there is none.
  private func flawOfHead() -> WebSocketClose? {
    switch head.count {
    case 1: flawOfFirst(head[0])
    case 2: flawOfSecond(head[1])
    case 2 + lengthBytes: flawOfLength()
    default: nil
    }
  }

  private func flawOfFirst(_ byte: UInt8) -> WebSocketClose? {
    if byte & WebSocketFrame.reservedBits != 0 { return .violation("a reserved bit is set") }
    guard let opcode = WebSocketFrame.Opcode(rawValue: byte & 0x0F) else {
      return .violation("an opcode is reserved")
    }
    if opcode.isControl {
      return byte & WebSocketFrame.lastBit == 0 ? .violation("a control frame is fragmented") : nil
    }
    if opcode == .binary, !isWithinText { return .unsupportedData }
    if opcode == .continuation { return isWithinText ? nil : .violation("there is nothing to continue") }
    return isWithinText ? .violation("a message begins inside another") : nil
  }

  private func flawOfSecond(_ byte: UInt8) -> WebSocketClose? {
    if byte & WebSocketFrame.maskBit == 0 { return .violation("a client's frame must be masked") }
    let length = byte & ~WebSocketFrame.maskBit
    guard length > WebSocketFrame.controlBytesMax else { return flaw(ofLength: Int(length)) }
    return head[0] & 0x08 == 0 ? nil : .violation("a control frame is too long")
  }

  private func flawOfLength() -> WebSocketClose? {
    guard lengthBytes > 0 else { return nil }
    let length = lengthInBytes
    let isShortest = length > (lengthBytes == 2 ? UInt64(WebSocketFrame.controlBytesMax) : UInt64(UInt16.max))
    guard isShortest, length <= UInt64(Int64.max) else {
      return .violation("a length is not encoded in the shortest form")
    }
    return flaw(ofLength: Int(length))
  }

  private var lengthInBytes: UInt64 { head[2..<(2 + lengthBytes)].reduce(0) { $0 << 8 | UInt64($1) } }

  private func flaw(ofLength length: Int) -> WebSocketClose? {
    guard head[0] & 0x08 == 0, length > messageBytesMax - message.count else { return nil }
    return .tooLong(limitBytes: messageBytesMax)
  }

  private mutating func beginPayload() {
    opcode = WebSocketFrame.Opcode(rawValue: head[0] & 0x0F) ?? .continuation
    isLastFrame = head[0] & WebSocketFrame.lastBit != 0
    payloadBytes = lengthBytes > 0 ? Int(lengthInBytes) : Int(head[1] & ~WebSocketFrame.maskBit)
    payloadLeft = payloadBytes
    mask = FrameMask(head.suffix(4))
    head = []
    if !opcode.isControl, opcode != .continuation { (isWithinText, utf8) = (true, UTF8Progress()) }
    phase = .payload
  }
}

// MARK: - Payloads

extension FrameReader {
  private mutating func takePayload(_ input: inout ArraySlice<UInt8>) -> WebSocketClose? {
    let count = min(payloadLeft, input.count)
    guard count > 0 else { return nil }
    payloadLeft -= count
    let part = input.prefix(count)
    input.removeFirst(count)
    guard !opcode.isControl else {
      mask.take(part, to: &control)
      return nil
    }
    if dropsMessages { return nil }
    let start = message.count
    mask.take(part, to: &message)
    return utf8.take(message[start...]) ? nil : .notUTF8
  }

  /// - Returns: nil if the message goes on.
  private mutating func finishFrame() -> Step? {
    if opcode.isControl || !isLastFrame && payloadBytes <= Self.lightBytesMax { lightFrames += 1 }
    guard !opcode.isControl else {
      defer { control = [] }
      return finishControl()
    }
    guard isLastFrame else { return nil }
    defer { (isWithinText, message) = (false, []) }
    return utf8.isBetweenScalars ? .text(message) : refuse(.notUTF8)
  }

  private mutating func finishControl() -> Step {
    switch opcode {
    case .ping: return .ping(control)
    case .pong: return .pong
    case .continuation, .text, .binary, .close: break
    }
    if control.isEmpty { return .close(code: nil) }
    guard control.count >= 2 else { return refuse(.violation("a close code has two bytes")) }
    let code = Int(control[0]) << 8 | Int(control[1])
    guard WebSocketClose.isSayable(code) else {
      return refuse(.violation("the close code \(code) must not be sent"))
    }
    var reason = UTF8Progress()
    guard reason.take(control[2...]), reason.isBetweenScalars else { return refuse(.notUTF8) }
    return .close(code: code)
  }
}

/// The mask of a client's payload (RFC 6455 section 5.3).
private struct FrameMask {
  private var key: UInt32 = 0

  init() {}

  /// - Parameter bytes: four.
  init(_ bytes: ArraySlice<UInt8>) { key = bytes.reduce(0) { $0 << 8 | UInt32($1) } }

  /// Appends the unmasked bytes.
  mutating func take(_ part: ArraySlice<UInt8>, to bytes: inout [UInt8]) {
    var key = key
    bytes.append(addingCapacity: part.count) { room in
      for byte in part {
        key = key << 8 | key >> 24
        room.append(byte ^ UInt8(truncatingIfNeeded: key))
      }
    }
    self.key = key
  }
}
