package import BelfryModel

/// A refusal in HTTP: a problem document (RFC 9457), with its status and headers.
package struct Problem: Error, Hashable {
  package var status: Int
  package var title: String
  /// A stable word by which a program can decide.
  package var code: String
  package var detail: String
  package var field: String?
  package var retryAfterSeconds: Int?
  /// The reason that a callback gives for its refusal.
  package var callbackCode: String?
  /// The id by which a send whose outcome is unknown can be repeated.
  package var messageClientId: String?
  /// The methods that are allowed, for a 405.
  package var allow: String?

  package init(_ refusal: Refusal) {
    status = refusal.code.status
    title = refusal.code.title
    code = refusal.code.rawValue
    detail = refusal.detail
    field = refusal.field
    callbackCode = refusal.callbackCode
    messageClientId = refusal.messageClientId
    retryAfterSeconds = refusal.retryAfterSeconds ?? refusal.code.retryAfterSeconds
  }

  package init(status: Int, title: String, code: String, detail: String) {
    self.status = status
    self.title = title
    self.code = code
    self.detail = detail
  }
}

// MARK: - Refusals by code

extension Refusal.Code {
  package var status: Int {
    switch self {
    case .invalidField: 400
    case .unauthorized, .tokenRevoked, .invalidTicket: 401
    case .forbidden, .notMember, .muted, .banned, .blocked, .disabled, .refusedByCallback: 403
    case .notFound: 404
    case .conflict, .duplicateContent, .full: 409
    case .tooLarge: 413
    // A limit: waiting does not help, removing something does. With 429 clients would try again.
    case .tooMany, .mailboxFull: 422
    case .rateLimited: 429
    case .busy, .unavailable, .unknownOutcome: 503
    }
  }

  var title: String {
    switch self {
    case .invalidField: "Invalid request"
    case .unauthorized: "No valid token"
    case .tokenRevoked: "The token was revoked"
    case .invalidTicket: "No valid ticket"
    case .forbidden: "Not allowed"
    case .notMember: "Not a member"
    case .muted: "Muted"
    case .banned: "Banned"
    case .notFound: "Not found"
    case .conflict: "Conflict"
    case .duplicateContent: "messageClientId already used for other content"
    case .tooLarge: "Too large"
    case .tooMany: "Limit reached"
    case .mailboxFull: "Mailbox full"
    case .blocked: "Not accepted by the receiver"
    case .full: "Channel full"
    case .disabled: "Disabled"
    case .refusedByCallback: "Refused by this service"
    case .rateLimited: "Too fast"
    case .busy: "Busy"
    case .unavailable: "Not available right now"
    case .unknownOutcome: "Outcome unknown"
    }
  }

  fileprivate var retryAfterSeconds: Int? {
    [.unavailable, .unknownOutcome, .busy, .rateLimited].contains(self) ? 1 : nil
  }
}

// MARK: - Refusals of HTTP alone

extension Problem {
  package static func methodNotAllowed(allowed: [HTTPVerb]) -> Problem {
    let names = HTTPVerb.methods(of: allowed)
    var problem = Problem(
      status: 405, title: "Method not allowed", code: "methodNotAllowed",
      detail: "allowed here: " + names.joined(separator: ", "))
    problem.allow = names.joined(separator: ", ")
    return problem
  }

  /// The refusal of a request for a host that is not the broker's. A hostile page may have made a host name of its own lead
  /// to this broker.
  package static let misdirected = Problem(
    status: 421, title: "Wrong host", code: "misdirected",
    detail: "this broker does not serve the host named in `Host` (browsers.hosts)")

  package static func unsupportedMediaType(_ expected: String) -> Problem {
    Problem(
      status: 415, title: "Unsupported media type", code: "unsupportedMediaType",
      detail: "the body must be \(expected), and Content-Type must say so")
  }
}

extension Problem {
  package static func malformed(_ detail: String) -> Problem {
    Problem(status: 400, title: "Malformed request", code: "malformed", detail: detail)
  }

  package static let upgradeNeeded = Problem(
    status: 426, title: "Upgrade needed", code: "upgradeNeeded",
    detail: "this path takes only a WebSocket handshake of version 13")

  package static let timeout = Problem(
    status: 408, title: "Too slow", code: "timeout", detail: "the request did not arrive in time")

  package static let unsupportedEncoding = Problem(
    status: 501, title: "Not supported", code: "unsupportedEncoding",
    detail: "only the transfer encoding chunked is supported")

  package static let unsupportedVersion = Problem(
    status: 505, title: "Not supported", code: "unsupportedVersion",
    detail: "only HTTP/1.1 and HTTP/1.0 are supported")
}

// MARK: - As JSON

extension Problem {
  /// Writes the members of the document without its type. A batch writes them into the result of a line.
  package func write(to text: inout JSONText) {
    text.field("status", status)
    text.field("title", title)
    text.field("code", code)
    text.field("detail", detail)
    if let field { text.field("field", field) }
    if let callbackCode { text.field("callbackCode", callbackCode) }
    if let messageClientId { text.field("messageClientId", messageClientId) }
    if let retryAfterSeconds { text.field("retryAfter", retryAfterSeconds) }
  }
}
