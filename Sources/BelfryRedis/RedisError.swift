import BelfryLoop

/// Why Redis did not do what was asked, or why we do not know whether it did.
package struct RedisError: Error, Hashable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// There is no connection, and none was made in time. The command was not sent.
    case unavailable
    /// More commands or bytes are unanswered than the limits allow. The command was not sent.
    case overloaded
    /// No reply came before the deadline. The command may have been executed.
    case timedOut
    /// The connection broke before the reply came. The command may have been executed.
    case connectionLost
    /// Redis answered with an error; `replyCode` is its first word.
    case replied
    /// Redis answered with something of another kind than the caller expects.
    case unexpectedReply
    /// What came is not RESP, or more of it than the limits allow.
    case malformedReply
    /// A Redis URL or address that cannot be used.
    case invalidEndpoint
    /// Set-up found that this Redis is not the one that is meant, or is not for this program to work on.
    case unsuitable
    /// A subscription was given up by `unsubscribe` before it was confirmed.
    case unsubscribed
    /// The connection was closed by its owner. The command was not sent.
    case closed
  }

  package let code: Code
  /// What happened, in words; of `replied`, Redis's own text.
  package let cause: String
  /// The command, the endpoint or both. Never holds a password.
  package let place: String

  package init(_ code: Code, cause: String, place: String) {
    self.code = code
    self.cause = cause
    self.place = place
  }

  package var description: String {
    "\(place): \(cause) (\(code.rawValue))"
  }
}

extension RedisError {
  /// The first word of Redis's error reply, as `WRONGTYPE`; nil when the error is not Redis's own.
  package var replyCode: String? {
    guard code == .replied else { return nil }
    return String(cause.prefix { $0 != " " })
  }

  /// The error that an error reply stands for.
  package static func replied(_ message: String, to place: String) -> RedisError {
    RedisError(.replied, cause: message, place: place)
  }
}

extension RedisError {
  init(_ failure: HostLookupFailure) {
    self.init(.unavailable, cause: failure.cause, place: failure.host)
  }
}
