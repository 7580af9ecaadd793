import BelfryBytes
import BelfryModel
import Foundation
import TestKit
import Testing

@testable import BelfryInterface
@testable import BelfryServer

@Suite struct TokenTests {
  static let secret = Array("0123456789abcdef0123456789abcdef".utf8)
  static let now: Int64 = 1_763_700_000
  let signer = TokenSigner(secret: secret)
  let keys = TokenKeys(TokenSigner(secret: secret))

  private func claims(
    _ subject: String = "alice", _ role: TokenClaims.Role = .user, device: String? = nil,
    expiry: Int64 = now + 60
  ) -> TokenClaims {
    TokenClaims(
      subject: subject, role: role, device: device.flatMap { DeviceID($0) }, expiresAtSeconds: expiry)
  }

  /// A token with any header, payload and signature.
  private func forged(header: String, payload: String, signature: String = "AAAA") -> String {
    [header, payload].map { Self.base64URL(Data($0.utf8)) }.joined(separator: ".") + "." + signature
  }

  private static func base64URL(_ data: Data) -> String {
    data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  private func refusal(of token: String) -> String? {
    do {
      _ = try keys.verify(UTF8Text(token), nowSeconds: Self.now)
      return nil
    } catch {
      return error.cause
    }
  }

  @Test(arguments: TokenClaims.Role.allCases)
  func whatIsMintedIsVerified(role: TokenClaims.Role) throws {
    for device in [nil, "phone-1"] {
      let claims = claims("alice", role, device: device)
      #expect(try keys.verify(UTF8Text(signer.mint(claims)), nowSeconds: Self.now).claims == claims)
    }
  }

  @Test func roleIsUserUnlessSaid() throws {
    // Minted elsewhere: Python's hmac, HS256 with the secret above, {"sub": "bob", "exp": 4102444800}.
    let token =
      "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJib2IiLCJleHAiOjQxMDI0NDQ4MDB9."
      + "022e1FjJvIwU9Vl8T-cNZhEWnUWy7Jn7N-NzZ3h0_C8"
    let claims = try keys.verify(UTF8Text(token), nowSeconds: Self.now).claims
    #expect(claims == TokenClaims(subject: "bob", role: .user, expiresAtSeconds: 4_102_444_800))
  }

  @Test func expiredIsRefused() throws {
    let token = signer.mint(claims(expiry: Self.now))
    #expect(refusal(of: token) == "it has expired")
    #expect(try keys.verify(UTF8Text(token), nowSeconds: Self.now - 1).claims.subject == "alice")
  }

  /// Brokers of other builds compare it. The expected value was made with Python's hmac, with header and
  /// payload as libjwt writes them.
  @Test func aFingerprintTellsSecretsApartAndIsNoSignature() {
    let fingerprint = signer.fingerprint
    #expect(fingerprint == "d4wdrr")
    let other = TokenSigner(secret: Array("another secret of thirty-two byte".utf8))
    #expect(other.fingerprint != fingerprint)
  }

  @Test func anotherSecretIsRefused() {
    let other = TokenSigner(secret: Array("another secret of thirty-two byte".utf8))
    #expect(refusal(of: other.mint(claims())) != nil)
  }

  @Test(arguments: ["none", "None", "NONE", "HS384", "HS512", "RS256", "ES256", "hs256 ", "", "XX"])
  func otherAlgorithmsAreRefused(algorithm: String) {
    let payload = #"{"sub":"alice","exp":\#(Self.now + 60)}"#
    for signature in ["", "AAAA"] {
      let token = forged(
        header: #"{"alg":"\#(algorithm)","typ":"JWT"}"#, payload: payload, signature: signature)
      #expect(refusal(of: token) != nil)
    }
  }

  /// The same secret and a good signature, but by HMAC-SHA-512.
  @Test func goodSignatureByAnotherAlgorithmIsRefused() {
    let token =
      "eyJhbGciOiJIUzUxMiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJib2IiLCJleHAiOjQxMDI0NDQ4MDB9."
      + "8jFW5lUfFHkrZLey1fEdMTeHc2Y2L7DkrJUmBf17Z_bjln9xE7a3sMenlGnyeVjXs6tSZo9NpvSg5Ca1bjhzZw"
    #expect(refusal(of: token) == "its alg is not HS256, RS256 or EdDSA")
  }

  @Test func changedPayloadIsRefused() {
    let parts = signer.mint(claims()).split(separator: ".").map(String.init)
    let payload = Self.base64URL(
      Data(#"{"exp":\#(Self.now + 60),"role":"operator","sub":"alice"}"#.utf8))
    #expect(refusal(of: "\(parts[0]).\(payload).\(parts[2])") != nil)
    #expect(refusal(of: "\(parts[0]).\(parts[1]).") != nil)
    #expect(refusal(of: "\(parts[0]).\(parts[1]).\(parts[2])A") != nil)
    #expect(refusal(of: "\(parts[0]).\(parts[1]).\(parts[2])") == nil)
  }

  @Test(arguments: ["", ".", "..", "...", "a.b.c", "Bearer", "\0", "e30.e30.", "e30.e30.e30", "🔔.🔔.🔔"])
  func garbageIsRefused(token: String) {
    #expect(refusal(of: token) != nil)
  }

  @Test func randomBytesAreRefused() {
    var generator = SeededGenerator(seed: 7)
    let good = Array(signer.mint(claims()).utf8)
    for _ in 0..<2_000 {
      var bytes = good
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 1...255, using: &generator)
      }
      let text = String(decoding: bytes, as: UTF8.self)
      // The last character of a signature has two spare bits (43 characters hold 258): only one text stands for it.
      #expect(refusal(of: text) != nil || text == String(decoding: good, as: UTF8.self))
    }
  }

  @Test(arguments: [
    (#"{"sub":"alice"}"#, "exp"), (#"{"exp":4102444800}"#, "sub"),
    (#"{"sub":"alice","exp":"4102444800"}"#, "exp"), (#"{"sub":"not an accid","exp":4102444800}"#, "accid"),
    (#"{"sub":7,"exp":4102444800}"#, "sub"), (#"{"sub":"a","exp":4102444800,"role":"root"}"#, "role"),
    (#"{"sub":"a","exp":4102444800,"role":1}"#, "role"), (#"[]"#, "object"),
    (#"{"sub":"a","exp":4102444800,"device":"a b"}"#, "deviceId"),
    (#"{"sub":"a","exp":4102444800,"nbf":4102444799}"#, "nbf"),
    (#"{"sub":"a","exp":4102444800,"iat":"1795238998"}"#, "iat"),
  ])
  func claimsAreChecked(payload: String, word: String) throws {
    let value = try JSONParser.value(of: Array(payload.utf8))
    let error = #expect(throws: TokenError.self) {
      try TokenClaims(payload: value, nowSeconds: Self.now)
    }
    #expect(error?.cause.contains(word) == true)
  }

  /// An issuer that writes milliseconds makes tokens that never end.
  @Test(arguments: [
    #""exp":1795238998000"#, #""exp":253402300800"#, #""exp":9223372036854775807"#, #""exp":1e300"#,
    #""exp":4102444800,"iat":1795238998000"#, #""exp":4102444800,"iat":1795238998000.5"#,
  ])
  func aTimeInMillisecondsIsRefused(times: String) throws {
    let value = try JSONParser.value(of: Array(#"{"sub":"a",\#(times)}"#.utf8))
    let error = #expect(throws: TokenError.self) { try TokenClaims(payload: value, nowSeconds: Self.now) }
    #expect(
      error?.cause.hasSuffix("is after the year 9999: give it in seconds since 1970, not in milliseconds")
        == true)
  }

  @Test func aTimeInTheLastSecondIsTaken() throws {
    let value = try JSONParser.value(of: Array(#"{"sub":"a","exp":253402300799}"#.utf8))
    let claims = try TokenClaims(payload: value, nowSeconds: Self.now)
    #expect(claims.expiresAtSeconds == TokenClaims.timeMaxSeconds)
  }

  @Test(arguments: [
    ("", nil), (#","iat":1795238998"#, 1_795_238_998_000), (#","iat":1795238998.25"#, 1_795_238_998_250),
    (#","iat":-5"#, 0),
    (#","iat":253402300799"#, TokenClaims.timeMaxSeconds * 1_000),
  ])
  func aTokenSaysWhenItWasIssued(field: String, milliseconds: Int64?) throws {
    let value = try JSONParser.value(of: Array((#"{"sub":"a","exp":4102444800"# + field + "}").utf8))
    #expect(try TokenClaims(payload: value, nowSeconds: Self.now).issuedAtMilliseconds == milliseconds)
    let issue = TokenIssue(account: "a", atMilliseconds: milliseconds)
    #expect(issue.isVoid(before: 1_795_238_998_251) == ((milliseconds ?? 0) < 1_795_238_998_251))
  }

  @Test func rolesOtherThanUserMayHaveAnySubject() throws {
    let claims = claims("the billing system", .app)
    #expect(
      try keys.verify(UTF8Text(signer.mint(claims)), nowSeconds: Self.now).claims.subject == claims.subject)
  }

  @Test func aTokenWhoseEndIsMissingLooksCut() {
    let cut = TokenError("its end is missing; copy the whole token")
    let token = signer.mint(claims())
    for length in [1, 2, 5, 43, 44, 60] {
      let beginning = UTF8Text(String(token.dropLast(length)))
      #expect(throws: cut, "\(length)") { try keys.verify(beginning, nowSeconds: Self.now) }
    }
    for text in ["", "abc", "a.b.c", token + ".x"] {
      #expect(throws: TokenError("it is not a JSON Web Token"), "\(text)") {
        try keys.verify(UTF8Text(text), nowSeconds: Self.now)
      }
    }
  }

  @Test func aKeyWhoseEndIsMissingLooksCut() {
    let (_, text) = BackEndKey.make(
      name: "billing", scopes: nil, by: "ops", nowMilliseconds: 0, lifetimeSeconds: nil)
    #expect(!BackEndKey.isCut(UTF8Text(text)))
    for length in [1, 20, 43, 44, 50] { #expect(BackEndKey.isCut(UTF8Text(String(text.dropLast(length))))) }
    #expect(!BackEndKey.isCut("eyJhbGciOiJIUzI1NiJ9"))
  }

  @Test func cacheForgetsWhatExpiresAndStaysBounded() throws {
    let cache = TokenCache(keys)
    let token = signer.mint(claims())
    #expect(try cache.verify(UTF8Text(token), nowSeconds: Self.now).claims.subject == "alice")
    #expect(try cache.verify(UTF8Text(token), nowSeconds: Self.now + 59).claims.subject == "alice")
    #expect(throws: TokenError("it has expired")) {
      try cache.verify(UTF8Text(token), nowSeconds: Self.now + 60)
    }
    for number in 0..<TokenCache.tokensMax + 10 {
      let token = signer.mint(claims("a\(number)"))
      #expect(try cache.verify(UTF8Text(token), nowSeconds: Self.now).claims.subject == "a\(number)")
    }
    #expect(cache.count <= TokenCache.tokensMax)
  }
}
