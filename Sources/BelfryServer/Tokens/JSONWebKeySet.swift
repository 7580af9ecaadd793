import BelfryBytes
import BelfryModel

/// Reads the public keys of a JSON Web Key Set (RFC 7517) that Belfry supports for tokens: RSA for RS256, and
/// Ed25519 (RFC 8037). Other keys in the set are passed over.
enum JSONWebKeySet {
  /// - Parameter passesOverUnusable: true if an unusable RSA or Ed25519 key is passed over too, such as one
  ///   with too many bits. This is for a set that others maintain: one new key in it must not lock out the
  ///   users of the other keys.
  static func keys(in text: [UInt8], passesOverUnusable: Bool = false) throws(TokenError) -> [TokenKey] {
    guard case .object(let set)? = try? JSONParser.value(of: text), case .array(let elements)? = set["keys"]
    else { throw TokenError("it is not a JSON Web Key Set: an object with a list of keys") }
    var keys: [TokenKey] = []
    var unusable: TokenError?
    for (index, element) in elements.enumerated() {
      do throws(TokenError) {
        guard case .object(let members) = element else { throw TokenError("it is not an object") }
        try requirePublic(members)
        do throws(TokenError) {
          if let key = try key(members) { keys.append(key) }
        } catch {
          guard passesOverUnusable else { throw error }
          unusable = TokenError("keys[\(index)]: \(error.cause)")
        }
      } catch {
        throw TokenError("keys[\(index)]: \(error.cause)")
      }
    }
    guard !keys.isEmpty else {
      throw unusable ?? TokenError("it has no RSA key for RS256 and no Ed25519 key")
    }
    return keys
  }

  private enum Word {
    static let octets: UTF8Text = "oct"
    static let rsa: UTF8Text = "RSA"
    static let octetPair: UTF8Text = "OKP"
    static let ed25519: UTF8Text = "Ed25519"
    static let signature: UTF8Text = "sig"
  }

  /// Refuses a private key or a secret. An issuer who publishes one has given away more than readers of the
  /// set may have.
  private static func requirePublic(_ members: JSONObject) throws(TokenError) {
    guard word(members["kty"]) != Word.octets, members["d"] == nil else {
      throw TokenError("it is not a public key")
    }
  }

  private static func key(_ members: JSONObject) throws(TokenError) -> TokenKey? {
    let type = word(members["kty"])
    if let use = word(members["use"]), use != Word.signature { return nil }
    let key: PublicKey
    switch type {
    case Word.rsa: key = try PublicKey(rsaModulus: bytes(members, "n"), exponent: bytes(members, "e"))
    case Word.octetPair where word(members["crv"]) == Word.ed25519:
      key = try PublicKey(ed25519: bytes(members, "x"))
    default: return nil
    }
    if let algorithm = word(members["alg"]), TokenAlgorithm(word: algorithm) != key.algorithm { return nil }
    return TokenKey(key, kid: word(members["kid"]))
  }

  private static func word(_ value: JSONValue?) -> UTF8Text? {
    if case .string(let text) = value { UTF8Text(text) } else { nil }
  }

  private static func bytes(_ members: JSONObject, _ name: String) throws(TokenError) -> [UInt8] {
    guard let text = word(members[name]), let bytes = Base64URL.decode(text.utf8) else {
      throw TokenError("its \(name) is not base64url")
    }
    return bytes
  }
}
