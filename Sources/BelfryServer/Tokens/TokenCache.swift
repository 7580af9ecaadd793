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

  private let signer: TokenSigner
  private var known = RecentValues<UTF8Text, TokenClaims>(countMax: tokensMax)

  init(signer: TokenSigner) {
    self.signer = signer
  }

  var count: Int { known.count }

  func claims(of token: UTF8Text, nowSeconds: Int64) throws(TokenError) -> TokenClaims {
    if let claims = known.use(token) {
      if claims.expiresAtSeconds <= nowSeconds { throw TokenError("it has expired") }
      return claims
    }
    let claims = try signer.verify(token.string, nowSeconds: nowSeconds)
    known.remember(claims, as: token)
    return claims
  }
}
