import BelfryModel
import BelfryServer
import Foundation

extension Command {
  /// Long enough for a day's work at a terminal, short enough that a token left in a shell's history soon
  /// opens nothing.
  private static let lifetimeSeconds = 86_400
  private static let lifetimeMaxSeconds = 10 * 366 * 86_400

  static let token = Command(
    name: "token", summary: "mint a token",
    detail: """
      Signs with the secret in the data folder, so it works on the broker's machine, for whoever may read the \
      folder. Where the configuration names another secret, mint with that by any JWT library: HS256, \
      with the claims sub, role, exp and device.
      """,
    options: [
      .value("data", "DIR", "the broker's data folder").required,
      .value("sub", "ACCID", "the account it is for; of an app's or operator's token any name").required,
      .choice("role", TokenClaims.Role.allCases.map(\.rawValue), "what it may do; user otherwise"),
      .value("device", "ID", "the only device it is for"),
      .value("ttl", "SECONDS", "how long it is valid; \(lifetimeSeconds) (a day) otherwise"),
      .list("scope", "SCOPE", "what it is for: read, send, manage; all that its role may do otherwise"),
      .value("iss", "TEXT", "who mints it, where the broker wants that (tokens.issuer)"),
      .value("aud", "TEXT", "for whom it is, where the broker wants that (tokens.audience)"),
      .flag("json", "print one JSON value a line"),
    ],
    examples: [
      Example("token --data data --sub alice", "for alice's own programs and devices"),
      Example("token --data data --sub billing --role app --ttl 3600", "for a back end, for an hour"),
    ],
    run: { invocation in
      let arguments = invocation.arguments
      let role = arguments.text("role").flatMap { TokenClaims.Role(rawValue: $0) } ?? .user
      let lifetime = try arguments.integer("ttl", in: 1...lifetimeMaxSeconds) ?? lifetimeSeconds
      let claims = TokenClaims(
        subject: role == .user ? try arguments.neededAccount("sub").text : arguments.text("sub") ?? "",
        role: role, device: try arguments.device("device"), scopes: try arguments.scopes,
        expiresAtSeconds: Int64(Date().timeIntervalSince1970) + Int64(lifetime))
      let text: String
      do {
        text = try SecretFolder(inDataFolder: arguments.text("data") ?? "").signing()
          .mint(
            claims, as: ExpectedClaims(issuer: arguments.text("iss"), audience: arguments.text("aud")))
      } catch let error as StartError {
        throw CommandFailure(error)
      }
      try invocation.print(["token": text], [text])
    })
}

extension Arguments {
  fileprivate var scopes: Set<Scope>? {
    get throws(UsageError) {
      guard isSet("scope") else { return nil }
      var scopes: Set<Scope> = []
      for word in list("scope") {
        guard let scope = Scope(rawValue: word) else {
          throw UsageError("--scope must be read, send or manage, not \(word)")
        }
        scopes.insert(scope)
      }
      return scopes
    }
  }
}
