/// The text that percent-encoding stands for (RFC 3986 §2.1); nil where an escape is broken, or where its bytes are no UTF-8.
/// - Parameters:
///   - raw: valid UTF-8, cut at ASCII.
///   - plusIsSpace: as in a query (WHATWG URL, "application/x-www-form-urlencoded").
package func percentDecoded(_ raw: Substring.UTF8View, plusIsSpace: Bool) -> String? {
  let hasEscape = raw.contains { $0 == UInt8(ascii: "%") || (plusIsSpace && $0 == UInt8(ascii: "+")) }
  guard hasEscape else { return String(Substring(raw)) }

  var decoded: [UInt8] = []
  decoded.reserveCapacity(raw.count)
  var bytes = raw.makeIterator()
  while let byte = bytes.next() {
    if byte == UInt8(ascii: "%") {
      guard let high = bytes.next().flatMap(hexadecimalDigit),
        let low = bytes.next().flatMap(hexadecimalDigit)
      else { return nil }
      decoded.append(high << 4 | low)
    } else {
      decoded.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
    }
  }
  return String(validating: decoded, as: UTF8.self)
}

private func hexadecimalDigit(_ byte: UInt8) -> UInt8? {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
  case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
  case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
  default: nil
  }
}
