import CCrypto

/// SHA-256, HMAC-SHA-256 and SHA-1, by libcrypto.
package enum Hashing {
  package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var hash = [UInt8](repeating: 0, count: Int(crypto_hash_bytes))
    let isDone = unsafe crypto_sha256(bytes, bytes.count, &hash)
    precondition(isDone == 1, "libcrypto has SHA-256")
    return hash
  }

  /// The first 64 bits of the SHA-256 of a few bytes. The same in every process.
  ///
  /// A caller who may choose the bytes cannot choose them so that they have the hash of given ones: that takes 2^63 tries.
  /// Two of the caller's own choice that share a hash take 2^32 tries, so their records must tell them apart.
  package static func beginningOfSHA256(_ bytes: [UInt8]) -> UInt64 {
    var hash = InlineArray<32, UInt8>(repeating: 0)
    var span = hash.mutableSpan
    // SAFETY: both are as long as is said, and used during the call only.
    unsafe span.withUnsafeMutableBufferPointer { hash in
      unsafe crypto_sha256_of_few(bytes, bytes.count, hash.baseAddress)
    }
    return (0..<8).reduce(0) { $0 << 8 | UInt64(hash[$1]) }
  }

  /// SHA-1, for the handshake of a WebSocket, which requires it. It is too weak for secrets and signatures.
  package static func sha1(_ bytes: [UInt8]) -> [UInt8] {
    var hash = [UInt8](repeating: 0, count: Int(crypto_sha1_bytes))
    let isDone = unsafe crypto_sha1(bytes, bytes.count, &hash)
    precondition(isDone == 1, "libcrypto has SHA-1")
    return hash
  }

  package static func hmac(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
    var hash = [UInt8](repeating: 0, count: Int(crypto_hash_bytes))
    let isDone = unsafe crypto_hmac_sha256(key, Int32(key.count), bytes, bytes.count, &hash)
    precondition(isDone == 1, "libcrypto has HMAC")
    return hash
  }

  /// Compares in a time that does not depend on where the two differ.
  package static func isSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    return unsafe crypto_is_same(left, right, left.count) == 1
  }
}
