extension BelfryError {
  /// Says what a developer can do about the error. Nil if ``detail`` already says all there is.
  public var advice: String? {
    switch code {
    case .unauthorized: "get a new token and call again"
    case .tokenRevoked: "get a token that was issued after the account revoked its tokens"
    case .notMember: "let the account join first"
    case .blocked: "leave out the accounts that refuse"
    case .duplicateContent: "use another messageClientId for other content"
    case .mailboxFull: "try again after the receiver has marked something read"
    case .rateLimited, .busy, .unavailable: "try again\(delay)"
    case .conflict where retryAfterSeconds != nil: "try again\(delay)"
    case .unknownOutcome:
      repetition
        ?? (detail.contains("before you repeat") ? nil : "read the current state before you repeat the call")
    case .transport: "check baseURL and the network" + (repetition.map { ", then \($0)" } ?? "")
    case .protocol: "check that baseURL is the address of a Belfry broker"
    default: nil
    }
  }

  private var delay: String { retryAfterSeconds.map { " after \($0) s" } ?? "" }

  /// How to repeat a send without doing it twice.
  private var repetition: String? {
    messageClientId.map { "send it again with the messageClientId \($0)" }
  }
}
