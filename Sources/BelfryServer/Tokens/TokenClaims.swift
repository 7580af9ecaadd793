import BelfryBytes
package import BelfryInterface
package import BelfryModel

/// The claims of a token, once its signature was found good.
package struct TokenClaims: Sendable, Hashable {
  package enum Role: String, Sendable, CaseIterable {
    /// An account, acting for itself.
    case user
    /// A trusted caller, acting for any account.
    case app
    /// A person or a tool that runs the broker. It may do everything that an app may.
    case operation = "operator"
  }

  /// `sub`: in a user's token the accid, otherwise a name that Belfry does not interpret.
  package var subject: String
  package var role: Role
  /// The only device that the token is for; nil if it is for any of the account's devices.
  package var device: DeviceID?
  /// `scope`: nil if the token allows everything that the role may do.
  package var scopes: Set<Scope>?
  /// `exp`, seconds since 1970.
  package var expiresAtSeconds: Int64
  /// `iat`, milliseconds since 1970: the time of issue. Nil if the token does not say.
  package var issuedAtMilliseconds: Int64?

  package init(
    subject: String, role: Role, device: DeviceID? = nil, scopes: Set<Scope>? = nil, expiresAtSeconds: Int64,
    issuedAtMilliseconds: Int64? = nil
  ) {
    self.issuedAtMilliseconds = issuedAtMilliseconds
    self.subject = subject
    self.role = role
    self.device = device
    self.scopes = scopes
    self.expiresAtSeconds = expiresAtSeconds
  }

  /// The last second of the year 9999. A later `exp` or `iat` is refused: its issuer has taken milliseconds for seconds. Such a
  /// token would be valid for thousands of years, and no revocation would end it.
  static let timeMaxSeconds: Int64 = 253_402_300_799

  /// An issuer's clock may be this far ahead of this machine's clock (`nbf`). For `exp` there is no such
  /// tolerance: a thief may not use a token for longer than it says, and its owner has fetched another one
  /// before.
  static let startLeewaySeconds: Int64 = 30
}

extension TokenClaims {
  /// Reads the payload of a token whose signature is good.
  init(
    payload: JSONValue, nowSeconds: Int64, expected: ExpectedClaims = ExpectedClaims()
  ) throws(TokenError) {
    guard case .object(let claims) = payload else { throw TokenError("its payload is not a JSON object") }
    guard let expiry = Self.seconds(claims["exp"]) else {
      let words = claims["exp"] == nil ? "it has no exp" : "its exp is not a number"
      throw TokenError("\(words): the time in seconds since 1970 at which it expires")
    }
    guard expiry > nowSeconds else { throw TokenError("it has expired") }
    guard expiry <= Self.timeMaxSeconds else { throw Self.inMilliseconds("exp") }
    if let start = claims["nbf"] {
      guard let start = Self.seconds(start) else { throw TokenError("its nbf is not a time in seconds") }
      guard start <= nowSeconds + Self.startLeewaySeconds else {
        throw TokenError("it is not valid yet (nbf)")
      }
    }
    let issuedAt = Self.milliseconds(claims["iat"])
    guard issuedAt != nil || claims["iat"] == nil else {
      throw TokenError("its iat is not a time in seconds")
    }
    guard issuedAt ?? 0 <= Self.timeMaxSeconds * 1_000 else { throw Self.inMilliseconds("iat") }
    try expected.check(claims)
    let role = try Self.role(claims["role"])
    self.init(
      subject: try Self.subject(claims["sub"]), role: role,
      device: try Self.device(claims["device"]), scopes: try Self.scopes(claims["scope"], of: role),
      expiresAtSeconds: expiry, issuedAtMilliseconds: issuedAt)
    guard role != .user || AccountID(subject) != nil else {
      throw TokenError("its sub is not an accid: \(AccountID.rule)")
    }
  }

  private static func inMilliseconds(_ claim: String) -> TokenError {
    TokenError("its \(claim) is after the year 9999: give it in seconds since 1970, not in milliseconds")
  }

  /// RFC 7519 allows fractions in times. A time that is out of range becomes one that is just out of it, so that calculations
  /// with it do not overflow.
  private static func seconds(_ value: JSONValue?) -> Int64? {
    switch value {
    case .integer(let seconds): min(max(seconds, 0), timeMaxSeconds + 1)
    case .number(let seconds) where seconds.isFinite:
      Int64(min(max(seconds, 0), Double(timeMaxSeconds + 1)))
    default: nil
    }
  }

  private static func milliseconds(_ value: JSONValue?) -> Int64? {
    guard case .number(let seconds) = value, seconds.isFinite else {
      return Self.seconds(value).map { $0 * 1_000 }
    }
    return Int64(min(max(seconds, 0), Double(timeMaxSeconds + 1)) * 1_000)
  }

  private static func subject(_ value: JSONValue?) throws(TokenError) -> String {
    guard case .string(let subject) = value else {
      throw TokenError(value == nil ? "it has no sub" : "its sub is not a string")
    }
    return subject
  }

  private static func role(_ value: JSONValue?) throws(TokenError) -> Role {
    guard let value else { return .user }
    guard case .string(let name) = value, let role = Role(word: UTF8Text(name)) else {
      throw TokenError("its role is not user, app or operator")
    }
    return role
  }

  /// A user's token may come from an issuer whose scopes mean something else, so it is limited only if it
  /// names one of Belfry's scopes. A back end's token is limited to the scopes that it names, even if there
  /// are none.
  private static func scopes(_ value: JSONValue?, of role: Role) throws(TokenError) -> Set<Scope>? {
    guard let value else { return nil }
    guard case .string(let text) = value else { throw TokenError("its scope is not a string") }
    let scopes = Scope.named(in: text)
    return role == .user && scopes.isEmpty ? nil : scopes
  }

  private static func device(_ value: JSONValue?) throws(TokenError) -> DeviceID? {
    guard let value else { return nil }
    guard case .string(let text) = value, let device = DeviceID(text) else {
      throw TokenError("its device is not a deviceId: \(DeviceID.rule)")
    }
    return device
  }
}

extension ExpectedClaims {
  fileprivate func check(_ claims: JSONObject) throws(TokenError) {
    if let issuer, !Self.isSame(claims["iss"], issuer) {
      throw TokenError("its iss is not the one that this broker accepts (tokens.issuer)")
    }
    guard let audience else { return }
    let isForUs =
      switch claims["aud"] {
      case .array(let audiences): audiences.contains { Self.isSame($0, audience) }
      case let single: Self.isSame(single, audience)
      }
    guard isForUs else { throw TokenError("its aud does not name this broker (tokens.audience)") }
  }

  private static func isSame(_ value: JSONValue?, _ wanted: String) -> Bool {
    if case .string(let text) = value { UTF8Text(text) == UTF8Text(wanted) } else { false }
  }
}

/// Why a token is not accepted. It never holds the token or any part of it.
package struct TokenError: Error, Sendable, Hashable, CustomStringConvertible {
  package var cause: String
  package var description: String { cause }

  init(_ cause: String) { self.cause = cause }

  /// The issuer may have made the key after the last fetch.
  static let unknownKey = TokenError("this broker has no key with its alg and kid")
}

/// The credential of a request, with the data that a revocation needs.
enum Credential: Sendable, Hashable {
  /// A token that this key signed. For a user's token, also the account and the time of issue.
  case key(KeyIdentity, TokenIssue?)
  /// A back end's own key.
  case backEndKey(EntityID)

  var issue: TokenIssue? { if case .key(_, let issue) = self { issue } else { nil } }
}
