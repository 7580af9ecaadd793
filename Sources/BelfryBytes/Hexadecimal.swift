/// A short text of hexadecimal digits, so many of each number: as hashes are written with every send.
package struct HexadecimalText {
  private var bytes = InlineArray<32, UInt8>(repeating: 0)
  package private(set) var count = 0

  package init() {}

  /// The lowest digits of the number, the highest of them first.
  package mutating func append(_ number: UInt64, digits: Int) {
    for place in stride(from: 4 * (digits - 1), through: 0, by: -4) {
      let digit = UInt8(truncatingIfNeeded: number >> UInt64(place)) & 15
      bytes[count] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
      count += 1
    }
  }

  package func append(to text: inout [UInt8]) {
    // SAFETY: the bytes are copied before the closure returns.
    unsafe bytes.span.extracting(..<count).withUnsafeBufferPointer { unsafe text.append(contentsOf: $0) }
  }
}
