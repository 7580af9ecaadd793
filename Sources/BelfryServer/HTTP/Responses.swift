import BelfryHTTP
import BelfryInterface
import BelfryModel

// The responses that requests get.

extension HTTPResponse {
  static func json(_ text: consuming JSONText, status: Int = 200) -> HTTPResponse {
    .json(rendered: text.finish(), status: status)
  }

  static func json(_ value: JSONValue, status: Int = 200) -> HTTPResponse {
    .json(rendered: JSONText.bytes(of: value), status: status)
  }

  /// - Parameter rendered: a body that is already JSON.
  static func json(rendered: [UInt8], status: Int = 200) -> HTTPResponse {
    HTTPResponse(status: status, type: "application/json", body: rendered)
  }

  static let noContent = HTTPResponse(status: 204)

  init(status: Int, type: String, body: [UInt8]) {
    self.init(status: status, headers: [("Content-Type", type)], body: body)
  }

  /// One page of a list. The cursor is null at the end.
  static func page(_ name: StaticString, _ items: [JSONValue], cursor: String?) -> HTTPResponse {
    var text = JSONText(capacity: 128 * (items.count + 1))
    text.field(name, .array(items))
    text.field("cursor", cursor.map { .string($0) } ?? .null)
    return .json(text)
  }

  func located(at path: String) -> HTTPResponse {
    var response = self
    response.headers.append((ResponseHeader.location.rawValue, path))
    return response
  }

  /// The headers of every answer and stream except static documents. An answer is for one account and one
  /// moment, so no proxy may store it, and no browser may guess another content type.
  static let headersAlways: [(name: String, value: String)] = [
    ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
  ]
  /// A client that stores a document asks each time if it is still the same.
  static let headersOfDocuments: [(name: String, value: String)] = [
    ("Cache-Control", "no-cache"), ("X-Content-Type-Options", "nosniff"),
  ]
}

// MARK: - Problems

extension HTTPResponse {
  init(_ problem: Problem) {
    var text = JSONText()
    text.field("type", "about:blank")
    problem.write(to: &text)
    self.init(status: problem.status, type: "application/problem+json", body: text.finish())
    if let seconds = problem.retryAfterSeconds { headers.append(("Retry-After", String(seconds))) }
    if let allow = problem.allow { headers.append(("Allow", allow)) }
    // RFC 9110 requires the scheme with every 401.
    if problem.status == 401 { headers.append(("WWW-Authenticate", "Bearer")) }
  }

  init(_ refusal: Refusal) { self.init(Problem(refusal)) }

  init(_ flaw: WebSocketHandshake.Flaw) {
    switch flaw {
    case .upgradeNeeded:
      self.init(Problem.upgradeNeeded)
      headers += WebSocketHandshake.upgradeHeaders
    case .malformed(let detail): self.init(Problem.malformed(detail))
    }
  }
}

extension Problem {
  /// The problem for bytes that were refused before they became a request.
  init(_ refusal: HTTPRefusal) {
    switch refusal {
    case .malformed(let detail): self = .malformed(detail)
    case .notEncrypted: self = .malformed("this port needs HTTPS, and the request was HTTP")
    case .bodyTooLarge(let limitBytes):
      let most =
        limitBytes == RouteBody.Form.none.sizeMaxBytes ? "no body" : "a body of at most \(limitBytes) bytes"
      self.init(Refusal(.tooLarge, "this request takes \(most)"))
    case .headersTooLarge(let limitBytes):
      self.init(
        status: refusal.status, title: "Too large", code: "tooLarge",
        detail: "headers must have at most \(limitBytes) bytes and \(HTTPLimits.fieldsMax) fields")
    case .targetTooLong(let limitBytes):
      self.init(
        status: refusal.status, title: "Too large", code: "tooLarge",
        detail: "the request line and the headers must have at most \(limitBytes) bytes")
    case .unsupportedVersion: self = .unsupportedVersion
    case .unsupportedEncoding: self = .unsupportedEncoding
    case .timeout: self = .timeout
    case .busy:
      self.init(Refusal(.busy, "this broker has reached its memory limit for requests; try again"))
    case .accountBusy:
      self.init(
        Refusal(
          .rateLimited,
          "this account's requests and unread responses take too much memory; read the responses, then try again"
        ))
    case .tooManyStreams:
      self.init(Refusal(.unavailable, "this broker has reached its limit of streams; try again"))
    }
  }
}
