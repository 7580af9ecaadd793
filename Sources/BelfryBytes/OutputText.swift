extension OutputSpan<UInt8> {
  /// The text's UTF-8. There must be room for it.
  package mutating func append(contentsOf text: String) {
    for byte in text.utf8 { append(byte) }
  }

  /// The number's digits in base 36, at most 13. Six at a time, since what they make fits in 32 bits, where each
  /// is a multiplication and not a division of 64 bits: every delivery has three such numbers.
  package mutating func append(base36 number: UInt64) {
    let sixDigits: UInt64 = 2_176_782_336
    guard number >= sixDigits else { return append(leadingDigitsOf: UInt32(truncatingIfNeeded: number)) }
    append(base36: number / sixDigits)
    let rest = UInt32(truncatingIfNeeded: number % sixDigits)
    append(digit: rest / 60_466_176)
    append(digit: rest / 1_679_616 % 36)
    append(digit: rest / 46_656 % 36)
    append(digit: rest / 1_296 % 36)
    append(digit: rest / 36 % 36)
    append(digit: rest % 36)
  }

  private mutating func append(leadingDigitsOf number: UInt32) {
    if number >= 36 { append(leadingDigitsOf: number / 36) }
    append(digit: number % 36)
  }

  private mutating func append(digit: UInt32) {
    let zero = digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10
    append(zero + UInt8(truncatingIfNeeded: digit))
  }
}
