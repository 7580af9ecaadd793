extension OutputSpan<UInt8> {
  /// The text's UTF-8. There must be room for it.
  package mutating func append(contentsOf text: String) {
    for byte in text.utf8 { append(byte) }
  }

  /// There must be room for them. At once: byte by byte it takes as long as making digits does.
  package mutating func append(contentsOf bytes: [UInt8]) {
    precondition(freeCapacity >= bytes.count)
    unsafe withUnsafeMutableBufferPointer { room, count in
      unsafe bytes.withUnsafeBytes { bytes in
        // SAFETY: so many places after `count` are free.
        unsafe UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(room)[count...])
          .copyMemory(from: bytes)
      }
      count += bytes.count
    }
  }

  /// The number in base 36, at most 13 digits. There must be room for them.
  ///
  /// Through a pointer, because digits come last one first, and a span only grows at its end: turned round in a
  /// place of their own they took half of the time of a delivery that shares its system call with others.
  package mutating func append(base36 number: UInt64) {
    let digits = Base36.digitCount(of: number)
    precondition(freeCapacity >= digits)
    unsafe withUnsafeMutableBufferPointer { bytes, count in
      var place = count + digits
      var rest = number
      // Two digits at a time: the divisions are what costs.
      while place > count + 1 {
        place -= 2
        let pair = Base36.pairs[Int(truncatingIfNeeded: rest % 1_296)]
        rest /= 1_296
        // SAFETY: both are of the `digits` places after `count`, which are free.
        unsafe bytes[place] = pair.first
        unsafe bytes[place + 1] = pair.second
      }
      // SAFETY: likewise.
      if place > count { unsafe bytes[count] = Base36.pairs[Int(truncatingIfNeeded: rest)].second }
      count += digits
    }
  }
}

/// How numbers are written in base 36.
package enum Base36 {
  fileprivate typealias Pair = (first: UInt8, second: UInt8)

  /// The two digits of each number below 36 times 36.
  fileprivate static let pairs: [Pair] = {
    let digits = Array("0123456789abcdefghijklmnopqrstuvwxyz".utf8)
    return digits.flatMap { first in digits.map { (first, $0) } }
  }()

  package static func digitCount(of number: UInt64) -> Int {
    // Nearly always: so large is every id that was allotted since 2025.
    if number >= twelveDigits { return number >= thirteenDigits ? 13 : 12 }
    var count = 1
    var bound: UInt64 = 36
    while number >= bound {
      count += 1
      bound *= 36
    }
    return count
  }

  /// 36 to the 11th and to the 12th.
  private static let twelveDigits: UInt64 = 131_621_703_842_267_136
  private static let thirteenDigits: UInt64 = 4_738_381_338_321_616_896
}
