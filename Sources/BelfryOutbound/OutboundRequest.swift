/// One request to somebody else's server.
package struct OutboundRequest: Sendable {
  package enum Method: String, Sendable {
    case get = "GET"
    case post = "POST"
  }

  package var method: Method
  package var url: OutboundURL
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]
  /// The time from the request's turn to its complete answer, including the look-up of the name and the
  /// connection. The request waits at most the same time for its turn.
  package var deadline: Duration
  /// A longer answer is an error.
  package var answerMaxBytes: Int
  /// The account that causes the request; nil if operators and back ends cause it. Requests to one host take
  /// turns by owner, and the owners share the requests that may be under way to it.
  package var owner: String?

  package init(
    _ method: Method, _ url: OutboundURL, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
    deadline: Duration, answerMaxBytes: Int, owner: String? = nil
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.deadline = deadline
    self.answerMaxBytes = answerMaxBytes
    self.owner = owner
  }
}

/// An answer with any status. A redirect is an answer like any other, and is not followed.
package struct OutboundResponse: Sendable {
  package var status: Int
  /// `Retry-After` as it was written, if it was.
  package var retryAfter: String?
  package var body: [UInt8]
}

/// Why there is no answer.
package struct OutboundError: Error, Sendable, Hashable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// More requests wait than the limits allow. This one was not sent.
    case busy
    /// The host has no address that may be connected to. The request was not sent.
    case refusedAddress
    /// There was no answer, or it broke off. The other side may have acted on the request.
    case unreachable
    /// Its turn did not come in time. The request was not sent.
    case notBegun
    /// The deadline passed before the answer was there. The other side may have acted on the request.
    case timedOut
    /// The answer is longer than was allowed.
    case tooLarge
    /// The caller was cancelled, or the client was closed.
    case cancelled
  }

  package let code: Code
  package let cause: String

  package init(_ code: Code, _ cause: String) {
    self.code = code
    self.cause = cause
  }

  package var description: String { cause }
}
