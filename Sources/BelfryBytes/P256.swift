import CCrypto

/// A private key on the curve P-256, for signatures (ES256) and for agreeing on a secret. Never changes, so that all loops
/// may use it at once.
///
/// SAFETY of `@safe`: the key belongs to the object, is freed with it, and leaves it never.
@safe package final class P256PrivateKey: Sendable {
  /// The size of the public key, uncompressed (SEC 1 §2.3.3).
  package static let pointBytes = Int(crypto_point_bytes)
  package static let pemMaxBytes = 4 << 10

  // SAFETY: libcrypto's keys count their references by themselves, and neither signing nor agreeing changes one.
  private nonisolated(unsafe) let key: OpaquePointer
  /// The public key as a point.
  package let point: [UInt8]

  /// Makes a new key.
  package convenience init() {
    let key = unsafe crypto_p256_generate()
    guard let key = unsafe key, let made = unsafe Self.point(of: key) else {
      preconditionFailure("libcrypto has P-256")
    }
    unsafe self.init(taking: key, point: made)
  }

  /// Nil unless the text has a private key on this curve, without a password.
  package convenience init?(pem: [UInt8]) {
    guard pem.count <= Self.pemMaxBytes, let key = unsafe crypto_p256_private_key(pem, Int32(pem.count))
    else {
      return nil
    }
    guard let point = unsafe Self.point(of: key) else {
      unsafe crypto_free_key(key)
      return nil
    }
    unsafe self.init(taking: key, point: point)
  }

  private init(taking key: OpaquePointer, point: [UInt8]) {
    unsafe self.key = unsafe key
    self.point = point
  }

  deinit { unsafe crypto_free_key(key) }

  private static func point(of key: OpaquePointer) -> [UInt8]? {
    var point = [UInt8](repeating: 0, count: pointBytes)
    return unsafe crypto_p256_point(key, &point) == 1 ? point : nil
  }

  /// The key as PEM, for a file.
  package var pem: [UInt8] {
    var text = [UInt8](repeating: 0, count: Self.pemMaxBytes)
    let length = unsafe crypto_private_pem(key, &text, Int32(text.count))
    return Array(text.prefix(Int(length)))
  }

  /// ES256 (RFC 7518 §3.4): 64 bytes. Nil if libcrypto has no memory.
  package func signature(of bytes: [UInt8]) -> [UInt8]? {
    var signature = [UInt8](repeating: 0, count: 2 * Int(crypto_scalar_bytes))
    return unsafe crypto_p256_sign(key, bytes, bytes.count, &signature) == 1 ? signature : nil
  }

  /// The secret that both sides compute. Nil if the other's point is not on the curve.
  package func agree(with point: [UInt8]) -> [UInt8]? {
    guard point.count == Self.pointBytes, let other = unsafe crypto_p256_public_key(point) else { return nil }
    defer { unsafe crypto_free_key(other) }
    var secret = [UInt8](repeating: 0, count: Int(crypto_scalar_bytes))
    return unsafe crypto_p256_agree(key, other, &secret) == 1 ? secret : nil
  }

  /// True if the bytes are a public key on the curve.
  package static func isPoint(_ point: [UInt8]) -> Bool {
    guard point.count == pointBytes, let key = unsafe crypto_p256_public_key(point) else { return false }
    unsafe crypto_free_key(key)
    return true
  }
}

/// AES-128-GCM, by libcrypto.
package enum AuthenticatedEncryption {
  package static let keyBytes = Int(crypto_aes_key_bytes)
  package static let nonceBytes = Int(crypto_nonce_bytes)
  package static let tagBytes = Int(crypto_tag_bytes)

  /// The text encrypted, with the tag after it. Nil if libcrypto has no memory.
  package static func seal(_ text: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8]? {
    precondition(key.count == keyBytes && nonce.count == nonceBytes, "they have one size")
    var sealed = [UInt8](repeating: 0, count: text.count + tagBytes)
    return unsafe crypto_aes128_gcm(key, nonce, text, Int32(text.count), &sealed) == 1 ? sealed : nil
  }
}
