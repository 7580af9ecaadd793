/// What answers requests. It lives on the daemon's loop and is called on its thread.
package protocol HTTPHandler: AnyObject {
  /// Asked when the headers have arrived, before the body is read.
  func admit(_ head: HTTPRequestHead) -> HTTPAdmission

  /// Called once, with the whole body. The exchange is answered now or later.
  func handle(_ request: HTTPRequest, _ exchange: HTTPExchange)

  /// How to say no to what never becomes a request. What MHD cannot parse it answers by itself, with a few
  /// words of HTML: 400, 413 of a length no integer holds, 414, 431 far beyond the limit, and 505.
  func refuse(_ refusal: HTTPRefusal) -> HTTPResponse
}

package enum HTTPAdmission {
  /// The body is not kept.
  case refused(HTTPResponse)
  /// With what the handler has found out already; the exchange keeps it.
  case admitted(AnyObject?)
}

/// Why this layer refuses a request.
package enum HTTPRefusal: Sendable, Hashable {
  /// The target or the framing headers contradict the protocol.
  case malformed(detail: String)
  case bodyTooLarge(limitBytes: Int)
  case headersTooLarge(limitBytes: Int)
  /// A transfer encoding other than chunked.
  case unsupportedEncoding
  /// The request did not arrive in time.
  case timeout
  case tooManyStreams

  package var status: Int {
    switch self {
    case .malformed: 400
    case .timeout: 408
    case .bodyTooLarge: 413
    case .headersTooLarge: 431
    case .unsupportedEncoding: 501
    case .tooManyStreams: 503
    }
  }
}
