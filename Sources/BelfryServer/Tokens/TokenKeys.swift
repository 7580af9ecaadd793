import BelfryBytes
import BelfryModel

/// All keys that a broker accepts at a time, and the claims that it expects in a token in addition to a good
/// signature. It is a value: when keys are rotated, another value replaces it.
package struct TokenKeys: Sendable, Hashable {
  /// The most keys of one algorithm. A token without `kid` is tried with each of them.
  static let keysPerAlgorithmMax = 8

  /// The first signer signs the broker's own tokens; the others are still accepted.
  package let signers: [TokenSigner]
  /// The keys that check tokens of other issuers.
  let publicKeys: [TokenKey]
  /// The keys that were fetched from an address, and change with the key set there.
  private(set) var fetched: [TokenKey] = []
  let expected: ExpectedClaims

  /// - Parameter signers: at least one. A key that occurs twice counts once.
  package init(
    signers: [TokenSigner], publicKeys: [TokenKey] = [], expected: ExpectedClaims = ExpectedClaims()
  ) throws(TokenError) {
    precondition(!signers.isEmpty, "a broker does not start without a secret")
    self.signers = signers.filteringRepeated(by: \.key.identity)
    self.publicKeys = publicKeys.filteringRepeated(by: \.identity)
    self.expected = expected
    try checkCounts()
  }

  /// The same keys, with these in place of the ones fetched before.
  /// - Throws: if there are too many keys together.
  func with(fetched: [TokenKey]) throws(TokenError) -> TokenKeys {
    var keys = self
    keys.fetched = fetched.filteringRepeated(by: \.identity)
    try keys.checkCounts()
    return keys
  }

  private func checkCounts() throws(TokenError) {
    for algorithm in TokenAlgorithm.allCases {
      let count = keys.count { $0.algorithm == algorithm }
      guard count <= Self.keysPerAlgorithmMax else {
        throw TokenError(
          "there are \(count) keys for \(algorithm.rawValue), and the limit is \(Self.keysPerAlgorithmMax)")
      }
    }
  }

  /// Keys of a single secret.
  package init(_ signer: TokenSigner) {
    signers = [signer]
    publicKeys = []
    expected = ExpectedClaims()
  }

  /// The fingerprints of the other secrets, as ``TokenSigner/fingerprint``.
  var otherFingerprints: [String] { signers.dropFirst().map(\.fingerprint) }
  var acceptedKids: [String] { keys.map(\.kid.string) }

  package var signing: TokenSigner { signers[0] }

  private var keys: [TokenKey] { signers.map(\.key) + publicKeys + fetched }

  func accepts(_ identity: KeyIdentity) -> Bool { keys.contains { $0.identity == identity } }

  /// - Parameter nowSeconds: since 1970.
  func verify(_ token: UTF8Text, nowSeconds: Int64) throws(TokenError) -> VerifiedToken {
    let token = try JSONWebToken(token)
    let candidates = keys.filter { key in
      key.algorithm == token.algorithm && (token.kid == nil || !key.isNamed || key.kid == token.kid)
    }
    guard !candidates.isEmpty else { throw .unknownKey }
    guard let key = candidates.first(where: { $0.isGood(token.signature, of: token.signed) }) else {
      throw TokenError("no key of this broker signed it")
    }
    let payload: JSONValue
    do {
      payload = try JSONParser.value(of: token.payload)
    } catch {
      throw TokenError("its payload cannot be read: \(error.detail)")
    }
    let claims = try TokenClaims(payload: payload, nowSeconds: nowSeconds, expected: expected)
    return VerifiedToken(claims: claims, key: key.identity)
  }
}

/// The claims of a verified token, and the key that verified it.
struct VerifiedToken: Sendable, Hashable {
  let claims: TokenClaims
  let key: KeyIdentity
  /// The issue of a user's token, which the user may revoke.
  let issue: TokenIssue?
  /// The epoch of ``Revocations`` in which Redis said that it was not revoked; nil before Redis was asked.
  var clearedIn: Int?

  init(claims: TokenClaims, key: KeyIdentity) {
    self.claims = claims
    self.key = key
    issue =
      claims.role == .user
      ? AccountID(claims.subject).map { TokenIssue(account: $0, atMilliseconds: claims.issuedAtMilliseconds) }
      : nil
  }
}

extension Array {
  fileprivate func filteringRepeated(by identity: KeyPath<Element, KeyIdentity>) -> [Element] {
    var seen: Set<KeyIdentity> = []
    return filter { seen.insert($0[keyPath: identity]).inserted }
  }
}

/// The issuer and the audience that tokens must name, if they are configured.
package struct ExpectedClaims: Sendable, Hashable {
  /// `iss`.
  package var issuer: String?
  /// `aud`, or one of several.
  package var audience: String?

  package init(issuer: String? = nil, audience: String? = nil) {
    self.issuer = issuer
    self.audience = audience
  }
}
