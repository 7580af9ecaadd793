import Glibc

/// The secret that signs and checks tokens (HS256). The key is the text's bytes as they are, without the
/// line's end, so that any other program that mints tokens can be given the same text.
package struct SigningSecret: Sendable, Hashable {
  /// RFC 7518 §3.2: the key of HS256 has at least as many bits as the hash.
  package static let lengthMinBytes = 32
  static let lengthMaxBytes = 4 << 10

  package let bytes: [UInt8]

  /// The secret of a broker that is starting. Makes the data folder's own on the first start.
  package init(for configuration: Configuration, in folder: DataFolder) throws(StartError) {
    switch configuration.secret {
    case .text(let text): bytes = Array(text.utf8)
    case .file(let path): bytes = try SigningSecret.read(path)
    case .dataFolder:
      let path = SigningSecret.path(in: folder.path)
      if unsafe access(path, F_OK) != 0 { try SigningSecret.make(path) }
      self = try SigningSecret(inDataFolder: folder.path)
    }
  }

  /// The secret that a broker on this data folder made: for commands that run beside it.
  package init(inDataFolder folder: String) throws(StartError) {
    let path = SigningSecret.path(in: folder)
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { throw .refused(.secretUnusable, "cannot read it", at: path) }
    guard status.st_mode & 0o077 == 0 else {
      let mode = String(status.st_mode & 0o777, radix: 8)
      throw StartError(
        .secretUnusable,
        "others than its owner may use it (mode 0\(mode)), so anybody may have minted tokens with it: "
          + "chmod 600 it if nobody has, else delete it and let the next start make a new one",
        at: path)
    }
    bytes = try SigningSecret.read(path)
  }

  private static func path(in folder: String) -> String {
    folder + "/secret"
  }

  private static func read(_ path: String) throws(StartError) -> [UInt8] {
    var bytes = try SmallFile.read(path, sizeMaxBytes: lengthMaxBytes)
    while let last = bytes.last, [UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains(last) {
      bytes.removeLast()
    }
    guard bytes.count >= lengthMinBytes else {
      throw StartError(.secretUnusable, "it has fewer than \(lengthMinBytes) bytes", at: path)
    }
    return bytes
  }

  private static func make(_ path: String) throws(StartError) {
    // The system's generator reads getrandom(2).
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for _ in 0..<lengthMinBytes {
      let byte = UInt8.random(in: .min ... .max)
      text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    try SmallFile.replace(path, with: text + [UInt8(ascii: "\n")], mode: 0o600, orThrow: .secretUnusable)
  }
}
