/// Checks tokens, and remembers those found good: checking a signature costs several microseconds, and a
/// client shows the same token with every request.
///
/// Refused tokens are not remembered, or anybody could push good ones out. One per event loop.
final class TokenCache {
  /// At about half a kilobyte a token, some megabytes a loop, and more tokens than are usually at work at
  /// once. Beyond it, tokens are checked again.
  static let tokensMax = 16_384

  private let signer: TokenSigner
  // Two generations: when the younger is full it becomes the older and what was not used since is gone.
  // It forgets about the right ones and needs neither a list nor a clock.
  private var younger: [String: TokenClaims] = [:]
  private var older: [String: TokenClaims] = [:]

  init(signer: TokenSigner) {
    self.signer = signer
  }

  var count: Int { younger.count + older.count }

  func claims(of token: String, nowSeconds: Int64) throws(TokenError) -> TokenClaims {
    if let known = younger[token] ?? older[token] {
      if known.expiresAtSeconds <= nowSeconds { throw TokenError("it has expired") }
      if younger[token] == nil { remember(token, known) }
      return known
    }
    let claims = try signer.verify(token, nowSeconds: nowSeconds)
    remember(token, claims)
    return claims
  }

  private func remember(_ token: String, _ claims: TokenClaims) {
    if younger.count >= Self.tokensMax / 2 {
      older = younger
      younger = [:]
    }
    younger[token] = claims
  }
}
