import BelfryBytes
import BelfryModel

/// Checks tokens, and remembers those found good: checking a signature costs several microseconds, and a
/// client shows the same token with every request.
///
/// Refused tokens are not remembered, or anybody could push good ones out. One per event loop.
final class TokenCache {
  /// At about half a kilobyte a token, some megabytes a loop, and more tokens than are usually at work at
  /// once. Beyond it, tokens are checked again.
  static let tokensMax = 16_384

  /// A table has room for twice what is in it at times, so it holds no more of each token than where it is.
  private final class Known {
    var token: VerifiedToken
    init(_ token: VerifiedToken) { self.token = token }
  }

  private var known = RecentValues<UTF8Text, Known>(countMax: tokensMax)
  /// Others take their place while keys are rotated: what was remembered is then checked again.
  var keys: TokenKeys {
    didSet { known = RecentValues(countMax: Self.tokensMax) }
  }

  init(_ keys: TokenKeys) {
    self.keys = keys
  }

  var count: Int { known.count }

  func verify(_ token: UTF8Text, nowSeconds: Int64) throws(TokenError) -> VerifiedToken {
    if let verified = known.use(token)?.token {
      if verified.claims.expiresAtSeconds <= nowSeconds { throw TokenError("it has expired") }
      return verified
    }
    let verified = try keys.verify(token, nowSeconds: nowSeconds)
    known.remember(Known(verified), as: token)
    return verified
  }

  /// Redis said that the token was not revoked.
  func clear(_ token: UTF8Text, in epoch: Int) {
    known.use(token)?.token.clearedIn = epoch
  }
}
