import BelfryModel
import BelfryServer
import Foundation

/// Tokens as the broker under test would mint them, with its secret.
enum TestTokens {
  static func mint(subject: String, role: String, device: String?, ttlSeconds: Int) throws -> String {
    guard let role = TokenClaims.Role(rawValue: role) else {
      throw Wire.Failure(description: "no role \(role)")
    }
    let claims = TokenClaims(
      subject: subject, role: role, device: device.flatMap { DeviceID($0) },
      expiresAtSeconds: Int64(Date().timeIntervalSince1970) + Int64(ttlSeconds))
    return TokenSigner(secret: Array(Broker.secret.utf8)).mint(claims)
  }
}
