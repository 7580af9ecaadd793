/// Checks UTF-8 as it arrives, in pieces of any size. The first byte that cannot be part of a UTF-8 text
/// there is noticed at once. Source: The Unicode Standard 15, table 3-7.
struct UTF8Progress: Sendable, Equatable {
  /// The number of bytes of the scalar that are still to come, and the range of the next one.
  private var missing: UInt8 = 0
  private var low = anyLow
  private var high = anyHigh

  private static let anyLow: UInt8 = 0x80
  private static let anyHigh: UInt8 = 0xBF

  /// True if the text may end here.
  var isBetweenScalars: Bool { missing == 0 }

  /// - Returns: false if this is no UTF-8.
  mutating func take(_ bytes: ArraySlice<UInt8>) -> Bool {
    for byte in bytes where byte >= 0x80 || missing > 0 {
      guard take(byte) else { return false }
    }
    return true
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard missing > 0 else { return begin(byte) }
    guard byte >= low, byte <= high else { return false }
    missing -= 1
    (low, high) = (Self.anyLow, Self.anyHigh)
    return true
  }

  private mutating func begin(_ byte: UInt8) -> Bool {
    switch byte {
    case 0xC2...0xDF: missing = 1
    case 0xE0: (missing, low) = (2, 0xA0)
    case 0xED: (missing, high) = (2, 0x9F)
    case 0xE1...0xEF: missing = 2
    case 0xF0: (missing, low) = (3, 0x90)
    case 0xF1...0xF3: missing = 3
    case 0xF4: (missing, high) = (3, 0x8F)
    default: return false
    }
    return true
  }
}
