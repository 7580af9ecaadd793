import BelfryBytes
import BelfryModel

/// Checks tokens, and remembers those found good. Checking a signature costs several microseconds, and a
/// client shows the same token with every request.
///
/// Refused tokens are not remembered. Otherwise anybody could push good ones out. Each event loop has one
/// cache.
final class TokenCache {
  /// At about half a kilobyte a token, this is some megabytes a loop, and more tokens than are usually in use
  /// at the same time. Tokens beyond it are checked again.
  static let tokensMax = 16_384

  /// A table may have room for twice its elements, so it holds only a reference for each token.
  private final class Known {
    var token: VerifiedToken
    init(_ token: VerifiedToken) { self.token = token }
  }

  private var known = RecentValues<UTF8Text, Known>(countMax: tokensMax)
  /// Keys are replaced while they are rotated. All remembered tokens are then checked again.
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

  /// Records that Redis said that the token was not revoked.
  func clear(_ token: UTF8Text, in epoch: Int) {
    known.use(token)?.token.clearedIn = epoch
  }
}
