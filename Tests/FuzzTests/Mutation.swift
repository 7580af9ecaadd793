import ModelSamples
import TestKit

// Small damage to bytes, of the kinds that decoders have been seen to mind.
extension SeededGenerator {
  /// Inputs beyond this are cut: what a decoder minds shows in a few kilobytes.
  private static let lengthMaxBytes = 8 << 10

  mutating func damaged(_ bytes: [UInt8], mixedWith other: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<1 + below(4) { damage(&bytes, other) }
    return Array(bytes.prefix(Self.lengthMaxBytes))
  }

  private mutating func damage(_ bytes: inout [UInt8], _ other: [UInt8]) {
    let place = below(bytes.count + 1)
    let length = below(min(16, bytes.count - place) + 1)
    switch below(9) {
    case 0 where place < bytes.count: bytes[place] ^= 1 << UInt8(below(8))
    case 1 where place < bytes.count: bytes[place] = UInt8(below(256))
    case 2: bytes.removeSubrange(place..<place + length)
    case 3: bytes.removeSubrange(place...)
    case 4: bytes.insert(contentsOf: bytes[place..<place + length], at: place)
    case 5: bytes = bytes[..<place] + other.suffix(below(other.count + 1))
    case 6:
      let repeated = Array(bytes[place..<place + length])
      for _ in 0..<below(200) { bytes.insert(contentsOf: repeated, at: place) }
    default:
      bytes.replaceSubrange(place..<place + (oneIn(2) ? length : 0), with: pick(Self.words))
    }
  }

  /// The words of the formats, and the limits of numbers.
  private static let words: [[UInt8]] =
    [
      "", " ", "-", "+", ",", ".", ":", ";", "/", "~", "*", "=", "%", "&", "?", "\"", "\\", "{", "}", "[",
      "]", "\n", "\r\n", "\r\n\r\n", "0", "-1", "-0", "1", "007", "0x1f", "1e9", "1e999", "-1e-999", "1.5",
      "null", "true", "{}", "[]", "\"\"", "4095", "4096", "4194304", "2147483648", "4294967296",
      "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
      "18446744073709551616", "99999999999999999999999999", "1704067199999", "3903090455552",
      "\\u0000", "\\ud800", "\\u", "é", "\u{301}", "鐘", "🔔", "\u{feff}", "\u{0}", "\u{1}", "\u{2}", "%00",
      "%",
    ].map { Array($0.utf8) } + [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]]
}
