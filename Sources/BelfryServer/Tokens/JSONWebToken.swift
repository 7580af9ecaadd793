import BelfryBytes
import BelfryModel

/// The parts of a JSON Web Token (RFC 7519) in its compact form. The signature has not been checked yet.
struct JSONWebToken {
  let algorithm: TokenAlgorithm
  /// The `kid` of the key that the token claims to be signed by.
  let kid: UTF8Text?
  let signed: [UInt8]
  let signature: [UInt8]
  /// Not to be trusted before the signature is checked.
  let payload: [UInt8]

  init(_ text: UTF8Text) throws(TokenError) {
    let dot = UInt8(ascii: ".")
    let parts = text.utf8.split(separator: dot, maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count <= 3, let head = Base64URL.decode(parts[0]) else { throw Self.noToken }
    let header = try Self.header(head)
    algorithm = header.algorithm
    // Somebody who selects a long line in a terminal easily loses its end.
    guard parts.count == 3 else { throw Self.cut }
    guard let payload = Base64URL.decode(parts[1]) else { throw Self.noToken }
    guard parts[2].count >= algorithm.signatureCharactersMin else { throw Self.cut }
    guard let signature = Base64URL.decode(parts[2]) else { throw Self.noToken }
    kid = header.kid
    self.payload = payload
    self.signature = signature
    signed = Array(parts[0]) + [dot] + Array(parts[1])
  }

  private static let noToken = TokenError("it is not a JSON Web Token")
  private static let cut = TokenError("its end is missing; copy the whole token")

  private static func header(
    _ bytes: [UInt8]
  ) throws(TokenError) -> (algorithm: TokenAlgorithm, kid: UTF8Text?) {
    guard case .object(let header)? = try? JSONParser.value(of: bytes) else {
      throw noToken
    }
    // RFC 7515 §4.1.11: a reader that does not know an extension named here must reject the token, and Belfry
    // knows none.
    if header["crit"] != nil {
      throw TokenError("its header has crit, and no extensions are supported")
    }
    guard case .string(let word)? = header["alg"], let algorithm = TokenAlgorithm(word: UTF8Text(word)) else {
      throw TokenError("its alg is not HS256, RS256 or EdDSA")
    }
    guard let kid = header["kid"] else { return (algorithm, nil) }
    guard case .string(let name) = kid else { throw TokenError("its kid is not a string") }
    return (algorithm, UTF8Text(name))
  }
}
