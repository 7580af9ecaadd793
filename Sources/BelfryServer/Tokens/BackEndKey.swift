import BelfryBytes
import BelfryInterface
import BelfryModel

/// A key that a back end sends in place of a token: `blf_`, its id and 256 random bits. Redis stores only a
/// hash of it, so somebody who reads Redis or a backup cannot use the key. A plain SHA-256 is enough: slow
/// hashes are for secrets that can be guessed.
package struct BackEndKey: Sendable, Hashable {
  private static let prefix = OperatorRoutes.keyPrefix
  private static let secretBytes = 32

  let id: EntityID
  let name: String
  /// nil: all scopes of an app.
  let scopes: Set<Scope>?
  let createdAtMilliseconds: Int64
  let createdBy: String
  let expiresAtSeconds: Int64?
  private let hash: [UInt8]

  /// A new key, and the text that is shown once.
  static func make(
    name: String, scopes: Set<Scope>?, by creator: String, nowMilliseconds: Int64, lifetimeSeconds: Int64?
  ) -> (key: BackEndKey, text: String) {
    let id = EntityID.random()
    let secret = (0..<secretBytes).map { _ in UInt8.random(in: .min ... .max) }
    let text = "\(prefix)\(id.text)_\(Base64URL.encode(secret))"
    let key = BackEndKey(
      id: id, name: name, scopes: scopes, createdAtMilliseconds: nowMilliseconds, createdBy: creator,
      expiresAtSeconds: lifetimeSeconds.map { nowMilliseconds / 1_000 + $0 },
      hash: Hashing.sha256(Array(text.utf8)))
    return (key, text)
  }

  private init(
    id: EntityID, name: String, scopes: Set<Scope>?, createdAtMilliseconds: Int64, createdBy: String,
    expiresAtSeconds: Int64?, hash: [UInt8]
  ) {
    self.id = id
    self.name = name
    self.scopes = scopes
    self.createdAtMilliseconds = createdAtMilliseconds
    self.createdBy = createdBy
    self.expiresAtSeconds = expiresAtSeconds
    self.hash = hash
  }

  /// The id of the key in a text; nil if the text is not a key.
  static func id(in text: UTF8Text) -> EntityID? {
    let rest = text.utf8.dropFirst(prefix.utf8.count)
    // 19 digits, and 43 characters for 32 bytes.
    guard OperatorRoutes.isKey(text.string), rest.count <= 19 + 1 + 43 else { return nil }
    return EntityID(String(Substring(rest.prefix { $0 != UInt8(ascii: "_") })))
  }

  /// True if the end of a key is missing, which somebody may have lost when copying it.
  static func isCut(_ text: UTF8Text) -> Bool {
    guard OperatorRoutes.isKey(text.string) else { return false }
    let parts = text.utf8.dropFirst(prefix.utf8.count)
      .split(separator: UInt8(ascii: "_"), maxSplits: 1, omittingEmptySubsequences: false)
    return parts.count < 2 || parts[1].count < (secretBytes * 4 + 2) / 3
  }

  func isGood(_ text: UTF8Text) -> Bool { Hashing.isSame(Hashing.sha256(Array(text.utf8)), hash) }

  var claims: TokenClaims {
    TokenClaims(
      subject: name, role: .app, scopes: scopes,
      expiresAtSeconds: expiresAtSeconds ?? TokenClaims.timeMaxSeconds)
  }
}

// MARK: - As it is kept

extension BackEndKey {
  var record: String {
    var members: JSONObject = [
      "name": .string(name), "createdAt": .integer(createdAtMilliseconds), "createdBy": .string(createdBy),
      "sha256": .string(Base64URL.encode(hash)),
    ]
    if let scopes { members["scope"] = .string(Scope.text(of: scopes)) }
    if let expiresAtSeconds { members["expiresAt"] = .integer(expiresAtSeconds) }
    return RecordJSON.text(.object(members))
  }

  /// Nil if no broker can have written the record. Then it is not a key.
  init?(id: String, record: String) {
    guard let id = EntityID(id), case .object(let members)? = RecordJSON.value(record),
      case .string(let name)? = members["name"], case .integer(let createdAt)? = members["createdAt"],
      case .string(let createdBy)? = members["createdBy"], case .string(let hash)? = members["sha256"],
      let hash = Base64URL.decode(hash.utf8)
    else { return nil }
    var scopes: Set<Scope>?
    if let value = members["scope"] {
      guard case .string(let text) = value else { return nil }
      scopes = Scope.named(in: text)
    }
    var expiresAt: Int64?
    if let value = members["expiresAt"] {
      guard case .integer(let seconds) = value else { return nil }
      expiresAt = seconds
    }
    self.init(
      id: id, name: name, scopes: scopes, createdAtMilliseconds: createdAt, createdBy: createdBy,
      expiresAtSeconds: expiresAt, hash: hash)
  }
}
