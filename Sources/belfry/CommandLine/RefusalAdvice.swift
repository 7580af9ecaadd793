import BelfryClient
import Foundation

extension CommandFailure {
  /// A broker's refusal with advice, if there is any.
  ///
  /// - Parameters:
  ///   - command: the command that was refused. A field that it has an option for is shown by the option's name.
  ///   - arguments: what it was given.
  ///   - isUser: true if the caller's token is a user's. Its holder can mint no other one.
  init(_ error: BelfryError, of command: Command?, _ arguments: Arguments?, byUser isUser: Bool) {
    let advice = Self.advice(error, command, arguments, isUser)
    var detail = RefusalText(command: command, timeZone: .current).sentence(error)
    // The advice says it together with the time.
    for words in ["; try again", "; try again later"]
    where advice?.hasPrefix("try again in") == true && detail.hasSuffix(words) {
      detail.removeLast(words.count)
    }
    self.init(code: error.code.rawValue, detail: detail, advice: advice)
  }

  /// The command that mints a token of a role, whole, as it is typed on the broker's machine.
  private static func minting(_ role: String) -> String {
    role == "user"
      ? "belfry token --data DIR --sub ACCID" : "belfry token --data DIR --role \(role) --sub NAME"
  }

  /// Advice if a token of another kind would be allowed. If nobody is allowed, the refusal itself is enough.
  private static func advice(onForbidden detail: String) -> String? {
    if detail.contains("scope") {
      return
        "\(minting("app")) --scope SCOPE mints a token that may do this; a key gets its scopes from belfry key create"
    }
    if detail.contains("needs an operator token") {
      return "\(minting("operator")) mints a token that may do this"
    }
    let isOfRole = ["app", "only ", "a user's token", "you cannot send as"].contains { detail.contains($0) }
    guard isOfRole else { return nil }
    return "\(minting("app")) mints a token that may do this; with --as ACCID it acts for an account"
  }

  /// The same for a user, who asks somebody else or does without.
  private static func advice(toUserOnForbidden detail: String, _ command: Command?) -> String? {
    if detail.contains("scope") { return "ask for a token with that scope where you got your token" }
    if detail.contains("operator") {
      let role = detail.contains("app") ? "app" : "operator"
      return
        "your token is a user's; on the broker's machine \(minting(role)) mints one that may do this"
    }
    if detail.hasPrefix("you cannot send as") {
      return "leave --from out: your token is only for your own account"
    }
    guard ["only the host", "only the owner"].contains(where: detail.contains) else { return nil }
    return switch command?.group {
    case "server", "channel", "member":
      "belfry server show names the owner, and belfry member list shows the admins: ask them"
    case "group": "belfry group show names the owner and the admins: ask them"
    case "room": "belfry room show names the host, who may do this"
    default: nil
    }
  }

  /// Includes the time of day, for a user who comes back to the terminal later.
  private static func later(_ seconds: Int) -> String {
    let time = Date(timeIntervalSinceNow: Double(seconds))
    let text = TimeText.of(unixMilliseconds: Int64(time.timeIntervalSince1970 * 1_000), in: .current)
    return "try again in \(seconds) s, at \(text.suffix(8))"
  }

  /// The command that makes the account an attendee of the room that the refused command is about. Nil for other spaces.
  private static func entering(_ command: Command?, _ arguments: Arguments?) -> String? {
    let room = command?.group == "room" ? arguments?.operands.first : arguments?.text("room")
    return room.map { "belfry room enter \($0)" }
  }

  /// The command that lists the applications to a space. Nil if the refused command answers none.
  private static func applications(_ command: Command?, _ arguments: Arguments?) -> String? {
    guard let command, let group = command.group, let space = arguments?.operands.first else { return nil }
    return ["approve", "refuse"].contains { command.name == "\(group) \($0)" }
      ? "belfry \(group) applications \(space)" : nil
  }

  /// Somebody who accepts an invitation may take the word in place of its id for the inviter. It is the account that is invited.
  private static func inviter(_ command: Command?, _ arguments: Arguments?) -> String? {
    guard let command, command.name.hasSuffix(" accept"),
      command.options.contains(where: { $0.name == "inviter" }),
      let word = arguments?.operands.dropFirst().first, !word.allSatisfy(\.isNumber)
    else { return nil }
    return
      "\(word) was taken for the invited account; if \(word) is the inviter, write --inviter \(word) instead"
  }

  private static func advice(
    _ error: BelfryError, _ command: Command?, _ arguments: Arguments?, _ isUser: Bool
  ) -> String? {
    if error.field == "Belfry-Account" {
      return error.code == .forbidden
        ? isUser
          ? "leave --as out" : "leave --as out, or use an app token: \(minting("app")) mints one"
        : "name the account with --as ACCID"
    }
    if ["Last-Event-ID", "after"].contains(error.field), error.code == .invalidField {
      return "--after takes a cursor that tail --json printed"
    }
    switch error.code {
    case .unauthorized, .tokenRevoked:
      return "give a valid token with --token or BELFRY_TOKEN; \(minting("user")) mints one"
    case .forbidden
    where !isUser && error.detail.hasPrefix("you cannot send as") && arguments?.isSet("as") == true:
      return "leave --as out: --from alone names the sender"
    case .forbidden
    where !isUser && arguments?.isSet("as") == true
      && !["operator", "scope"].contains(where: error.detail.contains):
      // A token that may act for others is there already: nobody may do this.
      return nil
    case .forbidden:
      return isUser
        ? advice(toUserOnForbidden: error.detail, command) : advice(onForbidden: error.detail)
    case .notMember:
      if let entering = entering(command, arguments) { return "\(entering) makes the account an attendee" }
      let preview = command?.name == "server show" ? arguments?.operands.first : nil
      return (preview.map { "belfry server preview \($0) shows how to join it; " } ?? "")
        + "belfry server mine and belfry group mine list what the account is a member of"
    case .notFound where error.detail.contains("nothing at this path"):
      return "does --url have a path? It takes only scheme, host and port"
    case .notFound:
      return applications(command, arguments).map { "\($0) lists the pending applications" }
        ?? inviter(command, arguments)
    case .muted where error.detail.hasPrefix("everybody is muted"):
      return "belfry group unmute-all ends it; only the owner and the admins may do that"
    case .disabled:
      return "an app or operator token enables it again: belfry group enable"
    case .muted:
      return "the mute ends when its time is up, or when the owner or an admin lifts it"
    case .banned:
      return "the owner or an admin can lift the ban"
    case .duplicateContent where arguments?.countsExpiryFromNow == true:
      return
        "the duration in --expire-at counts from each attempt, so this send differs from the first; give a time, such as 2026-12-24T18:00+01:00"
    case .duplicateContent:
      return "use another --client-id for a new notification"
    case .unavailable where error.detail.contains("keyspace was moved"):
      return "waiting does not help: an operator has to start the broker with the new address"
    // To try again may do the work twice. A send is safe to repeat, and its command says how.
    case .unknownOutcome where error.detail.contains("before you repeat"):
      return nil
    case _ where error.leavesOutcomeOpen && error.code != .protocol && command?.changesSomething == true:
      return command?.name == "send" ? nil : "it may have been done: check before you repeat the command"
    case .rateLimited, .busy, .unavailable:
      return later(error.retryAfterSeconds ?? 1)
    case .transport where error.detail.contains("certificate is not trusted"):
      return
        "name its authority with --ca FILE or BELFRY_CA; the certificate has to be for the host in --url"
    case .transport where error.detail.contains("broker's certificate"):
      return
        "tell the operator of the broker, whose metric belfry_tls_certificate_expiry_timestamp_seconds says when it expires"
    case .transport where error.detail.contains("file with certificate authorities"):
      return "--ca or BELFRY_CA names a file of certificates in PEM"
    case .transport where error.nothingWasSent && command?.changesSomething == true:
      return
        "nothing was sent. Is a broker running there? belfry serve starts one; --url or BELFRY_URL names another"
    case .transport:
      return "is a broker running there? belfry serve starts one; --url or BELFRY_URL names another"
    case .protocol:
      return "does --url name a Belfry broker?"
    default:
      return nil
    }
  }
}
