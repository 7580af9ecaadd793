import CTLS

/// The certificates, keys and rules of sessions. It does not change, and threads share it.
///
/// SAFETY of `@unchecked Sendable`: OpenSSL counts the users of its contexts with atomics, and nothing is set
/// after `init`. Sessions hold the context, so the keys of tickets exist as long as the sessions do.
@safe package final class TLSContext: @unchecked Sendable {
  let pointer: OpaquePointer
  let isServer: Bool
  private let ticketKeys: UnsafeMutableBufferPointer<UInt8>

  /// The context of a server that speaks HTTP/1.1.
  package init(serving identity: TLSIdentity, tickets: TicketKeys) throws(TLSError) {
    unsafe pointer = try unsafe Self.make(isServer: true, identity.minimum)
    isServer = true
    unsafe ticketKeys = .allocate(capacity: TicketKeys.byteCount)
    _ = unsafe ticketKeys.initialize(from: tickets.bytes)
    try use(identity.certificates, identity.key)
    unsafe tls_serve_http(pointer, ticketKeys.baseAddress, TicketKeys.sessionSeconds)
  }

  /// The context of a client, which checks the server.
  /// - Parameters:
  ///   - authorities: as PEM; nil: those that the system trusts.
  ///   - identity: the identity that it shows to servers that ask.
  package init(trusting authorities: [UInt8]?, as identity: TLSIdentity?) throws(TLSError) {
    unsafe pointer = try unsafe Self.make(isServer: false, .v12)
    isServer = false
    unsafe ticketKeys = .init(start: nil, count: 0)
    if let authorities {
      let (count, cause) = unsafe TLSError.cause {
        unsafe tls_trust(pointer, authorities, Int32(clamping: authorities.count), $0, $1)
      }
      guard count > 0 else { throw TLSError(.badAuthorities, "it has no certificate in PEM: \(cause)") }
    } else {
      unsafe tls_trust_system(pointer)
    }
    unsafe tls_verify_server(pointer)
    if let identity { try use(identity.certificates, identity.key) }
  }

  deinit {
    unsafe tls_free_context(pointer)
    unsafe ticketKeys.deallocate()
  }

  private static func make(isServer: Bool, _ minimum: TLSVersion) throws(TLSError) -> OpaquePointer {
    let number = minimum == .v12 ? tls_1_2 : tls_1_3
    guard let pointer = unsafe tls_new_context(isServer ? 1 : 0, Int32(number)) else {
      throw TLSError(.noMemory, "no memory for a context")
    }
    return unsafe pointer
  }

  private func use(_ certificates: [UInt8], _ key: [UInt8]) throws(TLSError) {
    let (chain, chainCause) = unsafe TLSError.cause {
      unsafe tls_use_chain(pointer, certificates, Int32(clamping: certificates.count), $0, $1)
    }
    guard chain == 1 else { throw TLSError(.badCertificate, "it has no certificate in PEM: \(chainCause)") }
    let (result, cause) = unsafe TLSError.cause {
      unsafe tls_use_key(pointer, key, Int32(clamping: key.count), $0, $1)
    }
    switch result {
    case tls_key_used: break
    case tls_key_of_another: throw TLSError(.keyOfAnother, "it is not the certificate's key")
    default: throw TLSError(.badKey, "it must be a private key in PEM, without a password: \(cause)")
    }
  }

  /// The times between which its own certificate is good, in seconds since 1970; 0 if it has none.
  package var certificateTimes: ClosedRange<Int64> {
    var (begin, end): (Int64, Int64) = (0, 0)
    unsafe tls_certificate_times(pointer, &begin, &end)
    return begin...max(begin, end)
  }
}

package enum TLSVersion: String, Sendable, Hashable, CaseIterable {
  case v12 = "1.2"
  case v13 = "1.3"
}

/// The identity that one side shows, and the lowest version that it accepts.
package struct TLSIdentity: Sendable, Hashable {
  /// The certificate, followed by those that lead to an authority that others trust, as PEM.
  package var certificates: [UInt8]
  /// As PEM, without a password.
  package var key: [UInt8]
  package var minimum: TLSVersion

  package init(certificates: [UInt8], key: [UInt8], minimum: TLSVersion = .v12) {
    self.certificates = certificates
    self.key = key
    self.minimum = minimum
  }
}
