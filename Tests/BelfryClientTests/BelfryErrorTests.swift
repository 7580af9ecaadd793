import Testing

@testable import BelfryClient

@Suite struct BelfryErrorTests {
  /// The library's constant for a code of the broker. The switch is exhaustive, so a new code needs a constant, too.
  private static func constant(for code: Refusal.Code) -> BelfryError.Code? {
    switch code {
    case .unauthorized: .unauthorized
    case .tokenRevoked: .tokenRevoked
    case .forbidden: .forbidden
    case .notFound: .notFound
    case .notMember: .notMember
    case .muted: .muted
    case .banned: .banned
    case .blocked: .blocked
    case .disabled: .disabled
    case .refusedByCallback: .refusedByCallback
    case .conflict: .conflict
    case .duplicateContent: .duplicateContent
    case .full: .full
    case .invalidField: .invalidField
    case .tooLarge: .tooLarge
    case .tooMany: .tooMany
    case .mailboxFull: .mailboxFull
    case .rateLimited: .rateLimited
    case .busy: .busy
    case .unavailable: .unavailable
    case .unknownOutcome: .unknownOutcome
    // Only browsers use tickets.
    case .invalidTicket: nil
    }
  }

  @Test(arguments: Refusal.Code.allCases)
  func `a code of the broker has a constant of the same word`(code: Refusal.Code) {
    let constant = Self.constant(for: code)
    #expect(constant == nil || constant?.rawValue == code.rawValue)
  }

  @Test func `nothing was sent only if no try was`() {
    var refused = BelfryError(.transport, "refused")
    refused.nothingWasSent = true
    #expect(!refused.leavesOutcomeOpen)
    #expect(refused.after(refused) == refused)
    let later = refused.after(BelfryError(.transport, "reset"))
    #expect(later.code == .transport)
    #expect(later.leavesOutcomeOpen)
    // The token may have expired between two tries.
    let lost = BelfryError(.transport, "reset")
    #expect(BelfryError(.unauthorized, "expired", status: 401).after(lost).code == .unknownOutcome)
    #expect(BelfryError(.forbidden, "no", status: 403).after(lost).code == .forbidden)
  }

  @Test func `an error says what happened and what to do`() {
    #expect(
      "\(BelfryError(.rateLimited, "too fast", retryAfterSeconds: 2))"
        == "rateLimited: too fast; try again after 2 s")
    #expect("\(BelfryError(.conflict, "others keep changing it"))" == "conflict: others keep changing it")
    #expect(
      "\(BelfryError(.invalidField, "is too long", field: "body"))" == "invalidField (body): is too long")
    var lost = BelfryError(.transport, "no answer")
    #expect("\(lost)" == "transport: no answer; check baseURL and the network")
    lost.messageClientId = "m1"
    #expect(lost.advice == "check baseURL and the network, then send it again with the messageClientId m1")
  }
}
