package typealias Bytes = [UInt8]

/// Redis's reply to a command, or a message to a subscriber.
package enum SimulatedReply: Hashable, Sendable {
  case status(Bytes)
  /// With its code, as `WRONGTYPE Operation against…`.
  case error(Bytes)
  case integer(Int64)
  case bulk(Bytes)
  case array([SimulatedReply])
  case null
  /// The second form of null in RESP2, in place of an array.
  case nullArray

  package static let ok = SimulatedReply.status(Bytes("OK".utf8))

  static func text(_ text: String) -> SimulatedReply { .bulk(Bytes(text.utf8)) }
  static func integer(_ number: Int) -> SimulatedReply { .integer(Int64(number)) }
  static func bulks(_ texts: some Sequence<Bytes>) -> SimulatedReply { .array(texts.map { .bulk($0) }) }
  static func optional(_ text: Bytes?) -> SimulatedReply { text.map { .bulk($0) } ?? .null }

  package var isError: Bool {
    if case .error = self { true } else { false }
  }

  /// Appends the reply's bytes in RESP2.
  package func encode(into output: inout Bytes) {
    switch self {
    case .status(let text): Self.append("+", text, to: &output)
    case .error(let text): Self.append("-", text, to: &output)
    case .integer(let number): Self.append(":", Bytes(String(number).utf8), to: &output)
    case .bulk(let text):
      Self.append("$", Bytes(String(text.count).utf8), to: &output)
      output += text
      output += lineEnd
    case .array(let elements):
      Self.append("*", Bytes(String(elements.count).utf8), to: &output)
      for element in elements { element.encode(into: &output) }
    case .null: Self.append("$", Bytes("-1".utf8), to: &output)
    case .nullArray: Self.append("*", Bytes("-1".utf8), to: &output)
    }
  }

  package var encoded: Bytes {
    var output = Bytes()
    encode(into: &output)
    return output
  }

  private static func append(_ mark: Unicode.Scalar, _ line: Bytes, to output: inout Bytes) {
    output.append(UInt8(ascii: mark))
    // A line ends at the first line end, so a text must have none.
    output += line.map { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") ? UInt8(ascii: " ") : $0 }
    output += lineEnd
  }
}

private let lineEnd: Bytes = [UInt8(ascii: "\r"), UInt8(ascii: "\n")]

/// The reason why a command is refused, in Redis's own words.
package struct CommandError: Error, Hashable {
  let text: Bytes

  init(_ text: String) { self.text = Bytes(text.utf8) }
  init(_ text: Bytes) { self.text = text }

  var reply: SimulatedReply { .error(text) }

  static let wrongType = CommandError(
    "WRONGTYPE Operation against a key holding the wrong kind of value")
  static let syntax = CommandError("ERR syntax error")
  static let notInteger = CommandError("ERR value is not an integer or out of range")
  static let notFloat = CommandError("ERR value is not a valid float")
  static let noKey = CommandError("ERR no such key")
  static let memory = CommandError("OOM command not allowed when used memory > 'maxmemory'.")
  static let readOnly = CommandError("READONLY You can't write against a read only replica.")
  static let masterDown = CommandError(
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.")
  static let invalidStreamID = CommandError(
    "ERR Invalid stream ID specified as stream command argument")

  static func arity(_ name: String) -> CommandError {
    CommandError("ERR wrong number of arguments for '\(name)' command")
  }
}
