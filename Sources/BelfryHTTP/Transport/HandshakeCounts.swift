/// The outcomes of a server's handshakes since its start, and the number of open ones.
package struct HTTPHandshakeCounts: Sendable, Hashable {
  /// With a signature.
  package let done: Int
  /// With an earlier session.
  package let resumed: Int
  package let failed: [HTTPHandshakeFailure: Int]
  /// Connections without an agreement yet.
  package let waiting: Int
}

/// How a handshake failed. A client that leaves without sending anything is no failure: it only checked if
/// somebody listens.
package enum HTTPHandshakeFailure: String, Sendable, CaseIterable {
  /// The client said nothing in time.
  case silent
  /// The client did not finish in time.
  case tooSlow
  /// The client speaks plain HTTP.
  case notEncrypted
  /// One side did not accept the other, or what was said is no TLS.
  case refused
  /// Too many others waited for their clients, and none for longer.
  case tooManyWait
}

/// The clients whose handshakes failed.
package struct HTTPHandshakeFailures: Sendable, Hashable {
  /// Since the last report.
  package let count: Int
  /// OpenSSL's message, if OpenSSL refused.
  package let lastCause: String
  package let lastClient: ClientAddress
}
