import CCrypto

/// SHA-256, HMAC-SHA-256 and SHA-1, by libcrypto.
package enum Hashing {
  package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var hash = [UInt8](repeating: 0, count: Int(crypto_hash_bytes))
    let isDone = unsafe crypto_sha256(bytes, bytes.count, &hash)
    precondition(isDone == 1, "libcrypto has SHA-256")
    return hash
  }

  /// Of no use as a secret or a signature: the handshake of a WebSocket wants it.
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

  /// Takes as long wherever they differ.
  package static func isSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    return unsafe crypto_is_same(left, right, left.count) == 1
  }
}
