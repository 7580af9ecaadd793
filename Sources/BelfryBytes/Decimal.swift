// Numbers as the bytes of their decimal digits, without a `String` in between: every command to Redis, every
// reply and every line to a consumer holds some.

extension [UInt8] {
  package mutating func append(decimal number: Int64) {
    if number < 0 { append(UInt8(ascii: "-")) }
    append(digitsOf: number.magnitude)
  }

  private mutating func append(digitsOf number: UInt64) {
    if number >= 10 { append(digitsOf: number / 10) }
    append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
  }
}

extension Int64 {
  /// How many bytes its decimal form has.
  package var decimalCount: Int {
    var count = self < 0 ? 2 : 1
    var rest = magnitude / 10
    while rest > 0 {
      count += 1
      rest /= 10
    }
    return count
  }

  /// Nil unless all bytes are digits, at least one, and their number is not too large. The initializer of
  /// `Int64` would take a sign as well.
  package init?(digits: ArraySlice<UInt8>) {
    guard !digits.isEmpty else { return nil }
    var value: Int64 = 0
    for byte in digits {
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
      let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
      let (sum, isStillTooLarge) = product.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
      if isTooLarge || isStillTooLarge { return nil }
      value = sum
    }
    self = value
  }
}
