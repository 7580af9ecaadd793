import BelfryLoop

/// The reason why Redis did not carry a command out, or why it is not known if it did.
package struct RedisError: Error, Hashable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// There was no connection, and none could be made in time. The command was not sent.
    case unavailable
    /// More commands or bytes are unanswered than the limits allow. The command was not sent.
    case overloaded
    /// No reply came before the deadline. The command may have been executed.
    case timedOut
    /// The connection broke before the reply came. The command may have been executed.
    case connectionLost
    /// Redis answered with an error; `replyCode` is its first word.
    case replied
    /// Redis answered with another kind of reply than the caller expected.
    case unexpectedReply
    /// The bytes that arrived are no RESP, or a reply is larger than the limits allow.
    case malformedReply
    /// A Redis URL or address that cannot be used.
    case invalidEndpoint
    /// The set-up found that this Redis is the wrong one, or that this program must not work on it.
    case unsuitable
    /// A subscription was given up by `unsubscribe` before it was confirmed.
    case unsubscribed
    /// A master has carried the command out, but fewer replicas have it than required. It may be lost with
    /// the master.
    case notReplicated
    /// The connection was closed by its owner. The command was not sent.
    case closed
  }

  package let code: Code
  /// The error in words. For `replied` it is Redis's own text.
  package let cause: String
  /// The command, the endpoint or both. Never holds a password.
  package let place: String
  /// True if Redis may have executed the command, or one of several that were sent together.
  package let mayBeExecuted: Bool

  package init(_ code: Code, cause: String, place: String) {
    self.init(code, cause: cause, place: place, mayBeExecuted: code.mayBeExecuted)
  }

  private init(_ code: Code, cause: String, place: String, mayBeExecuted: Bool) {
    self.code = code
    self.cause = cause
    self.place = place
    self.mayBeExecuted = mayBeExecuted
  }

  /// The same error, if other commands that were sent together were executed.
  package var ofSomeCommands: RedisError { RedisError(code, cause: cause, place: place, mayBeExecuted: true) }

  package var description: String {
    "\(place): \(cause) (\(code.rawValue))"
  }
}

extension RedisError.Code {
  fileprivate var mayBeExecuted: Bool {
    switch self {
    case .timedOut, .connectionLost, .unexpectedReply, .malformedReply, .notReplicated: true
    case .unavailable, .overloaded, .replied, .invalidEndpoint, .unsuitable, .unsubscribed, .closed: false
    }
  }
}

extension RedisError {
  /// The first word of Redis's error reply, for example `WRONGTYPE`. Nil if the error is not Redis's own.
  package var replyCode: String? {
    code == .replied ? firstWord : nil
  }

  /// The first word of the cause. A command that waited for a connection has Redis's words as the cause for which there is none.
  package var firstWord: String { String(cause.prefix { $0 != " " }) }

  /// The error that represents an error reply.
  package static func replied(_ message: String, to place: String) -> RedisError {
    RedisError(.replied, cause: message, place: place)
  }
}

extension RedisError {
  init(_ failure: HostLookupFailure) {
    self.init(.unavailable, cause: failure.cause, place: failure.host)
  }
}
