package import BelfryBytes
import BelfryLoop

/// A connection that has become a WebSocket (RFC 6455): a stream that is also read from.
///
/// It answers pings and closes by itself. It pulls bytes from its owner when the client takes them, so a
/// client that does not read costs no memory. While its own frames wait for such a client, it does not read
/// from that client. An idle socket holds no buffer.
package final class WebSocket {
  private enum Phase {
    case open
    /// The close frame is queued or sent, and the socket waits for the client's.
    case closing
    /// Both sides have closed; queued bytes still go out.
    case closed
  }

  private let owner: any WebSocketOwner
  private let loop: EventLoop
  private let budgets: HTTPBudgets
  private let closeTime: Duration
  /// The two refer to each other until the stream has finished and lets go.
  private var stream: HTTPStream?
  private var reader: FrameReader
  private var phase = Phase.open
  /// Frames that go out before anything of the owner's.
  private var outgoing: ArraySlice<UInt8> = []
  /// The owner has given a part of a frame, and nothing may come between.
  private var isWithinFrame = false
  /// The bytes that have arrived and were not taken.
  private var unread: [UInt8] = []
  /// Counts the message that arrives.
  private var held: HeldBytes?
  private var isTaking = false
  private var closeTimer: LoopTimer?
  /// True if frames or parts of frames have arrived since ``hasHeard()`` was last called.
  private var isHeard = false

  /// The account whose budget messages count in, in addition to the common budget; nil: only the common
  /// budget.
  package var account: UTF8Text?

  init(_ owner: any WebSocketOwner, messageBytesMax: Int, on server: HTTPServer) {
    self.owner = owner
    reader = FrameReader(messageBytesMax: messageBytesMax)
    (loop, budgets, closeTime) = (server.loop, server.budgets, server.limits.socketCloseTime)
  }

  func opened(on stream: HTTPStream?, _ rest: [UInt8]) {
    guard phase != .closed, let stream else { return }
    self.stream = stream
    if !rest.isEmpty { received(rest) }
  }

  // MARK: For the owner

  package var isClosing: Bool { phase != .open }

  /// True if the client takes nothing more at present.
  package var isBlocked: Bool { stream?.isBlocked ?? false }

  /// True if the client's machine has not yet acknowledged the bytes that it was sent: a client may be long
  /// in reading them.
  package var hasUnacknowledged: Bool { stream?.hasUnacknowledged ?? false }

  /// True if a message has begun to arrive and is not complete yet.
  package var isWithinMessage: Bool { reader.isWithinMessage }

  /// True if anything has arrived since the last call.
  package func hasHeard() -> Bool {
    defer { isHeard = false }
    return isHeard
  }

  /// The owner has something to be pulled.
  package func wake() { stream?.wake() }

  /// Sends a text before everything that is pulled from the owner. It is for texts whose number is limited.
  package func say(_ text: [UInt8]) {
    guard phase == .open else { return }
    queue(WebSocketFrame.bytes(message: text))
  }

  /// Sets the limit from the next message on.
  package func allow(messageBytesMax: Int) { reader.messageBytesMax = messageBytesMax }

  /// The owner takes messages again.
  package func takeMore() {
    guard !isTaking else { return }
    take([])
    stream?.receiverChanged()
  }

  package func close(_ close: WebSocketClose) {
    guard phase == .open else { return }
    phase = .closing
    // Nobody will read what is still to come, and others need the room.
    reader.dropMessages()
    held = nil
    queue(WebSocketFrame.bytes(control: .close, close.payload))
    closeTimer = loop.schedule(after: closeTime) { [unowned self] in
      // The client closes no more, or reads no more.
      stream?.finish(.ended)
    }
    // The client's close frame may have arrived already.
    takeMore()
  }

  private func queue(_ frame: [UInt8]) {
    outgoing += frame
    stream?.wake()
  }
}

// MARK: - What arrives

extension WebSocket: HTTPStreamReceiver {
  var wantsBytes: Bool { phase == .closing || phase == .open && unread.isEmpty && owner.takesMessages }

  func received(_ bytes: [UInt8]) {
    isHeard = true
    take(bytes)
  }

  private func take(_ bytes: [UInt8]) {
    isTaking = true
    defer { isTaking = false }
    let all = unread.isEmpty ? bytes : unread + bytes
    unread = []
    var rest = all[...]
    while phase == .closing || phase == .open && owner.takesMessages {
      let step = reader.next(&rest)
      let lightFrames = reader.takeLightFrames()
      if lightFrames > 0, phase == .open { owner.received(lightFrames: lightFrames) }
      if case .incomplete = step { break }
      take(step)
    }
    if phase == .open, !rest.isEmpty { unread = Array(rest) }
    countMessage()
  }

  private func take(_ step: FrameReader.Step) {
    switch step {
    case .incomplete, .pong: break
    case .text(let text):
      let held = held
      self.held = nil
      if phase == .open { owner.received(text, held: held) }
    case .ping(let payload):
      if phase == .open { queue(WebSocketFrame.bytes(control: .pong, payload)) }
    case .close(let code):
      close(WebSocketClose(answering: code))
      end()
    case .refused(let flaw):
      close(flaw)
      end()
    }
  }

  /// Sends the queued bytes, and then ends the connection. The rest of a refused frame is thrown away
  /// meanwhile.
  private func end() {
    phase = .closed
    stream?.wake()
  }

  private func countMessage() {
    guard reader.heldBytes > HeldBytes.uncountedBytes else { return }
    let held = held ?? HeldBytes(of: budgets.bodies, for: account)
    self.held = held
    if held.grow(to: reader.heldBytes) != nil { close(.tryAgainLater) }
  }
}

// MARK: - What goes out

extension WebSocket: HTTPStreamSource {
  package func pull(into buffer: UnsafeMutableRawBufferPointer) -> HTTPPull {
    var count = 0
    if isWithinFrame {
      guard let written = unsafe pullOwner(into: buffer) else { return .end }
      count = written.count
      if isWithinFrame { return .bytes(count, more: true) }
    }
    let queued = min(outgoing.count, buffer.count - count)
    if queued > 0 {
      // SAFETY: both ranges have as many bytes.
      unsafe outgoing.withUnsafeBytes { queue in
        let room = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count..<(count + queued)])
        unsafe room.copyMemory(from: UnsafeRawBufferPointer(rebasing: queue[..<queued]))
      }
      outgoing = queued == outgoing.count ? [] : outgoing.dropFirst(queued)
      count += queued
    }
    guard outgoing.isEmpty, count < buffer.count else { return .bytes(count, more: true) }
    switch phase {
    case .closed: return count > 0 ? .bytes(count, more: true) : .end
    case .closing: return count > 0 ? .bytes(count, more: false) : .wait
    case .open: break
    }
    let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
    guard let written = unsafe pullOwner(into: rest) else { return .bytes(count, more: true) }
    count += written.count
    return count > 0 ? .bytes(count, more: written.more) : .wait
  }

  /// - Returns: nil if the owner has ended, or has ended within a frame, which then can never be completed.
  private func pullOwner(into buffer: UnsafeMutableRawBufferPointer) -> (count: Int, more: Bool)? {
    switch unsafe owner.pull(into: buffer) {
    case .bytes(let count, let more, let isWhole):
      isWithinFrame = !isWhole
      return (count, more)
    case .wait: return (0, false)
    case .end(let close):
      self.close(close)
      return nil
    }
  }

  package func finished(_ end: HTTPStreamEnd) {
    phase = .closed
    closeTimer?.cancel()
    closeTimer = nil
    stream = nil
    (unread, outgoing, held) = ([], [], nil)
    owner.finished(end)
  }
}
