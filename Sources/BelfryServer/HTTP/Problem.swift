import BelfryHTTP
import BelfryModel

/// A refusal as HTTP says it: a problem document (RFC 9457) and the status and headers that go with it.
struct Problem: Error, Hashable {
  var status: Int
  var title: String
  /// A stable word that a program can switch on.
  var code: String
  var detail: String
  var field: String?
  var retryAfterSeconds: Int?
  /// What a 405 says is allowed.
  var allow: String?

  init(_ refusal: Refusal) {
    status = refusal.code.status
    title = refusal.code.title
    code = refusal.code.rawValue
    detail = refusal.detail
    field = refusal.field
    retryAfterSeconds = refusal.retryAfterSeconds ?? refusal.code.retryAfterSeconds
  }

  private init(status: Int, title: String, code: String, detail: String) {
    self.status = status
    self.title = title
    self.code = code
    self.detail = detail
  }
}

// MARK: - Refusals by code

extension Refusal.Code {
  var status: Int {
    switch self {
    case .invalidField: 400
    case .unauthorized: 401
    case .forbidden, .notMember, .muted, .banned, .blocked: 403
    case .notFound: 404
    case .conflict, .duplicateContent: 409
    case .tooLarge: 413
    // A ceiling: waiting does not help, removing something does. 429 would make clients try again.
    case .tooMany, .mailboxFull: 422
    case .rateLimited: 429
    case .busy, .unavailable: 503
    }
  }

  var title: String {
    switch self {
    case .invalidField: "Something in the request is not as it must be"
    case .unauthorized: "No valid token"
    case .forbidden: "Not allowed"
    case .notMember: "Not a member"
    case .muted: "Muted"
    case .banned: "Banned"
    case .notFound: "Not found"
    case .conflict: "In conflict with what is there"
    case .duplicateContent: "The same messageClientId with other content"
    case .tooLarge: "Too large"
    case .tooMany: "A limit is reached"
    case .mailboxFull: "No room in somebody's mailbox"
    case .blocked: "Not wanted"
    case .rateLimited: "Too fast"
    case .busy: "Too much at once"
    case .unavailable: "Not available right now"
    }
  }

  fileprivate var retryAfterSeconds: Int? {
    self == .unavailable || self == .busy || self == .rateLimited ? 1 : nil
  }
}

// MARK: - What only HTTP refuses

extension Problem {
  static func methodNotAllowed(allowed: [HTTPVerb]) -> Problem {
    var names = HTTPVerb.allCases.filter(allowed.contains).map(\.rawValue)
    if allowed.contains(.get) { names.append("HEAD") }
    var problem = Problem(
      status: 405, title: "Method not allowed", code: "methodNotAllowed",
      detail: "here it can be " + names.joined(separator: ", "))
    problem.allow = names.joined(separator: ", ")
    return problem
  }

  static func unsupportedMediaType(_ expected: String) -> Problem {
    Problem(
      status: 415, title: "Unsupported media type", code: "unsupportedMediaType",
      detail: "the body must be \(expected), and Content-Type must say so")
  }
}

extension Problem {
  /// What was refused before it was a request.
  init(_ refusal: HTTPRefusal) {
    switch refusal {
    case .malformed(let detail):
      self.init(status: refusal.status, title: "Not a good request", code: "malformed", detail: detail)
    case .bodyTooLarge(let limitBytes):
      let most = limitBytes == 0 ? "no body" : "a body of at most \(limitBytes) bytes"
      self.init(Refusal(.tooLarge, "a request has \(most) here"))
    case .headersTooLarge(let limitBytes):
      self.init(
        status: refusal.status, title: "Too large", code: "tooLarge",
        detail: "a request's headers have at most \(limitBytes) bytes, each field counted with 64 more")
    case .unsupportedEncoding:
      self.init(
        status: refusal.status, title: "Not supported", code: "unsupportedEncoding",
        detail: "of the transfer encodings only chunked is supported")
    case .timeout:
      self.init(
        status: refusal.status, title: "Too slow", code: "timeout",
        detail: "the request did not arrive in time")
    case .busy:
      self.init(Refusal(.busy, "this broker has as much at hand as it can hold; try again"))
    case .accountBusy:
      self.init(
        Refusal(.rateLimited, "what this account has asked for at once is too much; wait for its answers"))
    case .tooManyStreams:
      self.init(Refusal(.unavailable, "this broker has all the streams it can hold; try again"))
    }
  }
}

// MARK: - As a reply

extension Problem {
  /// The members of the document; a batch writes them into the result of a line.
  func write(to text: inout JSONText) {
    text.field("status", status)
    text.field("title", title)
    text.field("code", code)
    text.field("detail", detail)
    if let field { text.field("field", field) }
  }

  var reply: Reply {
    var text = JSONText()
    text.field("type", "about:blank")
    write(to: &text)
    var reply = Reply(status: status, contentType: "application/problem+json", body: text.finish())
    if let retryAfterSeconds { reply.headers.append(("Retry-After", String(retryAfterSeconds))) }
    if let allow { reply.headers.append(("Allow", allow)) }
    // RFC 9110 wants the scheme named with every 401.
    if status == 401 { reply.headers.append(("WWW-Authenticate", "Bearer")) }
    return reply
  }
}
