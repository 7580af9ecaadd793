internal import BelfryBytes

/// One JSON object being written, field by field, straight into the bytes that go out.
package struct JSONText {
  private var bytes: [UInt8] = [UInt8(ascii: "{")]

  /// - Parameter capacity: about how many bytes it will have.
  package init(capacity: Int = 256) {
    bytes.reserveCapacity(capacity)
  }

  /// The bytes so far.
  var count: Int { bytes.count }

  package mutating func field(_ name: StaticString, _ text: String) {
    begin(name)
    Self.append(text, to: &bytes)
  }

  package mutating func field(_ name: StaticString, _ number: Int64) {
    begin(name)
    bytes.append(decimal: number)
  }

  /// Writes an id as text, since the numbers of some readers have fewer digits.
  package mutating func field(_ name: StaticString, id number: Int64) {
    begin(name)
    bytes.append(UInt8(ascii: "\""))
    bytes.append(decimal: number)
    bytes.append(UInt8(ascii: "\""))
  }

  package mutating func field(_ name: StaticString, _ number: Int) { field(name, Int64(number)) }

  package mutating func field(_ name: StaticString, _ flag: Bool) {
    begin(name)
    bytes.append(flag ? "true" : "false")
  }

  package mutating func field(_ name: StaticString, _ value: JSONValue) {
    begin(name)
    Self.append(value, to: &bytes)
  }

  package mutating func field(_ name: StaticString, object: JSONText) {
    begin(name)
    bytes.append(contentsOf: object.bytes)
    bytes.append(UInt8(ascii: "}"))
  }

  package mutating func field(_ name: StaticString, _ notifications: [LogEntry]) {
    begin(name)
    bytes.append(UInt8(ascii: "["))
    for (index, entry) in notifications.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      entry.appendNotification(to: &bytes)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  package consuming func finish() -> [UInt8] {
    bytes.append(UInt8(ascii: "}"))
    return bytes
  }

  /// Writes a field whose value is JSON already.
  package mutating func field(_ name: StaticString, json: [UInt8]) {
    begin(name)
    bytes.append(contentsOf: json)
  }

  /// Names are our own and need no escape. Static ones can be copied from their place in memory: every send
  /// is rendered twice, with a dozen names each time.
  private mutating func begin(_ name: StaticString) {
    if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
    bytes.append(UInt8(ascii: "\""))
    bytes.append(name)
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
  }
}

// MARK: - Values

extension JSONText {
  package static func bytes(of value: JSONValue) -> [UInt8] {
    var bytes: [UInt8] = []
    append(value, to: &bytes)
    return bytes
  }

  /// Writes names in order, so that equal values are equal texts.
  private static func append(_ value: JSONValue, to bytes: inout [UInt8]) {
    switch value {
    case .null: bytes.append(contentsOf: "null".utf8)
    case .bool(let flag): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
    case .integer(let number): bytes.append(decimal: number)
    // JSON has no word for infinity; null says at least that there is no number.
    case .number(let number): bytes.append(contentsOf: (number.isFinite ? "\(number)" : "null").utf8)
    case .string(let text): append(text, to: &bytes)
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        append(element, to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        append(member.key, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        append(member.value, to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  private static func append(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    let start = bytes.count
    bytes.append(text)
    // Hardly any text has characters to escape. They are searched for after the text was appended, because
    // its bytes are contiguous there.
    if bytes.firstEscaped(from: start) < bytes.count {
      bytes.removeSubrange(start...)
      for byte in text.utf8 { append(escaping: byte, to: &bytes) }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private static func append(escaping byte: UInt8, to bytes: inout [UInt8]) {
    guard needsEscape(byte) else { return bytes.append(byte) }
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
    case UInt8(ascii: "\n"): bytes.append(UInt8(ascii: "n"))
    case UInt8(ascii: "\r"): bytes.append(UInt8(ascii: "r"))
    case UInt8(ascii: "\t"): bytes.append(UInt8(ascii: "t"))
    default:
      bytes.append(contentsOf: (byte < 0x10 ? "u000" : "u00").utf8)
      bytes.append(contentsOf: String(byte, radix: 16).utf8)
    }
  }
}
