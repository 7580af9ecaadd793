import BelfryBytes

/// How a token is signed. Which one it is, a key says, and never the token.
enum TokenAlgorithm: String, Sendable, CaseIterable {
  case hs256 = "HS256"
  case rs256 = "RS256"
  case edDSA = "EdDSA"

  /// RFC 9864 calls EdDSA by the curve, which is Ed25519 here in any case.
  init?(word: UTF8Text) {
    let known = word == Self.ed25519 ? Self.edDSA : Self.allCases.first { UTF8Text($0.rawValue) == word }
    guard let known else { return nil }
    self = known
  }

  private static let ed25519: UTF8Text = "Ed25519"
}

/// A key that tokens are checked by, with the one algorithm that it is for.
package struct TokenKey: Sendable, Hashable {
  private enum Material: Sendable {
    case secret([UInt8])
    case publicKey(PublicKey)
  }

  /// What a token's `kid` is compared with. One that nobody chose is made of the key.
  let kid: UTF8Text
  /// Whether somebody chose it. A key that was given none is tried whatever the token's `kid`.
  let isNamed: Bool
  let algorithm: TokenAlgorithm
  /// Tells keys apart, whatever they are called.
  let identity: KeyIdentity
  private let material: Material

  init(secret: [UInt8], kid: UTF8Text? = nil) {
    self.kid = kid ?? Self.kid(of: secret)
    isNamed = kid != nil
    algorithm = .hs256
    identity = KeyIdentity(of: secret, .hs256)
    material = .secret(secret)
  }

  /// Says no more of a secret than the signature beside it does.
  private static func kid(of secret: [UInt8]) -> UTF8Text {
    UTF8Text(Base64URL.encode(Hashing.hmac(Array("kid".utf8), key: secret).prefix(6)))
  }

  init(_ key: PublicKey, kid: UTF8Text? = nil) {
    identity = KeyIdentity(of: key.bytes, key.algorithm)
    self.kid = kid ?? identity.text
    isNamed = kid != nil
    algorithm = key.algorithm
    material = .publicKey(key)
  }

  func isGood(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
    switch material {
    case .secret(let secret): Hashing.isSame(Hashing.hmac(bytes, key: secret), signature)
    case .publicKey(let key): key.isGood(signature, of: bytes)
    }
  }

  package static func == (left: Self, right: Self) -> Bool {
    (left.kid, left.isNamed, left.identity) == (right.kid, right.isNamed, right.identity)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(kid)
    hasher.combine(identity)
  }
}

/// What a key is known by: a hash of it, which gives nothing of it away to whoever does not have it.
struct KeyIdentity: Sendable, Hashable {
  let text: UTF8Text

  /// One that was written down.
  init(text: UTF8Text) { self.text = text }

  fileprivate init(of key: [UInt8], _ algorithm: TokenAlgorithm) {
    let hash = Hashing.sha256(Array("belfry \(algorithm.rawValue) ".utf8) + key)
    text = UTF8Text(Base64URL.encode(hash.prefix(18)))
  }
}
