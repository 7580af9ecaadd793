/// Which bytes may stand where in the head of a request. What is refused here is what two readers of one request
/// could understand in two ways.
enum HeadSyntax {
  /// A method or the name of a field (RFC 9110 section 5.6.2).
  static func isToken(_ bytes: some Collection<UInt8>) -> Bool {
    !bytes.isEmpty && bytes.allSatisfy(isTokenByte)
  }

  /// The value of a field (RFC 9110 section 5.5): no control but the tab.
  static func isValue(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }
  }

  /// A target (RFC 9112 section 3.2): no space and no control. Bytes beyond ASCII pass, for many clients send
  /// them bare; they mean the same to everybody.
  static func isTarget(_ bytes: some Collection<UInt8>) -> Bool {
    !bytes.isEmpty && bytes.allSatisfy { $0 > 0x20 && $0 != 0x7F }
  }

  /// A host and a port (RFC 9112 section 3.2; RFC 3986 section 3.2.2). It may be empty.
  static func isHost(_ bytes: some Collection<UInt8>) -> Bool {
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

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    let masks = byte < 0x40 ? tokenMasks.0 : tokenMasks.1
    return byte < 0x80 && masks >> UInt64(byte & 0x3F) & 1 == 1
  }

  /// A bit for each byte below 0x40 and for each from there to 0x7F: names are looked at in every request.
  private static let tokenMasks: (UInt64, UInt64) = {
    let marks = "!#$%&'*+-.^_`|~"
    let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    var masks: (UInt64, UInt64) = (0, 0)
    for byte in (marks + letters).utf8 {
      if byte < 0x40 { masks.0 |= 1 << UInt64(byte) } else { masks.1 |= 1 << UInt64(byte - 0x40) }
    }
    return masks
  }()
}
