import BelfryTransport
import Glibc
import TestKit

extension FuzzTarget {
  /// The bytes that come to a TLS port, before and after there is a session.
  static let tls: [FuzzTarget] = [
    FuzzTarget("first bytes of TLS", sample: { _ in (try? TLSPair().hello()) ?? [] }) { bytes in
      let pair = try TLSPair()
      pair.deliver(bytes)
      return !pair.isRefused()
    },
    FuzzTarget("records of TLS", sample: { $0.beginningOfRecord() }) { bytes in
      let pair = try TLSPair()
      try pair.agree()
      pair.deliver(bytes)
      switch pair.read() {
      case .wait: return true
      case .end, .lost: return false
      case .bytes(let count): throw Wrong("\(count) bytes that nobody has encrypted were taken")
      }
    },
  ]
}

extension SeededGenerator {
  /// The head of a record, and less than it announces: nothing is known of it yet.
  fileprivate mutating func beginningOfRecord() -> [UInt8] {
    let length = 64 + below(4_000)
    return [23, 3, 3, UInt8(length >> 8), UInt8(length & 0xFF)]
      + (0..<below(64)).map { _ in UInt8(below(256)) }
  }
}

/// A server's end of TLS, and a client's, on a pair of sockets.
private final class TLSPair {
  private static let contexts: (server: ServerTLS, client: TLSContext)? = {
    guard let folder = try? makeTemporaryFolder() else { return nil }
    defer { removeFolder(folder) }
    guard let authority = try? TestAuthority(in: folder), let identity = try? authority.identity(),
      let server = try? ServerTLS(
        TLSIdentity(certificates: identity.certificate, key: identity.key, minimum: .v12)),
      let client = try? authority.clientContext()
    else { return nil }
    return (server, client)
  }()

  private let server: TLSTransport
  private let client: TLSTransport

  init() throws {
    guard let contexts = Self.contexts else { throw Wrong("no certificate") }
    var ends: [Int32] = [0, 0]
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw Wrong("no sockets") }
    server = try TLSTransport(ends[0], by: contexts.server.context)
    client = try TLSTransport(ends[1], by: contexts.client, expecting: "localhost")
  }

  deinit {
    server.close()
    client.close()
  }

  /// The first message of the client.
  func hello() -> [UInt8] {
    _ = client.handshake()
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe recv(server.descriptor, &bytes, bytes.count, 0)
    return Array(bytes.prefix(max(0, count)))
  }

  func agree() throws {
    var isDone = (client: false, server: false)
    for _ in 0..<10 where !(isDone.client && isDone.server) {
      if !isDone.client { isDone.client = client.handshake() == .done }
      if !isDone.server { isDone.server = server.handshake() == .done }
    }
    guard isDone.client, isDone.server else { throw Wrong("no session") }
  }

  /// As if the client's machine had sent it.
  func deliver(_ bytes: [UInt8]) {
    _ = unsafe send(client.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  func isRefused() -> Bool {
    if case .failed = server.handshake() { return true }
    return false
  }

  func read() -> TransportResult {
    var buffer = [UInt8](repeating: 0, count: TLSTransport.recordBytes)
    // SAFETY: the buffer is there for the call.
    return unsafe buffer.withUnsafeMutableBytes { unsafe server.read(into: $0) }
  }
}
