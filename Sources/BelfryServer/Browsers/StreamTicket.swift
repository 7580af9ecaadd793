import BelfryBytes
import BelfryInterface
import BelfryModel

/// A ticket that opens one stream, once, in place of a token: 192 random bits, sent in a URL. Redis stores
/// only a hash of the ticket, together with the caller whom it lets in. So somebody who reads Redis cannot
/// open a stream.
struct StreamTicket: Sendable, Hashable {
  private static let bytes = 24

  let text: String

  static func make() -> StreamTicket {
    StreamTicket(text: Base64URL.encode((0..<bytes).map { _ in UInt8.random(in: .min ... .max) }))
  }

  private init(text: String) { self.text = text }

  /// Nil if the text cannot be a ticket.
  init?(_ text: UTF8Text) {
    guard text.count <= 2 * Self.bytes, let bytes = Base64URL.decode(text.utf8), bytes.count == Self.bytes
    else {
      return nil
    }
    self.text = text.string
  }

  /// The name under which Redis stores the ticket.
  var name: String { Base64URL.encode(Hashing.sha256(Array("belfry ticket ".utf8) + Array(text.utf8))) }
}

// MARK: - Whom it lets in

extension Caller {
  /// The text that Redis stores with a ticket.
  var record: String {
    var members: JSONObject = [
      "subject": .string(subject), "role": .string(role.rawValue), "expiresAt": .integer(expiresAtSeconds),
    ]
    if let account = actor.account { members["account"] = .string(account.text) }
    if let device = actor.device { members["device"] = .string(device.text) }
    if let scopes { members["scope"] = .string(Scope.text(of: scopes)) }
    switch credential {
    case .backEndKey(let id): members["keyId"] = .string(id.text)
    case .key(let key, let issue):
      members["key"] = .string(key.text.string)
      if let issuedAt = issue?.atMilliseconds { members["issuedAt"] = .integer(issuedAt) }
    }
    return RecordJSON.text(.object(members))
  }

  /// Nil if no broker can have written the record.
  init?(record: String) {
    guard case .object(let members)? = RecordJSON.value(record),
      case .string(let subject)? = members["subject"],
      case .string(let word)? = members["role"], let role = TokenClaims.Role(word: UTF8Text(word)),
      case .integer(let expiresAt)? = members["expiresAt"]
    else { return nil }
    func text(_ name: String) -> String? { if case .string(let text)? = members[name] { text } else { nil } }
    let account = text("account").flatMap { AccountID($0) }
    guard role != .user || account != nil else { return nil }
    let credential: Credential
    if let id = text("keyId").flatMap({ EntityID($0) }) {
      credential = .backEndKey(id)
    } else if let key = text("key") {
      var issuedAt: Int64?
      if case .integer(let time)? = members["issuedAt"] { issuedAt = time }
      let issue = role == .user ? account.map { TokenIssue(account: $0, atMilliseconds: issuedAt) } : nil
      credential = .key(KeyIdentity(text: UTF8Text(key)), issue)
    } else {
      return nil
    }
    self.init(
      actor: Actor(
        account: account, device: text("device").flatMap { DeviceID($0) }, isTrusted: role != .user),
      role: role, subject: subject, credential: credential, scopes: text("scope").map { Scope.named(in: $0) },
      expiresAtSeconds: expiresAt)
  }
}
