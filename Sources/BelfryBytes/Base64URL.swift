/// Base64 with the alphabet for URLs and without padding (RFC 7515 §2), as tokens and the keys of Web Push are written.
package enum Base64URL {
  package static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    var (value, bits) = (0 as UInt32, 0)
    for byte in bytes {
      value = value << 8 | UInt32(byte)
      bits += 8
      while bits >= 6 {
        bits -= 6
        text.append(alphabet[Int(value >> bits & 63)])
      }
    }
    if bits > 0 { text.append(alphabet[Int(value << (6 - bits) & 63)]) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Nil unless it is the one text that stands for the bytes: two tokens that differ are never the same.
  package static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var (value, bits) = (0 as UInt32, 0)
    for digit in text {
      guard let six = sixBits(digit) else { return nil }
      value = value << 6 | UInt32(six)
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: value >> bits))
      }
    }
    // Six bits that no byte needs, or spare ones that are not 0.
    guard bits < 6, value & (1 << bits - 1) == 0 else { return nil }
    return bytes
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  private static func sixBits(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
