import Glibc

/// The bytes that are allowed in each part of a request's head. Bytes that are refused here could be read in
/// two ways.
enum HeadSyntax {
  /// True for the spaces that are allowed around a value (RFC 9110 section 5.6.3).
  static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

  /// A method or the name of a field (RFC 9110 section 5.6.2).
  static func isToken(_ bytes: Span<UInt8>) -> Bool {
    for index in bytes.indices where !isTokenByte(bytes[index]) { return false }
    return !bytes.isEmpty
  }

  /// The value of a field (RFC 9110 section 5.5): no control but the tab.
  static func isValue(_ bytes: Span<UInt8>) -> Bool {
    for index in bytes.indices {
      let byte = bytes[index]
      if byte < 0x20 && byte != UInt8(ascii: "\t") || byte == 0x7F { return false }
    }
    return true
  }

  /// A target (RFC 9112 section 3.2): no space and no control. Bytes beyond ASCII are accepted: many clients send them
  /// unescaped, and they are not ambiguous.
  static func isTarget(_ bytes: Span<UInt8>) -> Bool {
    for index in bytes.indices where bytes[index] <= 0x20 || bytes[index] == 0x7F { return false }
    return !bytes.isEmpty
  }

  /// A host, and perhaps a port (RFC 9112 section 3.2; RFC 3986 section 3.2.2). It may be empty.
  static func isHost(_ bytes: Substring.UTF8View) -> Bool {
    if bytes.isEmpty { return true }
    let isLiteral = bytes.first == UInt8(ascii: "[")
    let nameEnd =
      isLiteral
      ? bytes.firstIndex(of: UInt8(ascii: "]")).map { bytes.index(after: $0) }
      : bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
    guard let nameEnd else { return false }
    let name = bytes[..<nameEnd]
    guard isLiteral ? isAddress(name.dropFirst().dropLast()) : isName(name) else { return false }
    let rest = bytes[nameEnd...]
    return rest.isEmpty || rest.first == UInt8(ascii: ":") && isPort(rest.dropFirst())
  }

  /// A name, or an address of IPv4.
  private static func isName(_ bytes: Substring.UTF8View) -> Bool {
    var digitsLeft = 0
    for byte in bytes {
      if digitsLeft > 0 {
        guard isHexadecimal(byte) else { return false }
        digitsLeft -= 1
      } else if byte == UInt8(ascii: "%") {
        digitsLeft = 2
      } else if !isLetterOrDigit(byte), !nameMarks.contains(byte) {
        return false
      }
    }
    return digitsLeft == 0 && !bytes.isEmpty
  }

  /// An address of IPv6, without a zone: zones mean something on one machine only.
  private static func isAddress(_ bytes: Substring.UTF8View) -> Bool {
    guard bytes.allSatisfy({ isHexadecimal($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }) else {
      return false
    }
    var address = in6_addr()
    // SAFETY: inet_pton writes as many bytes as an address of IPv6 has.
    return unsafe inet_pton(AF_INET6, String(Substring(bytes)), &address) == 1
  }

  /// It may be empty (RFC 3986 section 3.2.3).
  private static func isPort(_ bytes: Substring.UTF8View) -> Bool {
    guard bytes.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return false }
    return bytes.isEmpty || UInt16(String(Substring(bytes))) != nil
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }

  /// Without the comma, which the standard has: a Host with one is two that somebody has joined.
  private static let nameMarks = Array("-._~!$&'()*+;=".utf8)

  /// Letters, digits and !#$%&'*+-.^_`|~, as two bit masks: for bytes below 0x40, and up to 0x7F.
  private static func isTokenByte(_ byte: UInt8) -> Bool {
    let bits: UInt64 = byte < 0x40 ? 0x03FF_6CFA_0000_0000 : 0x57FF_FFFF_C7FF_FFFE
    return byte < 0x80 && bits >> UInt64(byte & 0x3F) & 1 == 1
  }
}
