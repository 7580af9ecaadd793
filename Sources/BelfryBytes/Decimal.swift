// Numbers as the bytes of their decimal digits, without a `String` in between: every command to Redis, every
// reply and every line to a consumer holds some.

/// A short text of numbers. It is made from its last byte on, as digits come, and then copied at once to its
/// destination. It has room for two numbers and some marks.
package struct DecimalText {
  private var bytes = InlineArray<48, UInt8>(repeating: 0)
  private var start = 48

  package init() {}

  package var count: Int { bytes.count - start }

  package mutating func prepend(_ mark: Unicode.Scalar) {
    start -= 1
    bytes[start] = UInt8(ascii: mark)
  }

  package mutating func prepend(_ number: Int64) {
    var rest = number.magnitude
    // Two digits at a time: the division is the expensive part.
    while rest >= 10 {
      let pair = UInt8(truncatingIfNeeded: rest % 100)
      rest /= 100
      start -= 2
      bytes[start] = UInt8(ascii: "0") + pair / 10
      bytes[start + 1] = UInt8(ascii: "0") + pair % 10
    }
    if rest > 0 || number == 0 {
      start -= 1
      bytes[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest)
    }
    if number < 0 { prepend("-") }
  }

  package func append(to text: inout [UInt8]) {
    // SAFETY: the bytes are copied before the closure returns. One by one that would take as long as the division.
    unsafe bytes.span.extracting(start...).withUnsafeBufferPointer { unsafe text.append(contentsOf: $0) }
  }
}

extension [UInt8] {
  package mutating func append(decimal number: Int64) {
    var text = DecimalText()
    text.prepend(number)
    text.append(to: &self)
  }
}

extension Span<UInt8> {
  package func isEqual(to bytes: [UInt8]) -> Bool {
    guard count == bytes.count else { return false }
    for index in indices where self[index] != bytes[index] { return false }
    return true
  }
}

extension Int64 {
  /// Nil unless the text is the one form of a number from 0 on: its digits, the first of several no 0.
  package init?(canonical text: String) {
    let digits = text.utf8
    guard let first = digits.first, first != UInt8(ascii: "0") || digits.count == 1 else { return nil }
    self.init(digits: digits.span)
  }

  /// Nil unless all bytes are digits, at least one, and their number is not too large. The initializer of
  /// `Int64` would take a sign as well.
  package init?(digits: ArraySlice<UInt8>) { self.init(digits: digits.span) }

  package init?(digits: Span<UInt8>) {
    guard !digits.isEmpty else { return nil }
    var value: Int64 = 0
    for index in digits.indices {
      let digit = digits[index] &- UInt8(ascii: "0")
      guard digit <= 9 else { return nil }
      if index < Self.safeDigits {
        value = value &* 10 &+ Int64(digit)
        continue
      }
      let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
      let (sum, isStillTooLarge) = product.addingReportingOverflow(Int64(digit))
      if isTooLarge || isStillTooLarge { return nil }
      value = sum
    }
    self = value
  }

  /// So many digits are no number that is too large.
  private static let safeDigits = 18
}
