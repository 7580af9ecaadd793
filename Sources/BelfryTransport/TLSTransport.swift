import CTLS
import Glibc

/// A connection with TLS. It reads from its socket one record at a time and nothing ahead. So bytes that are
/// left stay in the kernel, and the loop sees them.
///
/// Nothing is written or read before ``handshake()`` is done. Afterwards reads and writes never wait for each
/// other: a session is never negotiated again.
///
/// SAFETY: the session is OpenSSL's own memory, used on one thread, and freed once: by `close()`, or at the
/// end.
@safe package final class TLSTransport: ByteTransport {
  package enum Step: Sendable, Hashable {
    case done
    /// The next step follows when the descriptor is readable, or writable.
    case wantsRead, wantsWrite
    /// Failed for good, with the reason.
    case failed(String)
  }

  /// The most bytes in one record (RFC 8446 section 5.1).
  package static let recordBytes = tls_record_bytes

  package let descriptor: Int32
  /// Holds the keys that encrypt tickets.
  private let context: TLSContext
  private var session: OpaquePointer?
  private var isOpen = false
  /// After a failure no close message is sent.
  private var isLost = false
  package private(set) var lossCause = ""

  /// - Parameters:
  ///   - descriptor: does not block, and belongs to the transport from here on, unless this fails.
  ///   - host: for a client: the name or the address that the server's certificate must have.
  package init(
    _ descriptor: Int32, by context: TLSContext, expecting host: String? = nil
  ) throws(TLSError) {
    self.descriptor = descriptor
    self.context = context
    guard let session = unsafe tls_open(context.pointer, descriptor, context.isServer ? 1 : 0) else {
      throw TLSError(.noMemory, "no memory for a session")
    }
    unsafe self.session = session
    if let host, unsafe tls_expect_host(session, host) != 1 {
      throw TLSError(.badHost, "\(host) is not a name that a certificate can have")
    }
    sendAtOnce(descriptor)
  }

  deinit { free() }

  private func free() {
    guard let session = unsafe session else { return }
    unsafe tls_free(session)
    unsafe self.session = nil
  }

  /// Continues the handshake as far as possible without waiting.
  package func handshake() -> Step {
    guard let session = unsafe session else { return .failed("it is closed") }
    let (result, cause) = unsafe TLSError.cause { unsafe tls_handshake(session, $0, $1) }
    switch result {
    case tls_done:
      isOpen = true
      return .done
    case tls_wants_read: return .wantsRead
    case tls_wants_write: return .wantsWrite
    default:
      lossCause = cause
      return .failed(cause)
    }
  }

  package func read(into buffer: UnsafeMutableRawBufferPointer) -> TransportResult {
    guard isOpen, let session = unsafe session else { return .lost }
    var count = 0
    // As long as another whole record finds room.
    repeat {
      let room = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
      let (result, cause) = unsafe TLSError.cause {
        unsafe tls_read(session, room.baseAddress, Int32(clamping: room.count), $0, $1)
      }
      if result > 0 {
        count += result
        continue
      }
      // The next call meets an end or a loss after the bytes that were read.
      if count > 0 { return .bytes(count) }
      switch result {
      // It would write an answer to a change of keys, which the next write completes.
      case tls_wants_read, tls_wants_write: return .wait
      case tls_ended: return .end
      default: return lose(cause)
      }
    } while buffer.count - count >= Self.recordBytes
    return .bytes(count)
  }

  package func write(_ bytes: UnsafeRawBufferPointer) -> TransportResult {
    guard isOpen, let session = unsafe session else { return .lost }
    var count = 0
    while count < bytes.count {
      let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[count...].prefix(Self.recordBytes))
      let (result, cause) = unsafe TLSError.cause {
        unsafe tls_write(session, rest.baseAddress, Int32(rest.count), $0, $1)
      }
      if result > 0 {
        count += result
      } else if result == tls_wants_write {
        // A record that was begun goes on with the next call, which brings the same bytes.
        return count > 0 ? .bytes(count) : .wait
      } else {
        return lose(cause)
      }
    }
    return .bytes(count)
  }

  private func lose(_ cause: String) -> TransportResult {
    isLost = true
    lossCause = cause
    return .lost
  }

  package func finishWriting() {
    takeLeave()
    shutdown(descriptor, Int32(SHUT_WR))
  }

  package func close() {
    takeLeave()
    free()
    Glibc.close(descriptor)
  }

  private func takeLeave() {
    if isOpen, !isLost, let session = unsafe session { unsafe tls_finish(session) }
  }

  /// True if the handshake continued an earlier session, and so needed no signatures.
  package var isResumed: Bool {
    guard let session = unsafe session else { return false }
    return unsafe tls_is_resumed(session) == 1
  }
}
