package import BelfryBytes

/// Reads JSON (RFC 8259) as strictly as a request's meaning needs it. A name that occurs twice in one object,
/// a number that would lose digits, and half a surrogate pair are refused, not guessed at. Foundation's
/// decoder takes all of these, and its errors name neither place nor field.
///
/// Nesting is bounded while reading, so that no input reaches the end of the stack.
package struct JSONParser {
  /// The nesting that a field of a request may have, and that of the objects and arrays that lead to it.
  package static let depthMax = Limits.jsonDepth + 4

  /// 2^53: up to here a double holds every whole number.
  private static let exactIntegerMax: UInt64 = 1 << 53

  let bytes: [UInt8]
  private let start: Int
  let end: Int
  var position: Int
  private var depth = 0

  /// Reads one value and nothing else. A refusal's field is the path to the faulty value, `$` if that is the
  /// whole.
  package static func value(of bytes: [UInt8]) throws(Refusal) -> JSONValue {
    try value(of: bytes, in: bytes.startIndex..<bytes.endIndex)
  }

  /// - Parameter range: where the value is to be read; places in refusals count from its start.
  package static func value(of bytes: [UInt8], in range: Range<Int>) throws(Refusal) -> JSONValue {
    try whole(of: bytes, in: range) { parser throws(Refusal) in try parser.value() }
  }

  /// Reads the members of an object, in their order. Most requests are one object with few members, so a name
  /// is found without hashing them first.
  package static func members(
    of bytes: [UInt8], in range: Range<Int>
  ) throws(Refusal) -> [(name: UTF8Text, value: JSONValue)] {
    try whole(of: bytes, in: range) { parser throws(Refusal) in
      parser.skipSpace()
      guard parser.peek() == UInt8(ascii: "{") else { throw try parser.value().refused("an object", at: "") }
      return try parser.nested { parser throws(Refusal) in try parser.members() }
    }
  }

  private static func whole<Value>(
    of bytes: [UInt8], in range: Range<Int>, _ read: (inout JSONParser) throws(Refusal) -> Value
  ) throws(Refusal) -> Value {
    try checkUTF8(bytes, in: range)
    var parser = JSONParser(bytes: bytes, range: range)
    do throws(Refusal) {
      let value = try read(&parser)
      parser.skipSpace()
      guard parser.position == parser.end else { throw parser.broken("has something after its end") }
      return value
    } catch {
      throw error.fromTheRoot
    }
  }

  private init(bytes: [UInt8], range: Range<Int>) {
    self.bytes = bytes
    start = range.lowerBound
    end = range.upperBound
    position = range.lowerBound
  }

  private static func checkUTF8(_ bytes: [UInt8], in range: Range<Int>) throws(Refusal) {
    do {
      _ = try UTF8Span(validating: bytes.span.extracting(range))
    } catch {
      throw .invalid("$", "is not UTF-8 at byte \(error.byteOffsets.lowerBound)")
    }
  }
}

// MARK: - Values

extension JSONParser {
  private mutating func value() throws(Refusal) -> JSONValue {
    skipSpace()
    guard let first = peek() else { throw broken("ends where a value should be") }
    switch first {
    case UInt8(ascii: "{"): return try nested { parser throws(Refusal) in try parser.object() }
    case UInt8(ascii: "["): return try nested { parser throws(Refusal) in try parser.array() }
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    case UInt8(ascii: "t"): return try literal("true", .bool(true))
    case UInt8(ascii: "f"): return try literal("false", .bool(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    default: throw broken("has no JSON value")
    }
  }

  private mutating func nested<Value>(
    _ read: (inout JSONParser) throws(Refusal) -> Value
  ) throws(Refusal) -> Value {
    guard depth < Self.depthMax else {
      throw Refusal.invalid("", "must not nest deeper than \(Self.depthMax) levels")
    }
    depth += 1
    defer { depth -= 1 }
    position += 1
    return try read(&self)
  }

  private mutating func object() throws(Refusal) -> JSONValue {
    .object(JSONObject(distinct: try members()))
  }

  /// Reads the members after the opening brace.
  private mutating func members() throws(Refusal) -> [(name: UTF8Text, value: JSONValue)] {
    var members: [(name: UTF8Text, value: JSONValue)] = []
    var names = SeenNames()
    guard !takeIf(UInt8(ascii: "}")) else { return members }
    repeat {
      skipSpace()
      guard peek() == UInt8(ascii: "\"") else { throw broken("has no name in quotes") }
      let name = UTF8Text(try string())
      guard takeIf(UInt8(ascii: ":")) else { throw broken("has no colon after a name") }
      let value: JSONValue
      do {
        value = try self.value()
      } catch {
        throw error.under(name)
      }
      guard names.insert(name, beside: members) else {
        throw Refusal.invalid("", "is given twice in one object").under(name)
      }
      members.append((name, value))
    } while takeIf(UInt8(ascii: ","))
    guard takeIf(UInt8(ascii: "}")) else { throw broken("has no comma or closing brace") }
    return members
  }

  private mutating func array() throws(Refusal) -> JSONValue {
    var elements: [JSONValue] = []
    guard !takeIf(UInt8(ascii: "]")) else { return .array(elements) }
    repeat {
      do {
        elements.append(try value())
      } catch {
        throw error.under(UTF8Text("[\(elements.count)]"))
      }
    } while takeIf(UInt8(ascii: ","))
    guard takeIf(UInt8(ascii: "]")) else { throw broken("has no comma or closing bracket") }
    return .array(elements)
  }

  private mutating func literal(_ word: StaticString, _ value: JSONValue) throws(Refusal) -> JSONValue {
    let begin = position
    for expected in "\(word)".utf8 {
      guard peek() == expected else {
        position = begin
        throw broken("has no JSON value")
      }
      position += 1
    }
    return value
  }
}

// MARK: - Numbers

extension JSONParser {
  private mutating func number() throws(Refusal) -> JSONValue {
    let begin = position
    takeByte(UInt8(ascii: "-"))
    guard let first = peek(), Self.isDigit(first) else { throw broken("has a minus without a number") }
    let integerDigits = takeDigits()
    guard integerDigits == 1 || first != UInt8(ascii: "0") else {
      throw broken("has a number that begins with 0")
    }
    var isWhole = true
    if takeByte(UInt8(ascii: ".")) {
      isWhole = false
      guard takeDigits() > 0 else { throw broken("has no digit after the decimal point") }
    }
    if takeByte(UInt8(ascii: "e")) || takeByte(UInt8(ascii: "E")) {
      isWhole = false
      if !takeByte(UInt8(ascii: "-")) { takeByte(UInt8(ascii: "+")) }
      guard takeDigits() > 0 else { throw broken("has no digit in the exponent") }
    }
    let text = String(decoding: bytes[begin..<position], as: UTF8.self)
    if isWhole {
      guard let integer = Int64(text) else {
        throw Refusal.invalid("", "is a number beyond 64 bits, which would lose digits; write it as a string")
      }
      return .integer(integer)
    }
    guard let number = Double(text), number.isFinite else {
      throw Refusal.invalid("", "is a number too large to hold")
    }
    // JSON Schema, and many programs that write JSON, take 1.0 and 1e2 for whole numbers, and they become 1
    // and 100 once they are kept. Beyond 2^53 several whole numbers share one double, so the number may have
    // been another one.
    if let integer = Int64(exactly: number), integer.magnitude <= Self.exactIntegerMax {
      return .integer(integer)
    }
    return .number(number)
  }

  private mutating func takeDigits() -> Int {
    let begin = position
    while position < end, Self.isDigit(bytes[position]) { position += 1 }
    return position - begin
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}

// MARK: - Bytes

extension JSONParser {
  private func peek() -> UInt8? { position < end ? bytes[position] : nil }

  private mutating func skipSpace() {
    while position < end {
      switch bytes[position] {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): position += 1
      default: return
      }
    }
  }

  @discardableResult
  private mutating func takeByte(_ byte: UInt8) -> Bool {
    guard peek() == byte else { return false }
    position += 1
    return true
  }

  /// The next byte that is no white space.
  private mutating func takeIf(_ byte: UInt8) -> Bool {
    skipSpace()
    return takeByte(byte)
  }

  func broken(_ what: String) -> Refusal {
    .invalid("", "is not JSON: it \(what) at byte \(position - start)")
  }
}

/// The names of an object so far: looked through while they are few, hashed once they are not.
private struct SeenNames {
  private static let few = 16
  private var hashed: Set<UTF8Text> = []

  /// False if it is among the members.
  mutating func insert(_ name: UTF8Text, beside members: [(name: UTF8Text, value: JSONValue)]) -> Bool {
    guard members.count >= Self.few else { return !members.contains { $0.name == name } }
    if hashed.isEmpty { hashed = Set(members.map(\.name)) }
    return hashed.insert(name).inserted
  }
}
