package import BelfryBytes
import BelfryModel
import BelfryOutbound

/// Tells push services who sends. Each service gets a token of a few hours, signed with the key for which browsers made
/// their subscriptions.
///
/// Source: RFC 8292 (VAPID).
package struct VAPIDKey: Sendable {
  /// RFC 8292 §2: at most 24 hours.
  static let tokenSeconds: Int64 = 12 * 3_600
  /// A token is replaced this long before it ends.
  static let renewalSeconds: Int64 = 3_600

  private let key: P256PrivateKey
  /// A `mailto:` or `https:` URL at which the operator of a push service reaches the operator of the broker.
  let contact: String?
  /// The public key in the form that browsers need (`applicationServerKey`): the point, in base64url.
  package let publicText: String

  package init(_ key: P256PrivateKey, contact: String?) {
    self.key = key
    self.contact = contact
    publicText = Base64URL.encode(key.point)
  }

  /// The header `Authorization`. Nil if libcrypto has no memory.
  package func authorization(for origin: String, nowSeconds: Int64) -> String? {
    var claims: JSONObject = ["aud": .string(origin), "exp": .integer(nowSeconds + Self.tokenSeconds)]
    if let contact { claims["sub"] = .string(contact) }
    let header: JSONObject = ["alg": "ES256", "typ": "JWT"]
    let signed = [header, claims].map { Base64URL.encode(JSONText.bytes(of: .object($0))) }
      .joined(separator: ".")
    guard let signature = key.signature(of: Array(signed.utf8)) else { return nil }
    return "vapid t=\(signed).\(Base64URL.encode(signature)),k=\(publicText)"
  }
}

/// The tokens that are valid at present, by origin. Each loop has its own.
struct VAPIDTokens {
  /// With this many tokens all of them are dropped, and signed again when they are needed.
  private static let countMax = 256

  private let key: VAPIDKey
  private var known: [String: (text: String, until: Int64)] = [:]

  init(_ key: VAPIDKey) { self.key = key }

  mutating func authorization(for url: OutboundURL, nowSeconds: Int64) -> String? {
    let origin = url.origin
    if let token = known[origin], nowSeconds < token.until { return token.text }
    guard let text = key.authorization(for: origin, nowSeconds: nowSeconds) else { return nil }
    if known.count >= Self.countMax { known.removeAll() }
    known[origin] = (text, nowSeconds + VAPIDKey.tokenSeconds - VAPIDKey.renewalSeconds)
    return text
  }
}
