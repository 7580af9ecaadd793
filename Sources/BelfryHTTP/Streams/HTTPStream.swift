import BelfryLoop
import BelfrySystem
import BelfryTransport
import Glibc

/// An answer that goes on, sent as its source has bytes.
///
/// The stream has its connection to itself: an idle stream costs its objects, and a message costs one write.
/// A stream with a receiver is read from too, as long as its client takes the bytes that it is sent.
package final class HTTPStream {
  private enum Phase {
    case open
    /// Nothing is pulled any more; what is unsent still goes out.
    case ending
    /// All bytes were sent, and the source is gone. Bytes that still arrive are thrown away until the client
    /// closes. If the connection were closed with unread bytes, or before the client's next bytes, the kernel
    /// would discard the last bytes sent.
    case lingering
    case closed

    var sends: Bool { self == .open || self == .ending }
  }

  private let transport: any ByteTransport
  private let isChunked: Bool
  /// The set holds the stream until it has finished.
  private let set: StreamSet
  private var phase: Phase
  private var source: (any HTTPStreamSource)?
  private var receiver: (any HTTPStreamReceiver)?
  private var watch: Watch?
  /// The bytes that the kernel did not take at once: the response's head, or at most one chunk.
  private var unsent: [UInt8]
  private var unsentStart = 0
  /// Runs while the socket is full.
  private var stallTimer: LoopTimer?
  private var lingerTimer: LoopTimer?

  /// Its index in the set; and if it is queued there to send.
  var position = 0
  var isAwake = false

  /// - Parameter transport: owned by the stream from here on, unless this fails.
  init(
    on transport: any ByteTransport, head: [UInt8], isChunked: Bool, hasBody: Bool,
    source: any HTTPStreamSource, receiver: (any HTTPStreamReceiver)?, in set: StreamSet
  ) throws(SystemError) {
    self.transport = transport
    self.isChunked = isChunked
    self.set = set
    self.source = source
    self.receiver = receiver
    unsent = head
    phase = hasBody ? .open : .ending
    watch = try set.loop.watch(transport.descriptor, for: interest) { [unowned self] in handle($0) }
    // A client whose machine has vanished acknowledges nothing, and by default the kernel waits a quarter of
    // an hour. This time is longer than the stall timer, which knows the cause if the client is there and
    // does not read.
    let (seconds, _) = set.stallTime.components
    setOption(TCP_USER_TIMEOUT, Int32(clamping: (seconds + 30) * 1_000))
  }

  package var isClosed: Bool { phase == .closed }
  /// True if the client has not yet taken the bytes that it was sent.
  var isBlocked: Bool { stallTimer != nil }

  /// True if the client's machine has not yet acknowledged the bytes that were sent.
  var hasUnacknowledged: Bool {
    guard phase.sends else { return false }
    var count: Int32 = 0
    return unsafe ioctl(transport.descriptor, UInt(TIOCOUTQ), &count) == 0 && count > 0
  }

  /// The receiver takes more than before, or less.
  func receiverChanged() {
    if phase != .closed { listen() }
  }

  /// The source has something again. It is pulled once before the loop waits, however often this was called, and not
  /// inside this call.
  package func wake() {
    // A full socket pulls when it can be written to again.
    guard phase.sends, stallTimer == nil else { return }
    set.wake(self)
  }

  /// Pulls and sends until the source is empty, the socket full, or the stream's turn over.
  func pump() {
    isAwake = false
    guard phase.sends, sendUnsent() else { return }
    for _ in 0..<HTTPLimits.streamChunksPerTurn where phase == .open {
      switch pull() {
      case .bytes(let count, let more):
        guard unsafe send(set.buffer.framed(count, isChunked: isChunked)), more else { return }
      case .wait:
        return
      case .end:
        phase = .ending
        if isChunked, unsafe !ChunkBuffer.last.withUnsafeBytes({ unsafe send($0) }) { return }
      }
    }
    switch phase {
    case .open: wake()
    case .ending: end()
    case .lingering, .closed: break
    }
  }

  /// Ends the stream after all bytes were sent. A client that only listens has nothing on its way that would
  /// be unread.
  private func end() {
    guard receiver != nil else { return finish(.ended) }
    phase = .lingering
    transport.finishWriting()
    lingerTimer = set.loop.schedule(after: set.socketCloseTime) { [unowned self] in finish(.ended) }
    listen()
    let source = source
    (self.source, receiver) = (nil, nil)
    source?.finished(.ended)
  }

  private func discard() {
    switch unsafe transport.read(into: set.buffer.payload) {
    case .bytes, .wait: break
    case .end, .lost: finish(.ended)
    }
  }

  /// Ends it, once.
  func finish(_ end: HTTPStreamEnd) {
    guard phase != .closed else { return }
    if end == .ended, phase != .lingering { discardUnread() }
    phase = .closed
    stallTimer?.cancel()
    lingerTimer?.cancel()
    watch?.cancel()
    transport.close()
    set.remove(self)
    let source = source
    (self.source, receiver) = (nil, nil)
    source?.finished(end)
  }

  /// Reads bytes that have arrived. If the stream were closed with unread bytes, the kernel would discard the
  /// last bytes sent.
  private func discardUnread() {
    transport.finishWriting()
    for _ in 0..<HTTPLimits.streamChunksPerTurn {
      guard case .bytes = unsafe transport.read(into: set.buffer.payload) else { return }
    }
  }

  private func pull() -> HTTPPull {
    let payload = unsafe set.buffer.payload
    guard let pull = unsafe source?.pull(into: payload) else { return .wait }
    // An empty chunk would end the body.
    guard case .bytes(let count, let more) = pull else { return pull }
    return count > 0 ? .bytes(min(count, payload.count), more: more) : .wait
  }

  private func handle(_ readiness: Readiness) {
    // A client that has closed its sending side counts as gone. Few clients close only that side, and nothing
    // else shows that a client has left until something is sent to it.
    guard readiness.isDisjoint(with: [.hangup, .error]) else { return finish(.clientGone) }
    if phase == .lingering { return discard() }
    if let receiver {
      if !readiness.isDisjoint(with: [.readable, .peerClosed]) { receive(for: receiver) }
    } else if readiness.contains(.peerClosed) {
      return finish(.clientGone)
    }
    pump()
  }

  private func receive(for receiver: any HTTPStreamReceiver) {
    guard phase.sends, receiver.wantsBytes, stallTimer == nil else { return listen() }
    // Nothing is sent meanwhile, so the buffer is free.
    switch unsafe transport.read(into: set.buffer.payload) {
    case .bytes(let count):
      receiver.received(unsafe Array(set.buffer.payload[..<count]))
      receiverChanged()
    case .wait: break
    case .end, .lost: finish(.clientGone)
    }
  }
}

// MARK: The socket

extension HTTPStream {
  /// - Returns: true if all of it left, so that there is more to do now.
  private func sendUnsent() -> Bool {
    guard unsentStart < unsent.count else { return true }
    // SAFETY: the transport has taken what it takes when it returns.
    let sent = unsafe unsent[unsentStart...].withUnsafeBytes { unsafe transport.write($0) }
    guard let sent = accepted(sent) else { return false }
    unsentStart += sent
    guard unsentStart == unsent.count else {
      if sent > 0 || stallTimer == nil { block() }
      return false
    }
    unsent = []
    unsentStart = 0
    unblock()
    return true
  }

  /// - Returns: true if all of it left; the rest is kept.
  private func send(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let sent = unsafe transport.write(bytes)
    guard let sent = accepted(sent) else { return false }
    guard sent < bytes.count else { return true }
    unsent = unsafe Array(bytes[sent...])
    block()
    return false
  }

  /// The number of bytes that were taken; nil if the connection is lost, and the stream finished.
  private func accepted(_ result: TransportResult) -> Int? {
    switch result {
    case .bytes(let count): return count
    case .wait: return 0
    case .end, .lost:
      finish(.clientGone)
      return nil
    }
  }

  private func block() {
    // The time begins again each time the client takes bytes.
    stallTimer?.cancel()
    stallTimer = set.loop.schedule(after: set.stallTime) { [unowned self] in finish(.stalled) }
    listen()
  }

  private func unblock() {
    guard let stallTimer else { return }
    stallTimer.cancel()
    self.stallTimer = nil
    listen()
  }

  /// The events that the stream needs. Without a receiver that is only the end of the connection. With a
  /// receiver it is only the arrival of bytes, because the end comes after bytes that are still to be read.
  private var interest: Readiness {
    if phase == .lingering { return [.readable, .peerClosed] }
    var interest: Readiness = stallTimer == nil ? [] : .writable
    guard let receiver else { return interest.union(.peerClosed) }
    if stallTimer == nil, receiver.wantsBytes { interest.formUnion(.readable) }
    return interest
  }

  private func listen() {
    do throws(SystemError) {
      try watch?.update(interest)
    } catch {
      // Without events of its socket the stream would hang for ever.
      finish(.clientGone)
    }
  }

  private func setOption(_ option: Int32, _ value: Int32) {
    var value = value
    unsafe setsockopt(
      transport.descriptor, Int32(IPPROTO_TCP), option, &value, socklen_t(MemoryLayout<Int32>.size))
  }
}
