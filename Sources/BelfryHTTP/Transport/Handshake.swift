import BelfryLoop
import BelfrySystem
import BelfryTransport
import Glibc

/// An accepted connection whose client has not yet agreed on TLS. It costs little until the client's first
/// byte.
final class Handshake {
  enum Step: Equatable {
    /// The loop says when there is more to do.
    case wait
    case done
    /// The client speaks, but no TLS.
    case plain
    case failed(String)
    /// The client left without sending anything. Clients do so that only check if somebody listens.
    case left
  }

  let descriptor: Int32
  let client: ClientAddress
  let acceptedAt: ContinuousClock.Instant
  private(set) var transport: TLSTransport?
  private var watch: Watch?
  /// Its index in the set; and if it is queued there for a step.
  var position = 0
  var isQueued = false
  private(set) var isClosed = false

  /// - Parameter onReady: called when there is a step to do, and not again before that step was done.
  init(
    _ descriptor: Int32, from client: ClientAddress, on loop: EventLoop,
    onReady: @escaping (Handshake) -> Void
  ) throws(SystemError) {
    (self.descriptor, self.client, acceptedAt) = (descriptor, client, loop.now)
    watch = try loop.watch(descriptor, for: .readable) { [unowned self] _ in onReady(self) }
  }

  /// Asks for no event while the step waits for its turn: the loop would be told in each of its turns.
  /// - Returns: false where the connection cannot be watched.
  func listen(for readiness: Readiness) -> Bool {
    do throws(SystemError) {
      try watch?.update(readiness)
      return true
    } catch {
      return false
    }
  }

  /// - Parameter tls: used for a client that begins.
  func advance(by tls: ServerTLS) -> Step {
    if let transport { return advance(transport) }
    guard let first = firstByte() else { return errno == EAGAIN ? .wait : .left }
    switch first {
    case 0: return .left
    case Self.handshakeRecord: break
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): return .plain
    default: return .failed("it speaks neither TLS nor HTTP")
    }
    do throws(TLSError) {
      let begun = try TLSTransport(descriptor, by: tls.context)
      transport = begun
      return advance(begun)
    } catch {
      return .failed(error.cause)
    }
  }

  private func advance(_ transport: TLSTransport) -> Step {
    switch transport.handshake() {
    case .done: return .done
    case .wantsRead: return listen(for: .readable) ? .wait : .failed("the broker cannot watch the connection")
    case .wantsWrite:
      return listen(for: .writable) ? .wait : .failed("the broker cannot watch the connection")
    case .failed(let cause): return .failed(cause)
    }
  }

  /// The first byte of a ClientHello: the type of its record (RFC 8446 section 5.1).
  private static let handshakeRecord: UInt8 = 22

  /// The first byte, which stays in the kernel for its later reader. 0, which begins neither protocol, if the
  /// client has ended; nil if nothing has arrived or the connection is lost.
  private func firstByte() -> UInt8? {
    var byte: UInt8 = 0
    let count = unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK))
    return count < 0 ? nil : count == 0 ? 0 : byte
  }

  /// Hands the connection over.
  func leave() {
    isClosed = true
    transport = nil
    watch?.cancel()
    watch = nil
  }

  func close() {
    let transport = transport
    leave()
    if let transport { transport.close() } else { Glibc.close(descriptor) }
  }
}
