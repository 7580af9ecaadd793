package import BelfryBytes

/// Answers requests. It lives on the server's loop and is called on its thread.
package protocol HTTPHandler: AnyObject {
  /// Header fields that the handler decides by. A request may have only one of each.
  var fieldsGivenOnce: [String] { get }

  /// Asked when the headers have arrived, before the body is read.
  func route(_ head: HTTPRequestHead) -> HTTPRouting

  /// The answer to bytes that are refused before they are a request, or to a refused request.
  func refuse(_ refusal: HTTPRefusal) -> HTTPResponse

  /// Additional fields of an answer, which follow from the request's headers. They are added to every answer,
  /// even a refusal.
  func fieldsOfAnswer(to request: HTTPHeaders) -> [(name: String, value: String)]

  /// There is no room for more connections, so new ones wait. Called once a minute at most.
  func pausedAccepting(_ pause: HTTPPause)

  /// Clients came that do not speak TLS, or not with this server. Called once a minute at most.
  func handshakesFailed(_ failures: HTTPHandshakeFailures)
}

extension HTTPHandler {
  package func fieldsOfAnswer(to request: HTTPHeaders) -> [(name: String, value: String)] { [] }
}

/// A handler's decision when the headers are there.
package enum HTTPRouting {
  /// The headers alone decide the answer. The body is read, and not kept.
  case refused(HTTPResponse)
  case routed(any HTTPRoutedRequest)
}

/// A request that the handler has understood by its headers. The exchange keeps it until the body is there.
package protocol HTTPRoutedRequest: AnyObject {
  /// The longest body that is accepted.
  var bodyMaxBytes: Int { get }
  /// The account whose budget its body and its answer count in, in addition to the common budget; nil: only
  /// the common budget.
  var account: UTF8Text? { get }

  /// Called once, with the whole body. The exchange is answered now or later.
  func handle(_ request: HTTPRequest, _ exchange: HTTPExchange)
}

/// Why this layer refuses a request.
package enum HTTPRefusal: Error, Sendable, Hashable {
  /// The target or the framing headers contradict the protocol.
  case malformed(detail: String)
  case bodyTooLarge(limitBytes: Int)
  case headersTooLarge(limitBytes: Int)
  case targetTooLong(limitBytes: Int)
  /// A transfer encoding other than chunked.
  case unsupportedEncoding
  /// A version of HTTP other than 1.
  case unsupportedVersion
  /// The request did not arrive in time.
  case timeout
  case tooManyStreams
  /// The common budget is exhausted.
  case busy
  /// The account's budget is exhausted.
  case accountBusy
  /// A request by HTTP where the server speaks HTTPS.
  case notEncrypted

  init(_ shortage: SharedBytes.Shortage) {
    self = shortage == .all ? .busy : .accountBusy
  }

  package var status: Int {
    switch self {
    case .malformed, .notEncrypted: 400
    case .timeout: 408
    case .bodyTooLarge: 413
    case .accountBusy: 429
    case .targetTooLong: 414
    case .headersTooLarge: 431
    case .unsupportedEncoding: 501
    case .tooManyStreams, .busy: 503
    case .unsupportedVersion: 505
    }
  }
}
