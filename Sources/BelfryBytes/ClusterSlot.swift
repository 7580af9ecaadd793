/// Redis Cluster's mapping of a key to one of its slots: CRC16-CCITT (XMODEM) modulo 16,384.
/// Source: Redis Cluster specification, "Key distribution model" and "Hash tags".
package enum ClusterSlot {
  package static let count = 16_384

  /// - Parameter beginning: the checksum of the bytes before it.
  package static func of(_ tag: String, after beginning: UInt16 = 0) -> Int {
    Int(checksum(tag.utf8, after: beginning)) % count
  }

  package static func checksum(_ text: String) -> UInt16 { checksum(text.utf8) }

  /// The slot of a key. It is that of the key's hash tag, the text between the first `{` and the next `}`, or
  /// of the whole key if it has no tag or an empty one.
  package static func of(key: ArraySlice<UInt8>) -> Int {
    var hashed = key
    if let open = key.firstIndex(of: UInt8(ascii: "{")) {
      let rest = key[(open + 1)...]
      if let end = rest.firstIndex(of: UInt8(ascii: "}")), end > rest.startIndex { hashed = rest[..<end] }
    }
    return Int(checksum(hashed)) % count
  }

  package static func of(key: String) -> Int { of(key: ArraySlice(key.utf8)) }

  private static func checksum(_ bytes: some Sequence<UInt8>, after beginning: UInt16 = 0) -> UInt16 {
    bytes.reduce(beginning) { crc, byte in crc << 8 ^ table[Int(UInt8(crc >> 8) ^ byte)] }
  }

  /// The effect of each byte on a checksum of zero.
  private static let table: [UInt16] = (0...255).map { byte in
    (0..<8).reduce(UInt16(byte) << 8) { crc, _ in crc & 0x8000 != 0 ? (crc << 1) ^ 0x1021 : crc << 1 }
  }
}
