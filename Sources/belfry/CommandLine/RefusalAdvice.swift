import BelfryClient
import BelfryInterface
import Foundation

extension CommandFailure {
  /// A broker's refusal with advice, if there is any.
  ///
  /// - Parameter command: the command that was refused. A field that it has an option for is shown by the
  ///   option's name.
  init(_ error: BelfryError, of command: Command?) {
    self.init(code: error.code.rawValue, detail: Self.sentence(error, command), advice: Self.advice(error))
  }

  /// Shows `url` as `--link` and `spaces[3]` as `--spaces[3]`, but the field's own name if the command has no
  /// option for it.
  private static func typed(_ field: String, _ command: Command?) -> String {
    let name = field.prefix { $0 != "[" && $0 != "." }
    let option = Property.commandName(of: String(name))
    guard let command, command.options.contains(where: { $0.name == option }) else { return field }
    return "--\(option)\(field.dropFirst(name.count))"
  }

  /// Many refusals of a field continue a sentence that begins with its name: "must be at most 4096 bytes".
  private static func sentence(_ error: BelfryError, _ command: Command?) -> String {
    guard let field = error.field.map({ typed($0, command) }) else { return error.detail }
    let verb = error.detail.prefix { $0 != " " }
    let goesOn = ["must", "is", "has", "are", "cannot", "needs", "stands"].contains { $0 == verb }
    return goesOn ? "\(field) \(error.detail)" : "\(error.detail) (\(field))"
  }

  /// Advice if a token of another kind would be allowed. If nobody is allowed, the refusal itself is enough.
  private static func advice(onForbidden detail: String) -> String? {
    if detail.contains("scope") { return "belfry token --scope mints a token that may do this" }
    if detail.contains("needs an operator's") {
      return "belfry token --role operator mints a token that may do this"
    }
    let isOfRole = ["app", "only ", "a user's token", "you cannot send as"].contains { detail.contains($0) }
    guard isOfRole else { return nil }
    return "belfry token --role app mints a token that may do this, and with --as ACCID acts for an account"
  }

  /// Includes the time of day, for a user who comes back to the terminal later.
  private static func later(_ seconds: Int) -> String {
    let time = Date(timeIntervalSinceNow: Double(seconds))
    let text = TimeText.of(unixMilliseconds: Int64(time.timeIntervalSince1970 * 1_000), in: .current)
    return "try again in \(seconds) s, at \(text.suffix(8))"
  }

  private static func advice(_ error: BelfryError) -> String? {
    if error.field == "Belfry-Account" {
      return error.code == .forbidden
        ? "leave --as out, or use an app's token: belfry token --role app mints one"
        : "name the account with --as ACCID"
    }
    if error.field == "Last-Event-ID" { return "--after takes a cursor that tail --json printed" }
    switch error.code {
    case .unauthorized, .tokenRevoked:
      return "give a valid token with --token or BELFRY_TOKEN; belfry token --data DIR --sub ACCID mints one"
    case .forbidden:
      return advice(onForbidden: error.detail)
    case .notMember:
      return "belfry server mine and belfry group mine list what the account is a member of"
    case .notFound where error.detail.contains("nothing at this path"):
      return "does --url have a path? It is only for scheme, host and port"
    case .muted:
      return "the mute ends when its time is up, or when the owner or an admin lifts it"
    case .banned:
      return "the owner or an admin can lift the ban"
    case .duplicateContent:
      return "this --client-id was used with other content; use another one for a new notification"
    case .rateLimited, .busy, .unavailable, .unknownOutcome:
      return later(error.retryAfterSeconds ?? 1)
    case .transport where error.detail.contains("certificate is not trusted"):
      return "--ca FILE or BELFRY_CA names the authority that signed it; the host in --url must be in it"
    case .transport where error.detail.contains("file with certificate authorities"):
      return "--ca or BELFRY_CA names a file of certificates in PEM"
    case .transport:
      return "is a broker running there? belfry serve starts one, --url or BELFRY_URL names another"
    case .protocol:
      return "does --url name a Belfry broker?"
    default:
      return nil
    }
  }
}
