import FoundationEssentials

/// `application/problem+json` (RFC 9457) with Belfry's `code` and `field`.
struct ProblemDocument: Decodable {
  static let mediaType = "application/problem+json"

  var code: String?
  var title: String?
  var detail: String?
  var field: String?
  var callbackCode: String?
  var messageClientId: String?
  /// Seconds. The lines of a batch have no headers.
  var retryAfter: Int?
}

extension BelfryError {
  /// Reads an answer other than 2xx. An answer without a problem document is not Belfry's. Its status counts only if it says
  /// that the request may succeed later, as a proxy's does.
  init(_ head: HTTPHead, body: Data) {
    let isProblem = head.mediaType == ProblemDocument.mediaType
    let problem = isProblem ? try? JSONDecoder().decode(ProblemDocument.self, from: body) : nil
    self.init(
      problem?.code.map(Code.init(rawValue:)) ?? Code(status: head.status),
      problem?.detail ?? problem?.title
        ?? "the answer was HTTP \(head.status) without an explanation, perhaps from a proxy",
      status: head.status, field: problem?.field,
      retryAfterSeconds: head.retryAfterSeconds
        ?? problem?.retryAfter.flatMap { HTTPHead.checkedRetryAfter($0) })
    callbackCode = problem?.callbackCode
    messageClientId = problem?.messageClientId
  }
}

extension BelfryError.Code {
  fileprivate init(status: Int) {
    self =
      switch status {
      case 429: .rateLimited
      case 502...504: .unavailable
      default: .protocol
      }
  }
}

extension HTTPHead {
  /// The header `Retry-After` in seconds, the form that Belfry uses. Its other form, a date, would need clocks that agree.
  var retryAfterSeconds: Int? {
    headers["retry-after"].flatMap { Int($0) }.flatMap { Self.checkedRetryAfter($0) }
  }

  fileprivate static func checkedRetryAfter(_ seconds: Int) -> Int? {
    seconds < 0 ? nil : min(seconds, ClientLimits.retryAfterSeconds)
  }
}
