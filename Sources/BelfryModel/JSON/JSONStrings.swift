internal import BelfryBytes

// Strings, and their escape sequences.

extension JSONParser {
  /// The position is at the opening quote.
  mutating func string() throws(Refusal) -> String {
    position += 1
    let begin = position
    position = bytes.firstEscaped(from: begin)
    guard position < end else {
      position = end
      throw broken("ends inside a string")
    }
    switch bytes[position] {
    case UInt8(ascii: "\""):
      position += 1
      return String(decoding: bytes[begin..<position - 1], as: UTF8.self)
    case UInt8(ascii: "\\"): return try escapedString(from: begin)
    default: throw broken("has an unescaped control character in a string")
    }
  }

  /// The rest of a string from its first backslash on, for the few that have one.
  private mutating func escapedString(from begin: Int) throws(Refusal) -> String {
    var text = Array(bytes[begin..<position])
    while position < end {
      let byte = bytes[position]
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"): text.append(contentsOf: try escape())
      case 0..<0x20: throw broken("has an unescaped control character in a string")
      default:
        text.append(byte)
        position += 1
      }
    }
    throw broken("ends inside a string")
  }

  /// The character of the escape sequence at the position, as UTF-8.
  private mutating func escape() throws(Refusal) -> [UInt8] {
    guard position + 1 < end else { throw broken("ends inside a string") }
    let letter = bytes[position + 1]
    guard letter != UInt8(ascii: "u") else { return try unicodeEscape() }
    guard let meaning = Self.escapes[letter] else { throw broken("has an escape that JSON does not know") }
    position += 2
    return [meaning]
  }

  private mutating func unicodeEscape() throws(Refusal) -> [UInt8] {
    let begin = position
    let first = try hexUnit()
    var units = [first]
    if UTF16.isLeadSurrogate(first) { units.append(try hexUnit()) }
    var decoder = UTF16()
    var iterator = units.makeIterator()
    guard case .scalarValue(let scalar) = decoder.decode(&iterator) else {
      position = begin
      throw broken("has half a surrogate pair")
    }
    return Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
  }

  /// The value of a `\u` and its four digits at the position.
  private mutating func hexUnit() throws(Refusal) -> UInt16 {
    guard position + 6 <= end, bytes[position] == UInt8(ascii: "\\"),
      bytes[position + 1] == UInt8(ascii: "u")
    else { throw broken("has half a surrogate pair, or a \\u without four digits") }
    var unit: UInt16 = 0
    for byte in bytes[position + 2..<position + 6] {
      guard let digit = Self.hexDigit(byte) else { throw broken("has a \\u without four digits") }
      unit = unit << 4 | UInt16(digit)
    }
    position += 6
    return unit
  }

  private static func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  private static let escapes: [UInt8: UInt8] = [
    UInt8(ascii: "\""): UInt8(ascii: "\""), UInt8(ascii: "\\"): UInt8(ascii: "\\"),
    UInt8(ascii: "/"): UInt8(ascii: "/"), UInt8(ascii: "b"): 8, UInt8(ascii: "f"): 12,
    UInt8(ascii: "n"): 10, UInt8(ascii: "r"): 13, UInt8(ascii: "t"): 9,
  ]
}
