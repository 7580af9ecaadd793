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
  /// From when its turn has come until the answer is there whole, looking the name up and connecting included. It waits
  /// as long for its turn at most.
  package var deadline: Duration
  /// A longer answer is an error.
  package var answerMaxBytes: Int
  /// The account because of which it is sent; nil where operators and back ends are the cause. Requests to one host take
  /// turns by owner, and share what may be under way to it.
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

/// What was answered, whatever the status: a redirect is an answer like any other, and is not followed.
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
