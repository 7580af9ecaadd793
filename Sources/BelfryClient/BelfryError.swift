/// Why a call, or a stream, did not succeed.
public struct BelfryError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A stable word to switch on: the `code` of the broker's problem document, or one of the client's own.
  /// A newer broker may say words that are not listed here.
  public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public var rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public var description: String { rawValue }

    public static let unauthorized = Code(rawValue: "unauthorized")
    public static let tokenRevoked = Code(rawValue: "tokenRevoked")
    public static let forbidden = Code(rawValue: "forbidden")
    public static let notFound = Code(rawValue: "notFound")
    public static let notMember = Code(rawValue: "notMember")
    public static let muted = Code(rawValue: "muted")
    public static let banned = Code(rawValue: "banned")
    public static let conflict = Code(rawValue: "conflict")
    public static let duplicateContent = Code(rawValue: "duplicateContent")
    public static let invalidField = Code(rawValue: "invalidField")
    public static let tooLarge = Code(rawValue: "tooLarge")
    public static let tooMany = Code(rawValue: "tooMany")
    public static let rateLimited = Code(rawValue: "rateLimited")
    public static let busy = Code(rawValue: "busy")
    public static let unavailable = Code(rawValue: "unavailable")
    /// The broker does not know whether it was done. Of a send, `messageClientId` is the id to resend it with.
    public static let unknownOutcome = Code(rawValue: "unknownOutcome")

    /// No answer: the broker was not reached, hung up, or was silent too long. Whether a write happened
    /// is unknown.
    public static let transport = Code(rawValue: "transport")
    /// An answer that is not one of Belfry's: a proxy's page, another program's port, a cut-off document.
    public static let `protocol` = Code(rawValue: "protocol")
    /// The task was cancelled. Whether a write happened is unknown.
    public static let cancelled = Code(rawValue: "cancelled")
  }

  public var code: Code
  /// The HTTP status; nil when there was no answer.
  public var status: Int?
  /// What is wrong, a sentence for a person.
  public var detail: String
  /// The field of the request that is to blame, in the wire's spelling, such as `toAccids[3]`.
  public var field: String?
  /// After how many seconds the broker says it is worth trying again.
  public var retryAfterSeconds: Int?
  /// The id to repeat a send with that may have been done all the same.
  public var messageClientId: String?

  public init(
    _ code: Code, _ detail: String, status: Int? = nil, field: String? = nil, retryAfterSeconds: Int? = nil
  ) {
    self.code = code
    self.detail = detail
    self.status = status
    self.field = field
    self.retryAfterSeconds = retryAfterSeconds
  }

  public var description: String { "\(code)\(field.map { " (\($0))" } ?? ""): \(detail)" }
}

extension BelfryError {
  /// True if what was asked for may have been done all the same. A proxy's 502 and 504 mean that it had no answer from the
  /// broker, which may have had the request. A 500 is a fault of the broker, which may have come to light afterwards.
  public var leavesOutcomeOpen: Bool {
    [.transport, .protocol, .cancelled, .unknownOutcome].contains(code)
      || status.map([500, 502, 504].contains) ?? false
  }

  /// The error of several tries of one request: where an earlier one may have been carried out, the last one's refusal
  /// does not mean that nothing was done.
  func after(_ earlier: BelfryError) -> BelfryError {
    guard earlier.leavesOutcomeOpen, mayPass, !leavesOutcomeOpen else { return self }
    var error = self
    error.code = .unknownOutcome
    error.detail = "an earlier try may have been carried out (\(earlier.detail)); the last one: \(detail)"
    return error
  }

  /// The same request may succeed later without anyone changing anything.
  var mayPass: Bool {
    if code == .transport { return true }
    guard let status else { return false }
    // Request timeout, too early, too many requests; of the server's errors all but "not implemented" and
    // "version not supported", which no waiting cures.
    return [408, 425, 429].contains(status) || (500...599).contains(status) && ![501, 505].contains(status)
  }
}
