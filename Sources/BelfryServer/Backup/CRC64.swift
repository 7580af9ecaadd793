/// The checksum at the end of an RDB file: CRC-64 with the polynomial of Jones, reflected, from zero (Redis's crc64.c).
struct CRC64 {
  private(set) var value: UInt64 = 0

  /// Eight tables of 256 ("slicing by eight"), so that eight bytes are taken in one step: the first for a byte, the
  /// others for a byte with one to seven after it.
  private static let tables: [UInt64] = {
    let polynomial: UInt64 = 0x95ac_9329_ac4b_c9b5
    var tables = (0..<256).map { number in
      (0..<8).reduce(UInt64(number)) { value, _ in value & 1 == 1 ? value >> 1 ^ polynomial : value >> 1 }
    }
    for index in 256..<2_048 {
      let shorter = tables[index - 256]
      tables.append(tables[Int(shorter & 255)] ^ shorter >> 8)
    }
    return tables
  }()

  mutating func update(_ bytes: ArraySlice<UInt8>) {
    let tables = Self.tables
    var crc = value
    var index = bytes.startIndex
    while bytes.endIndex - index >= 8 {
      for offset in 0..<8 { crc ^= UInt64(bytes[index + offset]) << UInt64(8 * offset) }
      var next: UInt64 = 0
      for offset in 0..<8 {
        next ^= tables[(7 - offset) << 8 + Int(truncatingIfNeeded: crc >> UInt64(8 * offset) & 255)]
      }
      crc = next
      index += 8
    }
    for byte in bytes[index...] { crc = tables[Int((crc ^ UInt64(byte)) & 255)] ^ crc >> 8 }
    value = crc
  }
}
