import BelfryLoop
import BelfryTransport
import Glibc

protocol RedisSocketOwner: AnyObject {
  func socketDidOpen()
  /// The parser has read one more reply. It keeps the reply until the owner takes it, alone or with those that follow.
  func socketDidReceiveReply(in parser: ReplyParser)
  /// The socket can no longer be used and must be closed.
  func socketDidBreak(_ error: RedisError)
}

/// One non-blocking connection. The bytes in the output buffer at the end of an iteration of the loop are
/// sent in one system call.
///
/// Until `close()` the watch and the hook keep the socket alive, and the socket keeps its owner alive.
final class RedisSocket {
  /// The most bytes that are received in one system call.
  private static let inputBytes = 64 << 10
  /// So many pieces, about a thousand messages, are received before the loop serves others. With far fewer a
  /// busy loop could fall behind until Redis cuts off its subscriber.
  private static let piecesPerTurn = 4

  private enum Phase {
    case connecting
    case handshaking(TLSTransport)
    case open
  }

  private let transport: any ByteTransport
  private let place: String
  private let parser: ReplyParser
  private var owner: (any RedisSocketOwner)?
  private var watch: Watch?
  private var hook: LoopHook?

  private var phase = Phase.connecting
  /// True if the kernel took only a part of the output. An event tells when the kernel takes more.
  private var isFull = false
  private var input = [UInt8](repeating: 0, count: inputBytes)
  private let output: OutputBuffer
  /// The time at which bytes last arrived; nil if never.
  private(set) var lastHeard: ContinuousClock.Instant?

  /// Begins to connect. The owner is told if that succeeds.
  /// - Parameter tls: the context that encrypts the connection, and the host that Redis's certificate must
  ///   have; nil: no encryption.
  init(
    to endpoint: RedisEndpoint, by tls: (context: TLSContext, host: String)?, on loop: EventLoop,
    sending output: OutputBuffer, limits: RedisLimits, owner: any RedisSocketOwner
  ) throws(RedisError) {
    self.output = output
    place = endpoint.description
    transport = try beginTransport(to: endpoint, by: tls)
    parser = ReplyParser(replyBytesMax: limits.replyBytesMax)
    self.owner = owner
    do {
      watch = try loop.watch(transport.descriptor, for: .writable) { self.handle($0) }
      hook = loop.beforeWaiting(.flush) { if !self.isFull { self.flush() } }
    } catch {
      transport.close()
      throw RedisError(.unavailable, cause: "\(error)", place: place)
    }
  }

  func close() {
    guard owner != nil else { return }
    owner = nil
    hook?.cancel()
    watch?.cancel()
    hook = nil
    watch = nil
    transport.close()
  }

  /// Reads everything that has arrived, without waiting.
  func readAll() {
    while isOpen, owner != nil, readPiece() > 0 {}
  }

  private func handle(_ readiness: Readiness) {
    switch phase {
    case .connecting: return finishConnecting()
    case .handshaking(let tls): return shakeHands(tls)
    case .open: break
    }
    if readiness.contains(.writable) { flush() }
    // Reading finds a hang-up as well: it appears as an end of file or an error after the last bytes.
    if readiness != .writable { readTurn() }
  }

  /// Reads as much as fits one turn. The loop's next iteration reads the rest.
  private func readTurn() {
    for _ in 0..<RedisSocket.piecesPerTurn where owner != nil {
      // A piece that leaves much room is the last one for now. With TLS a piece ends with a whole record.
      if readPiece() <= input.count - TLSTransport.recordBytes { return }
    }
  }

  private var isOpen: Bool { if case .open = phase { true } else { false } }

  private func finishConnecting() {
    var error: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    unsafe getsockopt(transport.descriptor, SOL_SOCKET, SO_ERROR, &error, &size)
    guard error == 0 else { return fail(.unavailable, describe(errno: error)) }
    if let tls = transport as? TLSTransport {
      phase = .handshaking(tls)
      shakeHands(tls)
    } else {
      open()
    }
  }

  private func shakeHands(_ tls: TLSTransport) {
    switch tls.handshake() {
    case .done: open()
    case .wantsRead: listen(for: .readable)
    case .wantsWrite: listen(for: .writable)
    case .failed(let cause): fail(.unavailable, explainTLSFailure(cause))
    }
  }

  private func open() {
    phase = .open
    owner?.socketDidOpen()
    updateInterest()
  }

  private func updateInterest() { listen(for: isFull ? [.readable, .writable] : .readable) }

  private func listen(for readiness: Readiness) {
    do {
      try watch?.update(readiness)
    } catch {
      fail(.connectionLost, "\(error)")
    }
  }

  private func fail(_ code: RedisError.Code, _ cause: String) {
    owner?.socketDidBreak(RedisError(code, cause: cause, place: place))
  }
}

// MARK: Bytes

extension RedisSocket {
  /// - Returns: the number of bytes that were read; 0 if there are none now, or the socket broke.
  private func readPiece() -> Int {
    // SAFETY: the transport has written what it writes when it returns.
    switch unsafe input.withUnsafeMutableBytes({ unsafe transport.read(into: $0) }) {
    case .bytes(let count):
      lastHeard = .now
      deliverReplies(in: input[..<count])
      return count
    case .wait: return 0
    case .end: fail(.connectionLost, "Redis closed the connection")
    case .lost: fail(.connectionLost, transport.lossCause)
    }
    return 0
  }

  private func deliverReplies(in bytes: ArraySlice<UInt8>) {
    do {
      var rest = bytes
      // The owner may close the socket while it handles a reply.
      while owner != nil, !rest.isEmpty {
        try parser.feed(rest.prefix(ReplyParser.pieceBytesMax))
        rest = rest.dropFirst(ReplyParser.pieceBytesMax)
        while owner != nil, try parser.readReply() {
          owner?.socketDidReceiveReply(in: parser)
        }
      }
    } catch {
      owner?.socketDidBreak(RedisError(error.code, cause: error.cause, place: place))
    }
  }

  private func flush() {
    guard isOpen, owner != nil, !output.isEmpty else { return }
    guard output.send(by: transport) else {
      let cause = transport.lossCause
      // Redis's last reply before it hung up explains more, for example that it wants a certificate.
      while owner != nil, readPiece() > 0 {}
      return fail(.connectionLost, cause)
    }
    isFull = !output.isEmpty
    updateInterest()
  }
}
