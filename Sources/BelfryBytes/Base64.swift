/// Base64 with the common alphabet and with padding (RFC 4648 §4), as the handshake of a WebSocket is written.
package enum Base64 {
  package static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var text = Base64URL.encode(bytes).utf8.map { digit in
      switch digit {
      case UInt8(ascii: "-"): UInt8(ascii: "+")
      case UInt8(ascii: "_"): UInt8(ascii: "/")
      default: digit
      }
    }
    while text.count % 4 > 0 { text.append(padding) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Nil unless it is the one text that stands for the bytes.
  package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    let digits = text.prefix { $0 != padding }
    let spare = text.count - digits.count
    guard text.count % 4 == 0, spare <= 2, text.dropFirst(digits.count).allSatisfy({ $0 == padding }),
      !digits.contains(UInt8(ascii: "-")), !digits.contains(UInt8(ascii: "_"))
    else { return nil }
    return Base64URL.decode(
      digits.map { digit in
        switch digit {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: digit
        }
      })
  }

  private static let padding = UInt8(ascii: "=")
}
