import BelfryBytes
import Foundation

/// A secret with which requests to other systems are signed, so that the receiver can check their origin.
///
/// Source: Standard Webhooks 1.0.0, symmetric signatures (`v1`): HMAC-SHA-256 of `id.timestamp.body` under the bytes that
/// stand in base64 behind `whsec_`.
package struct WebhookSecret: Sendable, Hashable {
  package static let prefix = "whsec_"
  package static let sizeBytes = 24...64
  package static let rule =
    "whsec_ and \(sizeBytes.lowerBound) to \(sizeBytes.upperBound) bytes in base64"

  package let text: String
  private let key: [UInt8]

  /// Nil if the text does not follow ``rule``.
  package init?(_ text: String) {
    guard text.utf8.starts(with: Self.prefix.utf8),
      let key = Data(base64Encoded: String(Substring(text.utf8.dropFirst(Self.prefix.utf8.count)))),
      Self.sizeBytes.contains(key.count)
    else { return nil }
    self.text = text
    self.key = [UInt8](key)
  }

  /// A new one of 32 bytes.
  package static func random() -> WebhookSecret {
    let key = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
    return WebhookSecret(key: key)
  }

  private init(key: [UInt8]) {
    self.key = key
    text = Self.prefix + Data(key).base64EncodedString()
  }

  fileprivate func signature(of bytes: [UInt8]) -> String {
    "v1," + Data(Hashing.hmac(bytes, key: key)).base64EncodedString()
  }
}

/// The headers of one signed request.
package struct WebhookHeaders: Sendable {
  package let all: [(name: String, value: String)]

  /// - Parameters:
  ///   - id: the id of the delivery. It is the same at each try and contains no dot.
  ///   - secrets: all valid secrets, so that a receiver may have any of them.
  package init(id: String, body: [UInt8], secrets: [WebhookSecret], nowSeconds: Int64) {
    let signed = Array("\(id).\(nowSeconds).".utf8) + body
    all = [
      ("webhook-id", id), ("webhook-timestamp", String(nowSeconds)),
      ("webhook-signature", secrets.map { $0.signature(of: signed) }.joined(separator: " ")),
    ]
  }
}
