import BelfryClient

extension CommandFailure {
  /// A broker's refusal, with what to do about it where there is something.
  init(_ error: BelfryError) {
    self.init(
      code: error.code.rawValue, detail: error.detail + (error.field.map { " (\($0))" } ?? ""),
      advice: Self.advice(error))
  }

  private static func advice(onForbidden detail: String) -> String {
    if detail.contains("scope") { return "belfry token --scope mints a token that may" }
    if detail.contains("needs an operator's") { return "belfry token --role operator mints a token that may" }
    return "belfry token --role app mints a token that may, and with --as ACCID acts for an account"
  }

  private static func advice(_ error: BelfryError) -> String? {
    if error.field == "Belfry-Account" { return "--as ACCID says for whom" }
    switch error.code {
    case .unauthorized:
      return "give a valid token with --token or BELFRY_TOKEN; belfry token --data DIR --sub ACCID mints one"
    case .forbidden:
      return advice(onForbidden: error.detail)
    case .notMember:
      return "belfry server list shows the servers of the account"
    case .duplicateContent:
      return "the same --client-id went with other content before; use another for a new notification"
    case .rateLimited, .busy, .unavailable:
      return "try again in \(error.retryAfterSeconds ?? 1) s"
    case .transport:
      return "is a broker running there? belfry serve starts one, --url names another"
    case .protocol:
      return "does --url name a Belfry broker?"
    default:
      return nil
    }
  }
}
