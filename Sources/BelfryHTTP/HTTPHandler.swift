package import BelfryBytes

/// What answers requests. It lives on the daemon's loop and is called on its thread.
package protocol HTTPHandler: AnyObject {
  /// Header fields that it decides by, and of which a request may have only one.
  var fieldsGivenOnce: [String] { get }

  /// Asked when the headers have arrived, before the body is read.
  func route(_ head: HTTPRequestHead) -> HTTPRouting

  /// The answer to what never becomes a request. What MHD cannot parse it answers itself, with a few words of HTML,
  /// before the handler sees it: a first line without a version (400) or with another than
  /// HTTP/1 (505), a line without a colon, a `Content-Length` that is no number, chunks that are none (400), a
  /// length or a chunk that no integer holds (413), and what does not fit its memory (414, 431).
  func refuse(_ refusal: HTTPRefusal) -> HTTPResponse

  /// There is no room for more connections, which wait. Called once in a minute at most.
  func pausedAccepting(_ pause: HTTPPause)
}

package enum HTTPRouting {
  /// The body is not kept.
  case refused(HTTPResponse)
  case routed(any HTTPRoutedRequest)
}

/// A request of which the handler knows what it means; the exchange keeps it until its body is there.
package protocol HTTPRoutedRequest: AnyObject {
  /// How long the body may be.
  var bodyMaxBytes: Int { get }
  /// Whose budget what the request makes the broker hold counts in, beside that of all.
  var account: UTF8Text? { get }

  /// Called once, with the whole body. The exchange is answered now or later.
  func handle(_ request: HTTPRequest, _ exchange: HTTPExchange)
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
  /// The common budget is exhausted.
  case busy
  /// The account's budget is exhausted.
  case accountBusy

  init(_ shortage: SharedBytes.Shortage) {
    self = shortage == .all ? .busy : .accountBusy
  }

  package var status: Int {
    switch self {
    case .malformed: 400
    case .timeout: 408
    case .bodyTooLarge: 413
    case .accountBusy: 429
    case .headersTooLarge: 431
    case .unsupportedEncoding: 501
    case .tooManyStreams, .busy: 503
    }
  }
}
