/// What became of a server's handshakes since its start, and how many are open.
package struct HTTPHandshakeCounts: Sendable, Hashable {
  /// With a signature.
  package let done: Int
  /// With an earlier session.
  package let resumed: Int
  package let failed: [HTTPHandshakeFailure: Int]
  /// Connections without an agreement yet.
  package let waiting: Int
}

/// How a handshake failed. A client that leaves without a word is no failure: it only looked whether somebody listens.
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

/// What became of clients that did not come to speak TLS.
package struct HTTPHandshakeFailures: Sendable, Hashable {
  /// Since the last report.
  package let count: Int
  /// OpenSSL's words where they are its.
  package let lastCause: String
  package let lastClient: ClientAddress
}
