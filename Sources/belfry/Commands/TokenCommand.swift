import BelfryInterface
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
      Signs the token with the broker's secret, from a file (--secret-file) or from the broker's data \
      folder (--data). Without these options, BELFRY_SECRET_FILE, BELFRY_SECRET or BELFRY_DATA names the \
      secret, as for serve; without these variables, it is in the folder data. Any JWT library can mint \
      the same token: HS256, with the claims sub and exp and, if wanted, role, device, scope, iss and aud.
      """,
    options: [
      .dataFolder,
      .value("secret-file", "FILE", "the file with the secret, if the broker's configuration names one"),
      .value("sub", "ACCID", "the account of the token; any name for an app or operator token").required,
      .choice("role", TokenClaims.Role.allCases.map(\.rawValue), "the role; user by default"),
      .value("device", "ID", "the only device that may use it"),
      .value("ttl", "TIME", "the lifetime, such as 90m, 24h or 7d, or in seconds; a day by default"),
      .list("scope", "SCOPE", "the scopes: read, send, manage; by default all that the role may do"),
      .value("iss", "TEXT", "the issuer, if the broker requires one (tokens.issuer)"),
      .value("aud", "TEXT", "the audience, if the broker requires one (tokens.audience)"),
      .flag("json", "print one JSON value per line"),
    ],
    examples: [
      Example("token --data data --sub alice", "for alice's own programs and devices"),
      Example("token --secret-file /run/secrets/belfry --sub bob", "if the broker uses that file"),
      Example("token --data data --sub billing --role app --ttl 1h", "for a back end, for an hour"),
    ],
    run: { invocation in
      let arguments = invocation.arguments
      let role = arguments.text("role").flatMap { TokenClaims.Role(rawValue: $0) } ?? .user
      let lifetime = try arguments.seconds("ttl", in: 1...lifetimeMaxSeconds) ?? lifetimeSeconds
      let now = Date().timeIntervalSince1970
      let claims = TokenClaims(
        subject: role == .user ? try arguments.neededAccount("sub").text : arguments.text("sub") ?? "",
        role: role, device: try arguments.device("device"), scopes: try arguments.scopes,
        expiresAtSeconds: Int64(now) + Int64(lifetime), issuedAtMilliseconds: Int64(now * 1_000))
      let text = try SigningPlace(invocation).signer()
        .mint(claims, as: ExpectedClaims(issuer: arguments.text("iss"), audience: arguments.text("aud")))
      try invocation.print(["token": text], [text])
    })
}

/// The place of the secret that signs, and the option or variable that named it.
private struct SigningPlace {
  private enum Secret {
    case file(String)
    case text(String)
    case folder(String)
  }

  private let secret: Secret
  /// `--data` or `BELFRY_SECRET`; nil if nothing named it.
  private let source: String?

  /// The same order as in `belfry serve`: options come before variables, and a secret before a folder.
  init(_ invocation: Invocation) throws(UsageError) {
    let options = (file: invocation.arguments.text("secret-file"), folder: invocation.arguments.text("data"))
    let variables = (
      file: invocation.variable("BELFRY_SECRET_FILE"), text: invocation.variable("BELFRY_SECRET")
    )
    switch (options.file, options.folder) {
    case (.some, .some): throw UsageError("give --secret-file or --data, not both")
    case (let file?, nil): (secret, source) = (.file(file), "--secret-file")
    case (nil, let folder?): (secret, source) = (.folder(folder), "--data")
    case (nil, nil):
      switch variables {
      case (.some, .some):
        throw UsageError("set BELFRY_SECRET_FILE or BELFRY_SECRET, not both")
      case (let file?, nil): (secret, source) = (.file(file), "BELFRY_SECRET_FILE")
      case (nil, let text?): (secret, source) = (.text(text), "BELFRY_SECRET")
      case (nil, nil):
        let isNamed = invocation.variable("BELFRY_DATA") != nil
        (secret, source) = (.folder(invocation.dataFolder), isNamed ? "BELFRY_DATA" : nil)
      }
    }
  }

  func signer() throws(CommandFailure) -> TokenSigner {
    do throws(StartError) {
      switch secret {
      case .file(let path): return try TokenSigner(secretFile: path)
      case .text(let text): return try TokenSigner(secretText: text, from: source ?? "")
      case .folder(let folder): return try SecretFolder(inDataFolder: folder).signing()
      }
    } catch {
      var failure = CommandFailure(error)
      failure.advice =
        source.map { "the secret is the one that \($0) names" }
        ?? "nothing names the secret, so the command looked for it in the folder data: --data DIR or --secret-file FILE names another"
      throw failure
    }
  }
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
