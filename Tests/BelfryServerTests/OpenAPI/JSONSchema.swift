import BelfryModel
import Synchronization

/// The part of JSON Schema that the document uses. It finds the mistakes in a value, and makes valid values.
struct JSONSchema {
  let root: JSONValue
  /// True if an object may have only the properties that its schema names. The document does not require this
  /// for answers, because later versions may add properties. The answers of this version must contain only
  /// known ones.
  var isClosed = false

  func problems(_ value: JSONValue, _ schema: JSONValue, at path: String = "$") -> [String] {
    guard let schema = resolved(schema) else { return ["\(path): the schema refers to nothing"] }
    var problems = kindProblems(value, schema, path) + sizeProblems(value, schema, path)
    if let constant = schema["const"], constant != value { problems.append("\(path): is not \(constant)") }
    if let values = schema["enum"], !values.elements.contains(value) {
      problems.append("\(path): \(value) is none of \(values)")
    }
    problems += combinations(value, schema, path)
    switch value {
    case .string(let text): problems += textProblems(text, schema, path)
    case .integer(let number):
      if let least = schema["minimum"]?.number, number < least { problems.append("\(path): is too small") }
      if let most = schema["maximum"]?.number, number > most { problems.append("\(path): is too large") }
    case .array(let elements):
      problems += listProblems(elements, schema, path)
    case .object(let members):
      problems += objectProblems(members, schema, path)
    default: break
    }
    return problems
  }

  func resolved(_ schema: JSONValue) -> JSONValue? {
    guard let reference = schema["$ref"]?.text else { return schema }
    return reference.split(separator: "/").dropFirst().reduce(JSONValue?.some(root)) { $0?[String($1)] }
  }

  private func kindProblems(_ value: JSONValue, _ schema: JSONValue, _ path: String) -> [String] {
    guard let type = schema["type"] else { return [] }
    let types = type.text.map { [$0] } ?? type.elements.compactMap(\.text)
    let kind =
      switch value {
      case .null: "null"
      case .bool: "boolean"
      case .integer: "integer"
      case .number: "number"
      case .string: "string"
      case .array: "array"
      case .object: "object"
      }
    return types.contains(kind) ? [] : ["\(path): is \(kind), not \(types)"]
  }

  /// The extension `x-maxBytes`: the limit for the UTF-8 of a text, and for the JSON of any other value.
  private func sizeProblems(_ value: JSONValue, _ schema: JSONValue, _ path: String) -> [String] {
    guard let most = schema["x-maxBytes"]?.number else { return [] }
    let isText = schema["maxLength"] != nil
    let count = isText ? value.text?.utf8.count ?? 0 : JSONText.bytes(of: value).count
    return count <= most ? [] : ["\(path): has more than \(most) bytes"]
  }

  private func combinations(_ value: JSONValue, _ schema: JSONValue, _ path: String) -> [String] {
    func fits(_ choice: JSONValue) -> Bool { self.problems(value, choice, at: path).isEmpty }
    var problems = (schema["allOf"]?.elements ?? []).flatMap { self.problems(value, $0, at: path) }
    if let choices = schema["anyOf"], !choices.elements.contains(where: fits) {
      problems.append("\(path): fits none of the choices")
    }
    if let choices = schema["oneOf"], choices.elements.count(where: fits) != 1 {
      problems.append("\(path): fits not exactly one of the choices")
    }
    if let other = schema["not"], fits(other) { problems.append("\(path): is what it must not be") }
    return problems
  }

  private func textProblems(_ text: String, _ schema: JSONValue, _ path: String) -> [String] {
    var problems: [String] = []
    let count = Int64(text.unicodeScalars.count)
    if let least = schema["minLength"]?.number, count < least { problems.append("\(path): is too short") }
    if let most = schema["maxLength"]?.number, count > most { problems.append("\(path): is too long") }
    if let pattern = schema["pattern"]?.text, !Patterns.match(pattern, text) {
      problems.append("\(path): \(text) does not match \(pattern)")
    }
    return problems
  }

  private func listProblems(_ elements: [JSONValue], _ schema: JSONValue, _ path: String) -> [String] {
    var problems: [String] = []
    let count = Int64(elements.count)
    if let least = schema["minItems"]?.number, count < least { problems.append("\(path): has too few") }
    if let most = schema["maxItems"]?.number, count > most { problems.append("\(path): has too many") }
    guard let items = schema["items"] else { return problems }
    return problems
      + elements.enumerated().flatMap { self.problems($1, items, at: "\(path)[\($0)]") }
  }

  private func objectProblems(
    _ members: JSONObject, _ schema: JSONValue, _ path: String
  ) -> [String] {
    var problems: [String] = []
    for name in (schema["required"]?.elements ?? []).compactMap(\.text) where members[name] == nil {
      problems.append("\(path): lacks \(name)")
    }
    let others = schema["additionalProperties"]
    // A schema that only adds to another one does not decide about the other properties.
    let isWhole = schema["type"] != nil && schema["properties"] != nil
    for (name, value) in members {
      if let names = schema["propertyNames"] {
        problems += self.problems(.string(name), names, at: "\(path): a name")
      }
      if let property = schema["properties"]?[name] {
        problems += self.problems(value, property, at: "\(path).\(name)")
      } else if others == false || isClosed && others == nil && isWhole {
        problems.append("\(path): has \(name), which the schema does not name")
      } else if let others, others != true, others != false {
        problems += self.problems(value, others, at: "\(path).\(name)")
      }
    }
    return problems
  }
}

/// Regular expressions, each made once.
private enum Patterns {
  private static let made = Mutex<[String: Regex<AnyRegexOutput>]>([:])

  static func match(_ pattern: String, _ text: String) -> Bool {
    made.withLock { made in
      guard let regex = made[pattern] ?? (try? Regex(pattern)) else { return false }
      made[pattern] = regex
      return text.contains(regex)
    }
  }
}

// MARK: - Values that are right

extension JSONSchema {
  /// A value that the schema accepts, with every property that may occur together with the others.
  func sample(_ schema: JSONValue) -> JSONValue {
    guard let schema = resolved(schema) else { return .null }
    if let constant = schema["const"] { return constant }
    if let first = (schema["enum"] ?? schema["examples"])?.elements.first { return first }
    // Next to a type, such a choice says which properties go together, and the sample has all of them.
    if schema["type"] == nil, let choice = schema["anyOf"]?.elements.last(where: { $0["type"] != "null" }) {
      return sample(choice)
    }
    switch schema["type"]?.text ?? schema["type"]?.elements.first?.text {
    case "boolean": return true
    case "integer": return .integer(schema["minimum"]?.number ?? 0)
    case "string": return .string(String(repeating: "x", count: Int(schema["minLength"]?.number ?? 1)))
    case "array":
      let count = max(1, Int(schema["minItems"]?.number ?? 0))
      return .array(Array(repeating: schema["items"].map(sample) ?? .null, count: count))
    case "object": return sampleObject(schema)
    default: return ["any": [1, "thing"]]
    }
  }

  private func sampleObject(_ schema: JSONValue) -> JSONValue {
    guard case .object(let properties)? = schema["properties"] else {
      return .object(schema["additionalProperties"].map { ["name": sample($0)] } ?? [:])
    }
    // If properties exclude one another, the first one is taken.
    let excluded = (schema["oneOf"]?.elements.dropFirst() ?? []).flatMap {
      ($0["required"]?.elements ?? []).compactMap(\.text)
    }
    return .object(properties.filter { !excluded.contains($0.key) }.mapValues(sample))
  }
}
