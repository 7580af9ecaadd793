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
    guard parts.count == 3, let data = data(ofBase64URL: parts[1]),
      let claims = try? JSONDecoder().decode(Claims.self, from: data), claims.role ?? "user" == "user"
    else { return nil }
    return AccountID(claims.sub)?.text
  }

  private static func data(ofBase64URL text: Substring) -> Data? {
    let plain = String(text).replacing("-", with: "+").replacing("_", with: "/")
    return Data(base64Encoded: plain + String(repeating: "=", count: (4 - plain.count % 4) % 4))
  }
}
