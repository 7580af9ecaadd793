import BelfryLoop
import CHiredis
import Glibc

protocol RedisSocketOwner: AnyObject {
  func socketDidOpen()
  func socketDidReceive(_ reply: RedisReply)
  /// The socket is of no more use, and must be closed.
  func socketDidBreak(_ error: RedisError)
}

/// One non-blocking connection. What is written during an iteration of the loop is sent in one system call at its end.
///
/// The watch and the hook keep the socket alive, and the socket its owner, until `close()`.
final class RedisSocket {
  /// The most received in one system call.
  private static let inputBytes = 64 << 10
  /// How many of these are received before the loop serves others: about a thousand messages. With much less a busy
  /// loop could fall behind until Redis cuts off its subscriber.
  private static let piecesPerTurn = 4

  private let descriptor: Int32
  private let place: String
  private let parser: ReplyParser
  private var owner: (any RedisSocketOwner)?
  private var watch: Watch?
  private var hook: LoopHook?

  private var isOpen = false
  /// The kernel took only a part of the output; an event will tell when it takes more.
  private var isFull = false
  private var input = [UInt8](repeating: 0, count: inputBytes)
  private var output = OutputBuffer()
  /// When bytes last came; nil if never.
  private(set) var lastHeard: ContinuousClock.Instant?

  /// Begins to connect; the owner is told of the rest.
  init(
    to address: RedisEndpoint.Address, on loop: EventLoop, limits: RedisLimits, owner: any RedisSocketOwner
  ) throws(RedisError) {
    place = RedisEndpoint(address).description
    descriptor = try beginConnecting(to: address)
    parser = ReplyParser(replyBytesMax: limits.replyBytesMax)
    self.owner = owner
    do {
      watch = try loop.watch(descriptor, for: .writable) { self.handle($0) }
      hook = loop.beforeWaiting(.flush) { if !self.isFull { self.flush() } }
    } catch {
      Glibc.close(descriptor)
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
    Glibc.close(descriptor)
  }

  func write(_ commands: [RedisCommand]) {
    output.append(commands)
  }

  /// Reads everything that has arrived, without waiting.
  func readAll() {
    while isOpen, owner != nil, readPiece() > 0 {}
  }

  private func handle(_ readiness: Readiness) {
    guard isOpen else { return finishConnecting() }
    if readiness.contains(.writable) { flush() }
    // A hang-up too is found by reading: as an end of file or an error, after what came before.
    if readiness != .writable { readTurn() }
  }

  /// Reads until others have their turn; the rest in the loop's next iteration.
  private func readTurn() {
    for _ in 0..<RedisSocket.piecesPerTurn where owner != nil {
      // A piece that is not full was the last for now.
      if readPiece() < input.count { return }
    }
  }

  private func finishConnecting() {
    var error: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size)
    guard error == 0 else { return fail(.unavailable, describe(errno: error)) }
    isOpen = true
    owner?.socketDidOpen()
    updateInterest()
  }

  private func updateInterest() {
    do {
      try watch?.update(isFull ? [.readable, .writable] : .readable)
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
  /// - Returns: how many bytes were read; 0 if there are none now, or the socket broke.
  private func readPiece() -> Int {
    let count = unsafe input.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
    if count > 0 {
      lastHeard = .now
      deliverReplies(in: input[..<count])
      return count
    }
    if count == 0 {
      fail(.connectionLost, "Redis closed the connection")
    } else if errno != EAGAIN && errno != EINTR {
      fail(.connectionLost, describe(errno: errno))
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
        while owner != nil, let reply = try parser.next() {
          owner?.socketDidReceive(reply)
        }
      }
    } catch {
      owner?.socketDidBreak(RedisError(error.code, cause: error.cause, place: place))
    }
  }

  private func flush() {
    guard isOpen, owner != nil, !output.isEmpty else { return }
    do {
      try output.send(to: descriptor)
    } catch {
      return fail(.connectionLost, describe(errno: error.number))
    }
    isFull = !output.isEmpty
    updateInterest()
  }
}
