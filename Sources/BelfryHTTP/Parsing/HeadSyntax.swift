/// Which bytes may stand where in the head of a request: what is refused here could be read in two ways.
enum HeadSyntax {
  /// What may stand around a value (RFC 9110 section 5.6.3).
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

  /// A host and a port (RFC 9112 section 3.2; RFC 3986 section 3.2.2). It may be empty.
  static func isHost(_ bytes: String.UTF8View) -> Bool {
    bytes.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: hostMarks.contains(byte)
      }
    }
  }

  private static let hostMarks = Array("-._~%!$&'()*+;=:[]".utf8)

  /// Letters, digits and !#$%&'*+-.^_`|~, as two bit masks: for bytes below 0x40, and up to 0x7F.
  private static func isTokenByte(_ byte: UInt8) -> Bool {
    let bits: UInt64 = byte < 0x40 ? 0x03FF_6CFA_0000_0000 : 0x57FF_FFFF_C7FF_FFFE
    return byte < 0x80 && bits >> UInt64(byte & 0x3F) & 1 == 1
  }
}
