import BelfryLoop
import BelfrySystem
import CMicroHTTPD
import Glibc

/// An answer without a foreseeable end, sent as its source has something to say.
///
/// It owns its socket: when a request is answered with a stream, MHD lets go of the connection. MHD could hold
/// it, suspended, but keeps 9 KiB for each, does not see a suspended client leave, and to resume one looks at
/// all that are suspended. Here an idle stream costs its objects, and a message costs one `send`.
package final class HTTPStream {
  private enum Phase {
    case open
    /// The source has ended, or there was nothing to pull; what is unsent still goes out.
    case ending
    case closed
  }

  private let descriptor: Int32
  private let isChunked: Bool
  /// Its set holds it, too, until it has finished.
  private let set: StreamSet
  private var phase: Phase
  private var source: (any HTTPStreamSource)?
  private var watch: Watch?
  /// What the kernel did not take: the response's head, then at most one chunk.
  private var unsent: [UInt8]
  private var unsentStart = 0
  /// Runs while the socket is full.
  private var stallTimer: LoopTimer?

  /// Where it stands in its set, and whether it has its turn there.
  var position = 0
  var isAwake = false

  /// - Parameter descriptor: owned by the stream from here on.
  init(
    descriptor: Int32, head: [UInt8], isChunked: Bool, hasBody: Bool, source: any HTTPStreamSource,
    in set: StreamSet
  ) throws(SystemError) {
    self.descriptor = descriptor
    self.isChunked = isChunked
    self.set = set
    self.source = source
    unsent = head
    phase = hasBody ? .open : .ending
    watch = try set.loop.watch(descriptor, for: .peerClosed) { [unowned self] in handle($0) }
    setOption(TCP_NODELAY, 1)
    // A client whose machine vanished acknowledges nothing; by itself the kernel waits a quarter of an hour.
    // Later than the stall timer, which names the cause when the client is there and does not read.
    let (seconds, _) = set.stallTime.components
    setOption(TCP_USER_TIMEOUT, Int32(clamping: (seconds + 30) * 1_000))
  }

  package var isClosed: Bool { phase == .closed }

  /// Says that the source has something again. It is pulled before the loop waits, once however often this
  /// is called until then, and never from inside the call.
  package func wake() {
    // A full socket asks for more by itself.
    guard phase != .closed, stallTimer == nil else { return }
    set.wake(self)
  }

  /// Sends what there is, until the source or the socket has had enough, or the turn is over.
  func pump() {
    isAwake = false
    guard phase != .closed, sendUnsent() else { return }
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
    case .ending: finish(.ended)
    case .closed: break
    }
  }

  /// Ends it, once.
  func finish(_ end: HTTPStreamEnd) {
    guard phase != .closed else { return }
    phase = .closed
    stallTimer?.cancel()
    watch?.cancel()
    close(descriptor)
    set.remove(self)
    let source = source
    self.source = nil
    source?.finished(end)
  }

  private func pull() -> HTTPPull {
    let payload = unsafe set.buffer.payload
    guard let pull = unsafe source?.pull(into: payload) else { return .wait }
    // A chunk of no bytes would be the last one to the client.
    guard case .bytes(let count, let more) = pull else { return pull }
    return count > 0 ? .bytes(min(count, payload.count), more: more) : .wait
  }

  private func handle(_ readiness: Readiness) {
    // A client that has closed its side is taken to be gone: one that only will not speak again is rare, and
    // one that has left is seen by nothing else until something is sent to it.
    guard readiness.isDisjoint(with: [.peerClosed, .hangup, .error]) else { return finish(.clientGone) }
    pump()
  }
}

// MARK: The socket

extension HTTPStream {
  /// - Returns: whether all of it left, so that there is more to do now.
  private func sendUnsent() -> Bool {
    guard unsentStart < unsent.count else { return true }
    let sent = unsafe unsent.withUnsafeBytes {
      unsafe Glibc.send(
        descriptor, $0.baseAddress?.advanced(by: unsentStart), $0.count - unsentStart, HTTPStream.sendFlags)
    }
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

  /// - Returns: whether all of it left; what did not is kept.
  private func send(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let sent = unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, HTTPStream.sendFlags)
    guard let sent = accepted(sent) else { return false }
    guard sent < bytes.count else { return true }
    unsent = unsafe Array(bytes[sent...])
    block()
    return false
  }

  /// How many bytes the kernel took; nil when the connection is lost, and the stream finished.
  private func accepted(_ result: Int) -> Int? {
    if result >= 0 { return result }
    if errno == EAGAIN || errno == EINTR { return 0 }
    finish(.clientGone)
    return nil
  }

  private func block() {
    // Each byte that the client takes gives it the whole time again.
    stallTimer?.cancel()
    stallTimer = set.loop.schedule(after: set.stallTime) { [unowned self] in finish(.stalled) }
    listen(for: [.peerClosed, .writable])
  }

  private func unblock() {
    guard let stallTimer else { return }
    stallTimer.cancel()
    self.stallTimer = nil
    listen(for: .peerClosed)
  }

  private func listen(for readiness: Readiness) {
    do throws(SystemError) {
      try watch?.update(readiness)
    } catch {
      // Without its events it would hang for ever.
      finish(.clientGone)
    }
  }

  private func setOption(_ option: Int32, _ value: Int32) {
    var value = value
    unsafe setsockopt(
      descriptor, Int32(IPPROTO_TCP), option, &value, socklen_t(MemoryLayout<Int32>.size))
  }

  private static let sendFlags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
}
