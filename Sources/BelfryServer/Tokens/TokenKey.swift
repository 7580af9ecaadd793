import BelfryBytes

/// The algorithm of a signature. The key determines it, never the token.
enum TokenAlgorithm: String, Sendable, CaseIterable {
  case hs256 = "HS256"
  case rs256 = "RS256"
  case edDSA = "EdDSA"

  /// RFC 9864 names EdDSA by its curve, which is always Ed25519 here.
  init?(word: UTF8Text) {
    let known = word == Self.ed25519 ? Self.edDSA : Self.allCases.first { UTF8Text($0.rawValue) == word }
    guard let known else { return nil }
    self = known
  }

  /// The shortest signature, in characters of base64url. A key of RSA has at least 2,048 bits.
  var signatureCharactersMin: Int {
    switch self {
    case .hs256: 43
    case .edDSA: 86
    case .rs256: 342
    }
  }

  private static let ed25519: UTF8Text = "Ed25519"
}

/// A key that checks tokens, with the one algorithm that it is for.
package struct TokenKey: Sendable, Hashable {
  private enum Material: Sendable {
    case secret([UInt8])
    case publicKey(PublicKey)
  }

  /// The name that a token's `kid` is compared with. If nobody chose one, it is made from the key.
  let kid: UTF8Text
  /// True if somebody chose the name. A key without a chosen name is tried for every token, even if the token
  /// has another `kid`.
  let isNamed: Bool
  let algorithm: TokenAlgorithm
  /// Tells keys apart, independent of their names.
  let identity: KeyIdentity
  private let material: Material

  init(secret: [UInt8], kid: UTF8Text? = nil) {
    self.kid = kid ?? Self.kid(of: secret)
    isNamed = kid != nil
    algorithm = .hs256
    identity = KeyIdentity(of: secret, .hs256)
    material = .secret(secret)
  }

  /// The number of characters of the `kid` of a secret, which is base64url.
  static let kidLength = 8

  /// The `kid` of a secret. It reveals no more about the secret than the signature in the same token does.
  private static func kid(of secret: [UInt8]) -> UTF8Text {
    UTF8Text(Base64URL.encode(Hashing.hmac(Array("kid".utf8), key: secret).prefix(kidLength * 3 / 4)))
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

/// The identity of a key: a hash of it, which reveals nothing about the key to somebody who does not have it.
struct KeyIdentity: Sendable, Hashable {
  let text: UTF8Text

  /// Makes an identity from a record.
  init(text: UTF8Text) { self.text = text }

  fileprivate init(of key: [UInt8], _ algorithm: TokenAlgorithm) {
    let hash = Hashing.sha256(Array("belfry \(algorithm.rawValue) ".utf8) + key)
    text = UTF8Text(Base64URL.encode(hash.prefix(18)))
  }
}
