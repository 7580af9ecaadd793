import Glibc

/// A secret that signs and checks tokens (HS256). The key is the bytes of the text, without the line end, so that other
/// programs that mint tokens can be given the same text.
package struct SigningSecret: Sendable, Hashable {
  /// RFC 7518 §3.2: the key of HS256 has at least as many bits as the hash.
  package static let lengthMinBytes = 32
  static let lengthMaxBytes = 4 << 10

  package let bytes: [UInt8]

  init(text: String) { bytes = Array(text.utf8) }

  init(file path: String, openness: FileOpenness = .readable) throws(StartError) {
    var bytes = try SmallFile.read(path, sizeMaxBytes: Self.lengthMaxBytes, openness: openness)
    while let last = bytes.last, [UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains(last) {
      bytes.removeLast()
    }
    guard bytes.count >= Self.lengthMinBytes else {
      throw StartError(.secretUnusable, "it must have at least \(Self.lengthMinBytes) bytes", at: path)
    }
    // The text is a PEM key. If it is a public key, everybody who has it could sign tokens.
    guard !bytes.starts(with: "-----BEGIN ".utf8) else {
      throw StartError(.secretUnusable, "it is a PEM key and not a secret: see tokens.publicKeys", at: path)
    }
    self.bytes = bytes
  }

  /// A new secret, from the system's random numbers (getrandom(2)). Its `kid` does not begin with a dash, since operators type
  /// it in commands, and there it would look like an option.
  static func random() -> SigningSecret {
    while true {
      let secret = drawSecret()
      if !TokenSigner(secret: secret.bytes).kid.string.hasPrefix("-") { return secret }
    }
  }

  private static func drawSecret() -> SigningSecret {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for _ in 0..<lengthMinBytes {
      let byte = UInt8.random(in: .min ... .max)
      text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    return SigningSecret(bytes: text)
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  func write(to path: String) throws(StartError) {
    try SmallFile.replace(path, with: bytes + [UInt8(ascii: "\n")], mode: 0o600, orThrow: .secretUnusable)
  }
}
