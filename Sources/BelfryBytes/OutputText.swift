extension OutputSpan<UInt8> {
  /// The text's UTF-8. There must be room for it.
  package mutating func append(contentsOf text: String) {
    for byte in text.utf8 { append(byte) }
  }

  /// The number in base 36, at most 13 digits. There must be room for them.
  ///
  /// Through a pointer, because digits come last one first, and a span only grows at its end: turned round in a
  /// place of their own they took half of the time of a delivery that shares its system call with others.
  package mutating func append(base36 number: UInt64) {
    let digits = Self.base36DigitCount(of: number)
    precondition(freeCapacity >= digits)
    unsafe withUnsafeMutableBufferPointer { bytes, count in
      var place = count + digits
      var rest = number
      while place > count {
        place -= 1
        let digit = UInt8(truncatingIfNeeded: rest % 36)
        // SAFETY: `place` is one of the `digits` places after `count`, which are free.
        unsafe bytes[place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
        rest /= 36
      }
      count += digits
    }
  }

  private static func base36DigitCount(of number: UInt64) -> Int {
    var count = 1
    var bound: UInt64 = 36
    // 36 to the 13th does not fit in 64 bits.
    while count < 12, number >= bound {
      count += 1
      bound *= 36
    }
    return number >= bound ? count + 1 : count
  }
}
