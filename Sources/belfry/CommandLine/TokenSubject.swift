import BelfryBytes
import BelfryModel
import Foundation

/// Reads which account a token names. Only the broker can check a token, so nothing is decided by this.
enum TokenSubject {
  private struct Claims: Decodable {
    let sub: String
    let role: String?
  }

  /// The account of a user's token; nil for any other token, which names no account.
  static func account(of token: String) -> String? {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let json = Base64URL.decode(parts[1].utf8),
      let claims = try? JSONDecoder().decode(Claims.self, from: Data(json)), claims.role ?? "user" == "user"
    else { return nil }
    return AccountID(claims.sub)?.text
  }
}
