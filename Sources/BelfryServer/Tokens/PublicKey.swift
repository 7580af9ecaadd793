import CCrypto

/// A public key that checks tokens of other issuers: RSA of at least 2,048 bits, or Ed25519. It never
/// changes, so all loops may use it at the same time.
///
/// SAFETY of `@safe`: the key belongs to the object, is freed with it, and never leaves it.
@safe final class PublicKey: Sendable {
  /// RFC 7518 §3.3.
  static let rsaBitsMin = 2_048
  /// Beyond this size, a check takes milliseconds of the loop.
  static let rsaBitsMax = 4_096

  // SAFETY: libcrypto's keys count their references by themselves, and checking a signature does not change
  // them.
  private nonisolated(unsafe) let key: OpaquePointer
  let algorithm: TokenAlgorithm
  /// The key in its standard form.
  let bytes: [UInt8]

  /// - Parameter pem: a text with `-----BEGIN PUBLIC KEY-----`.
  convenience init(pem: [UInt8]) throws(TokenError) {
    guard let key = unsafe crypto_public_key(pem, Int32(pem.count)) else {
      throw TokenError("it has no -----BEGIN PUBLIC KEY-----")
    }
    try unsafe self.init(taking: key)
  }

  /// - Parameter ed25519: the 32 bytes of the key.
  convenience init(ed25519 raw: [UInt8]) throws(TokenError) {
    guard raw.count == Int(crypto_ed25519_bytes), let key = unsafe crypto_ed25519_key(raw) else {
      throw TokenError("an Ed25519 key has 32 bytes")
    }
    try unsafe self.init(taking: key)
  }

  convenience init(rsaModulus modulus: [UInt8], exponent: [UInt8]) throws(TokenError) {
    let sizes = (modulus: modulus.count, exponent: exponent.count)
    guard sizes.modulus <= Self.rsaBitsMax / 8 + 1, sizes.exponent <= 8,
      let key = unsafe crypto_rsa_key(modulus, Int32(sizes.modulus), exponent, Int32(sizes.exponent))
    else { throw TokenError("its n and e are not an RSA key") }
    try unsafe self.init(taking: key)
  }

  private init(taking key: OpaquePointer) throws(TokenError) {
    unsafe self.key = unsafe key
    do throws(TokenError) {
      algorithm = try unsafe Self.algorithm(of: key)
    } catch {
      unsafe crypto_free_key(key)
      throw error
    }
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let length = unsafe crypto_key_bytes(key, &bytes, Int32(bytes.count))
    self.bytes = Array(bytes.prefix(Int(max(length, 0))))
  }

  deinit { unsafe crypto_free_key(key) }

  private static func algorithm(of key: OpaquePointer) throws(TokenError) -> TokenAlgorithm {
    switch unsafe crypto_kind(key) {
    case Int32(crypto_kind_ed25519): return .edDSA
    case Int32(crypto_kind_rsa):
      guard (rsaBitsMin...rsaBitsMax).contains(Int(unsafe crypto_bits(key))) else {
        throw TokenError("an RSA key has \(rsaBitsMin) to \(rsaBitsMax) bits")
      }
      return .rs256
    default: throw TokenError("it is neither an RSA nor an Ed25519 key")
    }
  }

  func isGood(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
    unsafe crypto_verify(key, signature, signature.count, bytes, bytes.count) == 1
  }
}
