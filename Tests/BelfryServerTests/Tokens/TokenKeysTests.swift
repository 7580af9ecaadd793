import BelfryBytes
import BelfryModel
import Testing

@testable import BelfryInterface
@testable import BelfryServer

@Suite struct TokenKeysTests {
  private static let now = TokenTests.now
  private let signer = TokenSigner(secret: TokenTests.secret)

  private func keys(
    _ publicKeys: [TokenKey] = [], expected: ExpectedClaims = ExpectedClaims()
  ) throws -> TokenKeys {
    try TokenKeys(signers: [signer], publicKeys: publicKeys, expected: expected)
  }

  private static func rsa(kid: UTF8Text? = nil) throws -> TokenKey {
    TokenKey(try PublicKey(pem: Array(TokenSamples.rsaPEM.utf8)), kid: kid)
  }

  private static func ed25519(kid: UTF8Text? = nil) throws -> TokenKey {
    TokenKey(try PublicKey(pem: Array(TokenSamples.ed25519PEM.utf8)), kid: kid)
  }

  private func refusal(of token: String, by keys: TokenKeys) -> String? {
    do {
      _ = try keys.verify(UTF8Text(token), nowSeconds: Self.now)
      return nil
    } catch {
      return error.cause
    }
  }

  // MARK: Algorithms

  @Test func publicKeysCheckWhatOthersSigned() throws {
    let keys = try keys([Self.rsa(kid: "rsa-1"), Self.ed25519(kid: "ed-1")])
    for token in [TokenSamples.rs, TokenSamples.ed, TokenSamples.edNoKid] {
      let verified = try keys.verify(UTF8Text(token), nowSeconds: Self.now)
      #expect(verified.claims == TokenClaims(subject: "bob", role: .app, expiresAtSeconds: 4_102_444_800))
    }
    for token in [TokenSamples.rs, TokenSamples.ed] {
      #expect(refusal(of: token + "A", by: keys) != nil)
      #expect(refusal(of: String(token.dropLast(8)) + "AAAAAAAA", by: keys) != nil)
      #expect(refusal(of: token, by: try self.keys()) != nil)
    }
  }

  /// Everybody has the public key, and could sign by HMAC with it.
  @Test func aPublicKeyIsNoSecret() throws {
    for kid in [nil, "rsa-1"] as [UTF8Text?] {
      let keys = try keys([Self.rsa(kid: kid)])
      for token in [TokenSamples.confusedPem, TokenSamples.confusedTrim, TokenSamples.confusedDer] {
        #expect(refusal(of: token, by: keys) != nil)
      }
    }
  }

  @Test func theKeyChoosesTheAlgorithm() throws {
    let keys = try keys([Self.rsa(kid: "rsa-1"), Self.ed25519()])
    #expect(refusal(of: TokenSamples.rsSaysEd, by: keys) == "no key of this broker signed it")
    #expect(refusal(of: TokenSamples.rsSaysEd, by: try self.keys([Self.rsa()])) != nil)
    #expect(refusal(of: TokenSamples.noalg, by: keys)?.contains("alg") == true)
  }

  @Test func whatIsCriticalAndUnknownIsRefused() throws {
    #expect(refusal(of: TokenSamples.crit, by: try keys())?.contains("crit") == true)
  }

  @Test(arguments: [TokenSamples.smallRSAPEM, TokenSamples.ecPEM, "", "-----BEGIN PUBLIC KEY-----\n"])
  func unfitPublicKeysAreRefused(pem: String) {
    #expect(throws: TokenError.self) { try PublicKey(pem: Array(pem.utf8)) }
  }

  // MARK: Key ids

  @Test func tokensNameTheKeyThatSignedThem() throws {
    let named = TokenSigner(secret: TokenTests.secret, kid: "2026-11")
    let claims = TokenClaims(subject: "alice", role: .user, expiresAtSeconds: Self.now + 60)
    #expect(try JSONWebToken(UTF8Text(named.mint(claims))).kid == "2026-11")
    let made = try #require(try JSONWebToken(UTF8Text(signer.mint(claims))).kid)
    #expect(made.count == 8)
    #expect(made != TokenSigner(secret: Array(repeating: 7, count: 32)).kid)
  }

  @Test func aKeyThatWasGivenANameIsOnlyForItsTokens() throws {
    let named = TokenKeys(TokenSigner(secret: TokenTests.secret, kid: "2026-11"))
    #expect(refusal(of: TokenSamples.unknownKid, by: named) == "this broker has no key with its alg and kid")
    // A key without a chosen name is tried for every token: other programs that mint with it may use any
    // name.
    #expect(refusal(of: TokenSamples.unknownKid, by: try keys()) == nil)
    let withoutKid =
      "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJib2IiLCJleHAiOjQxMDI0NDQ4MDB9."
      + "022e1FjJvIwU9Vl8T-cNZhEWnUWy7Jn7N-NzZ3h0_C8"
    #expect(refusal(of: withoutKid, by: named) == nil)
  }

  @Test func severalSecretsAreAcceptedAndOneSigns() throws {
    let old = TokenSigner(secret: Array("an older secret of 32 bytes, yes".utf8))
    let both = try TokenKeys(signers: [signer, old, signer])
    #expect(both.signers == [signer, old])
    let claims = TokenClaims(subject: "alice", role: .user, expiresAtSeconds: Self.now + 60)
    for one in [signer, old] {
      let verified = try both.verify(UTF8Text(one.mint(claims)), nowSeconds: Self.now)
      #expect(both.accepts(verified.key))
      #expect(TokenKeys(signer).accepts(verified.key) == (one == signer))
    }
  }

  @Test func thereAreAtMostEightOfAnAlgorithm() throws {
    let signers = (0..<9).map { TokenSigner(secret: Array(repeating: UInt8($0), count: 32)) }
    #expect(try TokenKeys(signers: Array(signers.prefix(8))).signers.count == 8)
    #expect(throws: TokenError.self) { try TokenKeys(signers: signers) }
  }

  @Test func aCacheForgetsWhatAnotherKeySigned() throws {
    let claims = TokenClaims(subject: "alice", role: .user, expiresAtSeconds: Self.now + 60)
    let cache = TokenCache(try keys())
    let token = UTF8Text(signer.mint(claims))
    #expect(try cache.verify(token, nowSeconds: Self.now).claims == claims)
    cache.keys = TokenKeys(TokenSigner(secret: Array(repeating: 7, count: 32)))
    #expect(throws: TokenError.self) { try cache.verify(token, nowSeconds: Self.now) }
  }

  // MARK: Claims

  @Test(arguments: [
    (#"{"sub":"a","exp":4102444800,"iss":"https://id.example","aud":"belfry"}"#, true),
    (#"{"sub":"a","exp":4102444800,"iss":"https://id.example","aud":["other","belfry"]}"#, true),
    (#"{"sub":"a","exp":4102444800,"iss":"https://id.example"}"#, false),
    (#"{"sub":"a","exp":4102444800,"iss":"https://id.example","aud":"belfry2"}"#, false),
    (#"{"sub":"a","exp":4102444800,"iss":"https://id.example","aud":[]}"#, false),
    (#"{"sub":"a","exp":4102444800,"iss":"https://id.example/","aud":"belfry"}"#, false),
    (#"{"sub":"a","exp":4102444800,"iss":["https://id.example"],"aud":"belfry"}"#, false),
    (#"{"sub":"a","exp":4102444800,"aud":"belfry"}"#, false),
  ])
  func issuerAndAudienceAreWhatIsConfigured(payload: String, isAccepted: Bool) throws {
    let value = try JSONParser.value(of: Array(payload.utf8))
    let expected = ExpectedClaims(issuer: "https://id.example", audience: "belfry")
    let claims = try? TokenClaims(payload: value, nowSeconds: Self.now, expected: expected)
    #expect((claims != nil) == isAccepted)
    #expect(throws: Never.self) { try TokenClaims(payload: value, nowSeconds: Self.now) }
  }

  @Test func anIssuersClockMayBeHalfAMinuteAhead() throws {
    for (ahead, isAccepted) in [(Int64(30), true), (31, false)] {
      let value: JSONValue = ["sub": "a", "exp": 4_102_444_800, "nbf": .integer(Self.now + ahead)]
      #expect(((try? TokenClaims(payload: value, nowSeconds: Self.now)) != nil) == isAccepted)
    }
  }

  // MARK: Sets of keys

  private static let rsaMember =
    #"{"kty":"RSA","kid":"rsa-1","use":"sig","n":"\#(TokenSamples.rsaN)","e":"AQAB"}"#
  private static let edMember =
    #"{"kty":"OKP","crv":"Ed25519","kid":"ed-1","x":"\#(TokenSamples.ed25519X)"}"#

  @Test func aSetHasTheSameKeysAsTheFiles() throws {
    let text =
      #"{"keys":[\#(Self.rsaMember),{"kty":"EC","crv":"P-256","x":"AA","y":"AA"},\#(Self.edMember)]}"#
    let found = try JSONWebKeySet.keys(in: Array(text.utf8))
    #expect(found == [try Self.rsa(kid: "rsa-1"), try Self.ed25519(kid: "ed-1")])
    #expect(refusal(of: TokenSamples.rs, by: try keys(found)) == nil)
    #expect(refusal(of: TokenSamples.ed, by: try keys(found)) == nil)
  }

  @Test(arguments: [
    "", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[]}"#, #"{"keys":[{"kty":"EC"}]}"#, #"{"keys":[1]}"#,
    #"{"keys":[{"kty":"oct","k":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"}]}"#,
    #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA"}]}"#, #"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}"#,
    #"{"keys":[{"kty":"OKP","crv":"Ed25519","d":"AA","x":"\#(TokenSamples.ed25519X)"}]}"#,
  ])
  func whatIsNoSetOfPublicKeysIsRefused(text: String) {
    #expect(throws: TokenError.self) { try JSONWebKeySet.keys(in: Array(text.utf8)) }
  }

  @Test func aKeyForSomethingElseIsPassedOver() throws {
    for other in [#""use":"enc""#, #""alg":"PS256""#, #""alg":"RS512""#] {
      let member = #"{"kty":"RSA",\#(other),"n":"\#(TokenSamples.rsaN)","e":"AQAB"}"#
      let text = #"{"keys":[\#(member),\#(Self.edMember)]}"#
      #expect(try JSONWebKeySet.keys(in: Array(text.utf8)).map(\.algorithm) == [.edDSA])
    }
  }
}

@Suite struct Base64URLTests {
  @Test func oneTextStandsForSomeBytes() {
    for (text, bytes) in [("", []), ("AA", [0]), ("_-A", [0xff, 0xe0]), ("AQAB", [1, 0, 1])]
      as [(String, [UInt8])]
    {
      #expect(Base64URL.decode(text.utf8) == bytes)
      #expect(Base64URL.encode(bytes) == text)
    }
    for text in ["A", "AB", "AAB", "AA=", "A A", "+/A", "AAAAA", "é"] {
      #expect(Base64URL.decode(text.utf8) == nil)
    }
  }
}
