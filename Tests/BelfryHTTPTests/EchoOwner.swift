import BelfryHTTP

/// Repeats all messages, as an echo server does. The socket pulls the echoes, so they meet pongs and close
/// frames. `hold` keeps it from taking more, until the test releases it.
final class EchoOwner: WebSocketOwner {
  private(set) var socket: WebSocket?
  private(set) var heardCount = 0
  private(set) var lightFrames = 0
  private var pending: [UInt8] = []
  private var written = 0
  private var isHolding = false
  private unowned let handler: TestHandler

  init(_ handler: TestHandler) { self.handler = handler }

  var takesMessages: Bool { !isHolding }

  func opened(_ socket: WebSocket) { self.socket = socket }

  func received(_ text: [UInt8], held: HeldBytes?) {
    heardCount += 1
    if text == Array("hold".utf8) { isHolding = true }
    if text == Array("end".utf8) { return socket?.close(WebSocketClose(4_000, "as asked")) ?? () }
    var frame: [UInt8] = []
    frame.append(addingCapacity: WebSocketFrame.byteCountMost(ofMessage: text.count)) {
      WebSocketFrame.append(message: text, to: &$0)
    }
    pending += frame
    socket?.wake()
  }

  func received(lightFrames count: Int) { lightFrames += count }

  func letGo() {
    isHolding = false
    socket?.takeMore()
  }

  /// As many messages at once as a slow owner may have to say.
  func say(_ text: [UInt8], times: Int) {
    for _ in 0..<times { received(text, held: nil) }
  }

  func pull(into buffer: UnsafeMutableRawBufferPointer) -> WebSocketPull {
    let count = min(buffer.count, pending.count - written)
    guard count > 0 else { return .wait }
    unsafe buffer.copyBytes(from: pending[written..<(written + count)])
    written += count
    let isWhole = written == pending.count
    if isWhole { (pending, written) = ([], 0) }
    return .bytes(count, more: !isWhole, isWhole: isWhole)
  }

  func finished(_ end: HTTPStreamEnd) {
    handler.notes.append("finished \(end)")
    socket = nil
  }
}
