package import BelfryModel

/// Writes shapes as JSON Schema (draft 2020-12, which OpenAPI 3.1 uses), and collects those that have a name.
struct SchemaWriter {
  /// The direction of a shape. A request may give an id as a number, and null for a field that it leaves out. An answer
  /// does neither.
  enum Direction {
    /// In the body of a request.
    case asked
    /// In a path, a query or a header, where every value is text.
    case askedAsText
    case answered
  }

  /// The schemas by name.
  private(set) var components: JSONObject = [:]
  /// Names that two schemas have. That would be a mistake in the rows.
  private(set) var ambiguousNames: Set<String> = []

  mutating func schema(_ shape: Shape, _ direction: Direction) -> JSONValue {
    switch shape {
    case .text(let limit): text(limit)
    case .textOrNumber(let limit, let numbers):
      text(limit).with([
        "type": ["string", "integer"], "minimum": .integer(Int64(numbers.lowerBound)),
        "maximum": .integer(Int64(numbers.upperBound)),
      ])
    case .account: named("Accid", .accid)
    case .device: named("DeviceId", .deviceID)
    case .code: named(direction == .answered ? "InviteCode" : "GivenInviteCode", .code(direction))
    case .space: named("Space", .space)
    case .id: named(direction == .asked ? "GivenId" : "Id", .id(from: 1, direction))
    case .message:
      named(direction == .asked ? "GivenMessageId" : "MessageId", .id(from: 0, direction))
    case .cursor: ["type": "string", "minLength": 1]
    case .flag: ["type": "boolean"]
    case .integer(let ranges): integer(ranges)
    case .time: named("Time", .time)
    case .words(let name, let words):
      named(name, ["type": "string", "enum": .array(words.map { .string($0) })])
    case .numbers(let name, let words): named(name, numbers(words))
    case .list(let element, let counts): list(element, counts, direction)
    case .object(let object): self.object(object, direction)
    case .json(let bytesMax): .object(bytes(bytesMax))
    case .jsonObject(let bytesMax): .object(bytes(bytesMax)).with("type", "object")
    case .map(let element):
      [
        "type": "object", "propertyNames": ["minLength": 1],
        "additionalProperties": schema(element, direction),
      ]
    case .orNull(let shape): schema(shape, direction).orNull
    case .resource(let name, let shape): named(name, schema(shape, direction))
    }
  }

  /// The property with its meaning, its default, and those limits in words that the schema cannot express.
  mutating func schema(_ property: Property, _ direction: Direction) -> JSONValue {
    var schema = schema(property.shape, direction)
    if direction == .asked, !property.isNeeded { schema = schema.orNull }
    schema = schema.with("description", .string(property.describedMeaning))
    if let standard = property.standard { schema = schema.with("default", standard) }
    return schema
  }

  mutating func object(_ object: ObjectShape, _ direction: Direction) -> JSONValue {
    var properties: JSONObject = [:]
    for property in object.properties { properties[property.name] = schema(property, direction) }
    let needed = object.properties.filter(\.isNeeded).map { JSONValue.string($0.name) }
    var schema: JSONObject = ["type": "object", "properties": .object(properties)]
    if !needed.isEmpty { schema["required"] = .array(needed) }
    if direction == .asked { schema["additionalProperties"] = false }
    // Only in words: generators of clients would make one type for each set of needed fields.
    switch object.rule {
    case .none: break
    case .oneOf(let names): schema["description"] = .string("Exactly one of \(Self.list(names)) is given.")
    case .someOf(let names):
      schema["description"] = .string("At least one of \(Self.list(names)) is given.")
    }
    return .object(schema)
  }

  /// A reference to a shape that is in the document once.
  mutating func named(_ name: String, _ schema: JSONValue) -> JSONValue {
    if let known = components[name], known != schema { ambiguousNames.insert(name) }
    components[name] = schema
    return ["$ref": .string("#/components/schemas/\(name)")]
  }

  // MARK: By kind

  private func text(_ limit: TextLimit) -> JSONValue {
    var schema: JSONObject = ["type": "string"]
    if limit.range.lowerBound > 0 { schema["minLength"] = .integer(Int64(limit.range.lowerBound)) }
    if limit.range.upperBound < .max { schema["maxLength"] = .integer(Int64(limit.range.upperBound)) }
    // JSON Schema counts characters. A text has at least as many bytes as characters, so `maxLength` is right for a limit in
    // bytes, but too weak.
    if limit.unit == .bytes { schema["x-maxBytes"] = .integer(Int64(limit.range.upperBound)) }
    return .object(schema)
  }

  private func integer(_ ranges: [ClosedRange<Int>]) -> JSONValue {
    let schemas = ranges.map { range -> JSONValue in
      var schema: JSONObject = ["type": "integer", "format": "int64"]
      if range.lowerBound > .min { schema["minimum"] = .integer(Int64(range.lowerBound)) }
      if range.upperBound < .max { schema["maximum"] = .integer(Int64(range.upperBound)) }
      return .object(schema)
    }
    return schemas.count == 1 ? schemas[0] : ["anyOf": .array(schemas)]
  }

  private mutating func list(
    _ element: Shape, _ counts: ClosedRange<Int>, _ direction: Direction
  ) -> JSONValue {
    var schema: JSONObject = ["type": "array", "items": self.schema(element, direction)]
    if counts.lowerBound > 0 { schema["minItems"] = .integer(Int64(counts.lowerBound)) }
    if counts.upperBound < .max { schema["maxItems"] = .integer(Int64(counts.upperBound)) }
    return .object(schema)
  }

  private func bytes(_ most: Int) -> JSONObject {
    most < .max ? ["x-maxBytes": .integer(Int64(most))] : [:]
  }

  private func numbers(_ words: [NumberWord]) -> JSONValue {
    [
      "type": "integer", "enum": .array(words.map { .integer(Int64($0.number)) }),
      "x-enum-varnames": .array(words.map { .string($0.word) }),
      "description": .string(words.map { "\($0.number): \($0.word)" }.joined(separator: ", ")),
    ]
  }

  private static func list(_ names: [String]) -> String {
    names.map { "`\($0)`" }.joined(separator: ", ")
  }
}

extension Property {
  /// The meaning, with the limits that JSON Schema cannot express.
  fileprivate var describedMeaning: String {
    switch shape {
    case .text(let limit) where limit.unit == .bytes,
      .textOrNumber(let limit, _) where limit.unit == .bytes:
      "\(meaning) (at most \(limit.range.upperBound) bytes of UTF-8)"
    case .json(let bytesMax) where bytesMax < .max, .jsonObject(let bytesMax) where bytesMax < .max:
      "\(meaning) (at most \(bytesMax) bytes, and \(Limits.jsonDepth) levels deep)"
    default: meaning
    }
  }
}

// MARK: - What schemas are made of

extension JSONValue {
  fileprivate static let accid: JSONValue = [
    "type": "string", "pattern": "^[A-Za-z0-9_.@-]{1,64}$", "description": "the name of an account",
    "examples": ["alice"],
  ]
  fileprivate static let deviceID: JSONValue = [
    "type": "string", "pattern": "^[A-Za-z0-9_.@-]{1,128}$", "description": "the name of a device",
    "examples": ["phone-1"],
  ]
  fileprivate static let space: JSONValue = [
    "type": "string", "pattern": "^(server|group|room|account|direct):[A-Za-z0-9_.@-]{1,64}$",
    "description": "a space: its kind, and its id or account", "examples": ["server:7"],
  ]
  fileprivate static let time: JSONValue = [
    "type": "integer", "format": "int64", "minimum": 0, "maximum": 253_402_300_799_999,
    "description": "milliseconds since 1970",
  ]

  /// A request may also give it in lower case.
  fileprivate static func code(_ direction: SchemaWriter.Direction) -> JSONValue {
    let lower = direction == .answered ? "" : "a-hjkmnp-tv-z"
    return [
      "type": "string", "pattern": .string("^[0-9A-HJKMNP-TV-Z\(lower)]{12}$"),
      "description": "an invite code", "examples": ["7K3M0QWX9ZAB"],
    ]
  }

  /// An id has 63 bits and is a string in JSON, since the numbers of many programs have 53 bits. Numbers are accepted all
  /// the same.
  fileprivate static func id(from least: Int64, _ direction: SchemaWriter.Direction) -> JSONValue {
    var schema: JSONObject = [
      "type": "string", "pattern": .string(DecimalPattern.upToInt64Max(from: least)),
      "description": "a decimal number of at most 63 bits", "examples": ["5072893472309845"],
    ]
    if direction == .asked {
      schema["type"] = ["string", "integer"]
      schema["minimum"] = .integer(least)
      schema["maximum"] = .integer(.max)
    }
    return .object(schema)
  }

  fileprivate var orNull: JSONValue {
    guard case .object(var members) = self else { return self }
    // A schema without a type already accepts null.
    guard members["$ref"] != nil || members["anyOf"] != nil || members["type"] != nil else { return self }
    guard let type = members["type"] else { return ["anyOf": [self, ["type": "null"]]] }
    if case .array(let types) = type {
      members["type"] = .array(types + ["null"])
    } else {
      members["type"] = [type, "null"]
    }
    if case .array(let values)? = members["enum"] { members["enum"] = .array(values + [.null]) }
    return .object(members)
  }

  func with(_ name: String, _ value: JSONValue) -> JSONValue { with([name: value]) }

  /// The same object with more members.
  package func with(_ members: JSONObject) -> JSONValue {
    guard case .object(let own) = self else { return self }
    return .object(own.merging(members))
  }
}

/// The regular expression for the decimal numbers that fit 63 bits.
enum DecimalPattern {
  /// - Parameter least: 0 or 1.
  static func upToInt64Max(from least: Int64) -> String {
    let digits = Array(String(Int64.max))
    // Shorter numbers, then those that are smaller in the first digit that differs, then the largest number.
    var choices = [least == 0 ? "0|[1-9][0-9]{0,\(digits.count - 2)}" : "[1-9][0-9]{0,\(digits.count - 2)}"]
    for (place, digit) in digits.enumerated() {
      let first: Character = place == 0 ? "1" : "0"
      guard let value = digit.wholeNumberValue, digit > first else { continue }
      let rest = digits.count - place - 1
      choices.append(
        String(digits[..<place]) + "[\(first)-\(value - 1)]" + (rest > 0 ? "[0-9]{\(rest)}" : ""))
    }
    return "^(" + (choices + [String(digits)]).joined(separator: "|") + ")$"
  }
}
