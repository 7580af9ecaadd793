import Glibc

/// A connection without encryption.
package final class SocketTransport: ByteTransport {
  package let descriptor: Int32
  private var lossNumber: Int32 = 0

  /// - Parameter descriptor: does not block, and belongs to the transport from here on.
  package init(_ descriptor: Int32) {
    self.descriptor = descriptor
    sendAtOnce(descriptor)
  }

  package func read(into buffer: UnsafeMutableRawBufferPointer) -> TransportResult {
    let count = unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
    return count == 0 ? .end : result(count)
  }

  package func write(_ bytes: UnsafeRawBufferPointer) -> TransportResult {
    result(unsafe send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)))
  }

  package func finishWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

  package func close() { Glibc.close(descriptor) }

  package var lossCause: String { unsafe String(cString: strerror(lossNumber)) }

  private func result(_ count: Int) -> TransportResult {
    if count > 0 { return .bytes(count) }
    if errno == EAGAIN || errno == EINTR { return .wait }
    lossNumber = errno
    return .lost
  }
}

/// Makes the socket send without waiting for more bytes. A socket that is not TCP does so in any case.
func sendAtOnce(_ descriptor: Int32) {
  var on: Int32 = 1
  unsafe setsockopt(
    descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
}
