import Glibc

/// A TCP connection as it is.
final class SocketTransport: ByteTransport {
  let descriptor: Int32

  /// - Parameter descriptor: does not block, and belongs to the transport from here on.
  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    setOption(TCP_NODELAY, 1)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> TransportResult {
    let count = unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
    return count == 0 ? .end : result(count)
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> TransportResult {
    result(unsafe send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)))
  }

  func finishWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

  func close() { Glibc.close(descriptor) }

  private func result(_ count: Int) -> TransportResult {
    if count > 0 { return .bytes(count) }
    return errno == EAGAIN || errno == EINTR ? .wait : .lost
  }

  private func setOption(_ option: Int32, _ value: Int32) {
    var value = value
    unsafe setsockopt(
      descriptor, Int32(IPPROTO_TCP), option, &value, socklen_t(MemoryLayout<Int32>.size))
  }
}
