import BelfryModel
import CJWT
import Glibc

/// Makes and checks tokens: JSON Web Tokens (RFC 7519) signed with HMAC-SHA-256, by libjwt.
///
/// The algorithm is fixed. A token does not get to choose how it is checked: one that says `none`, or names
/// any other algorithm, is refused whatever its signature.
package struct TokenSigner: Sendable {
  private let secret: [UInt8]

  /// - Parameter secret: not empty. libjwt takes an empty key for "accept unsigned tokens".
  package init(secret: [UInt8]) {
    precondition(!secret.isEmpty, "a broker does not start without a secret")
    self.secret = secret
  }

  package func mint(_ claims: TokenClaims) throws(TokenError) -> String {
    var object: OpaquePointer?
    guard unsafe jwt_new(&object) == 0, let token = unsafe object else {
      throw TokenError("libjwt has no memory for it")
    }
    defer { unsafe jwt_free(token) }
    var results = unsafe [
      jwt_set_alg(token, JWT_ALG_HS256, secret, Int32(secret.count)),
      jwt_add_grant(token, "sub", claims.subject),
      jwt_add_grant(token, "role", claims.role.rawValue),
      jwt_add_grant_int(token, "exp", Int(claims.expiresAtSeconds)),
    ]
    if let device = claims.device { unsafe results.append(jwt_add_grant(token, "device", device.text)) }
    guard results.allSatisfy({ $0 == 0 }), let text = unsafe jwt_encode_str(token) else {
      throw TokenError("libjwt cannot encode it")
    }
    defer { unsafe free(text) }
    return unsafe String(cString: text)
  }

  /// Tells this secret from others. It is a part of a signature, too short to be used as one, of a token that expired
  /// in 1970.
  func fingerprint() throws(TokenError) -> String {
    let token = try mint(TokenClaims(subject: "fingerprint", role: .user, expiresAtSeconds: 1))
    return String((token.split(separator: ".").last ?? "").prefix(Self.fingerprintLength))  // own text
  }

  /// Of six bits each. Two secrets that look the same are not to be had by accident, and most of what would confirm a
  /// guess is left out.
  private static let fingerprintLength = 6

  /// - Parameter nowSeconds: since 1970.
  package func verify(_ token: String, nowSeconds: Int64) throws(TokenError) -> TokenClaims {
    // The C library reads up to the first NUL. No header carries one; this says so in one more place.
    guard !token.utf8.contains(0) else { throw TokenError("it is not a JSON Web Token") }
    var object: OpaquePointer?
    guard unsafe jwt_decode(&object, token, secret, Int32(secret.count)) == 0, let decoded = unsafe object
    else {
      throw TokenError("it is not a JSON Web Token signed by this broker's secret with HS256")
    }
    defer { unsafe jwt_free(decoded) }
    guard unsafe jwt_get_alg(decoded) == JWT_ALG_HS256 else {
      throw TokenError("it is signed otherwise than by HS256")
    }
    guard let text = unsafe jwt_get_grants_json(decoded, nil) else { throw TokenError("it claims nothing") }
    defer { unsafe free(text) }
    let payload: JSONValue
    do {
      payload = try JSONParser.value(of: Array(unsafe String(cString: text).utf8))
    } catch {
      throw TokenError("its payload cannot be read: \(error.detail)")
    }
    return try TokenClaims(payload: payload, nowSeconds: nowSeconds)
  }
}
