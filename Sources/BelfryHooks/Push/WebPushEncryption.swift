package import BelfryBytes

/// Encrypts a message so that a push service carries it and cannot read it.
///
/// Source: RFC 8291 (keys), RFC 8188 (`aes128gcm`), RFC 5869 (HKDF).
package enum WebPushEncryption {
  /// Push services take 4,096 bytes at least (RFC 8030 §7.2), and not all of them more.
  package static let messageMaxBytes = 4_096
  static let saltBytes = 16
  package static let secretBytes = 16
  /// The header (salt, record size, length of the key, key), the delimiter and the tag.
  package static let overheadBytes =
    saltBytes + 4 + 1 + P256PrivateKey.pointBytes + 1 + AuthenticatedEncryption.tagBytes
  package static let textMaxBytes = messageMaxBytes - overheadBytes

  /// One record with the text.
  /// - Parameters:
  ///   - receiver: the public key of the subscription (`p256dh`).
  ///   - secret: the secret that only the subscription and the sender know (`auth`).
  ///   - own: a key that is used for this message alone.
  ///   - salt: a salt that is used for this message alone.
  /// - Returns: nil if the key is no point on the curve, or the text is too long.
  package static func encrypt(
    _ text: [UInt8], for receiver: [UInt8], secret: [UInt8], own: P256PrivateKey = P256PrivateKey(),
    salt: [UInt8] = randomSalt()
  ) -> [UInt8]? {
    guard text.count <= textMaxBytes, let agreed = own.agree(with: receiver) else { return nil }
    let info = Array("WebPush: info".utf8) + [0] + receiver + own.point
    let material = expand(extract(agreed, salt: secret), info, count: 32)
    let common = extract(material, salt: salt)
    let key = expand(
      common, Array("Content-Encoding: aes128gcm".utf8) + [0], count: AuthenticatedEncryption.keyBytes)
    let nonce = expand(
      common, Array("Content-Encoding: nonce".utf8) + [0], count: AuthenticatedEncryption.nonceBytes)
    // 2 marks the last record.
    guard let sealed = AuthenticatedEncryption.seal(text + [2], key: key, nonce: nonce) else { return nil }
    let size = UInt32(messageMaxBytes)
    let header = salt + (0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * $0)) }
    return header + [UInt8(own.point.count)] + own.point + sealed
  }

  package static func randomSalt() -> [UInt8] { (0..<saltBytes).map { _ in UInt8.random(in: .min ... .max) } }

  private static func extract(_ material: [UInt8], salt: [UInt8]) -> [UInt8] {
    Hashing.hmac(material, key: salt)
  }

  /// Callers never need more than one hash.
  private static func expand(_ key: [UInt8], _ info: [UInt8], count: Int) -> [UInt8] {
    Array(Hashing.hmac(info + [1], key: key).prefix(count))
  }
}
