import Glibc

/// Bytes on their way to a socket.
struct OutputBuffer {
  struct SendError: Error {
    let number: Int32
  }

  /// Storage kept for the next burst; what a larger one needed is returned.
  private static let keptBytesMax = 256 << 10

  private var bytes: [UInt8] = []
  private var sentCount = 0

  var isEmpty: Bool { bytes.isEmpty }

  mutating func append(_ commands: [RedisCommand]) {
    for command in commands { command.encode(into: &bytes) }
  }

  /// Sends as much as the socket takes now. A peer that is gone is an error here and never a SIGPIPE,
  /// which would end the process.
  mutating func send(to socket: Int32) throws(SendError) {
    while sentCount < bytes.count {
      let count = unsafe bytes[sentCount...].withUnsafeBytes {
        unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0 {
        if errno == EINTR { continue }
        if errno == EAGAIN { return dropSent() }
        throw SendError(number: errno)
      }
      sentCount += count
    }
    bytes.removeAll(keepingCapacity: bytes.capacity <= OutputBuffer.keptBytesMax)
    sentCount = 0
  }

  /// Moves the rest up, once what was sent is more than the rest: each byte moves once on average, and a
  /// buffer that is never quite empty does not grow for ever.
  private mutating func dropSent() {
    guard sentCount > bytes.count / 2 else { return }
    bytes.removeFirst(sentCount)
    sentCount = 0
  }
}
