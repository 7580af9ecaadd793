package import BelfryBytes
import BelfryInterface
import BelfryModel

/// Makes tokens: JSON Web Tokens (RFC 7519) signed with HMAC-SHA-256.
package struct TokenSigner: Sendable, Hashable {
  let key: TokenKey
  private let secret: [UInt8]

  /// - Parameters:
  ///   - secret: not empty.
  ///   - kid: the name of the key; nil: a hash of the secret.
  package init(secret: [UInt8], kid: UTF8Text? = nil) {
    precondition(!secret.isEmpty, "a broker does not start without a secret")
    self.secret = secret
    key = TokenKey(secret: secret, kid: kid)
  }

  package var kid: UTF8Text { key.kid }

  /// - Parameter expected: the claims that brokers also expect.
  package func mint(_ claims: TokenClaims, as expected: ExpectedClaims = ExpectedClaims()) -> String {
    mint(claims.payload(as: expected), kid: kid)
  }

  private func mint(_ payload: JSONObject, kid: UTF8Text?) -> String {
    var header: JSONObject = ["alg": .string(key.algorithm.rawValue), "typ": "JWT"]
    if let kid { header["kid"] = .string(kid.string) }
    let signed = [header, payload].map { Base64URL.encode(JSONText.bytes(of: .object($0))) }
      .joined(separator: ".")
    return signed + "." + Base64URL.encode(Hashing.hmac(Array(signed.utf8), key: secret))
  }

  /// Tells this secret from others. It is a part of a signature, of a token that expired in 1970, and too
  /// short to be used as a signature.
  var fingerprint: String {
    let claims = TokenClaims(subject: "fingerprint", role: .user, expiresAtSeconds: 1)
    let token = mint(claims.payload(as: ExpectedClaims()), kid: nil)
    return String((token.split(separator: ".").last ?? "").prefix(Self.fingerprintLength))  // own text
  }

  /// The number of characters, with six bits each. Two secrets with the same fingerprint do not occur by
  /// accident, and most of the signature, which could confirm a guess, is left out.
  private static let fingerprintLength = 6
}

extension TokenClaims {
  fileprivate func payload(as expected: ExpectedClaims) -> JSONObject {
    var claims: JSONObject = [
      "sub": .string(subject), "role": .string(role.rawValue), "exp": .integer(expiresAtSeconds),
    ]
    // Whole seconds, as most issuers write them.
    if let issuedAtMilliseconds { claims["iat"] = .integer(issuedAtMilliseconds / 1_000) }
    if let scopes { claims["scope"] = .string(Scope.text(of: scopes)) }
    if let issuer = expected.issuer { claims["iss"] = .string(issuer) }
    if let audience = expected.audience { claims["aud"] = .string(audience) }
    if let device { claims["device"] = .string(device.text) }
    return claims
  }
}
