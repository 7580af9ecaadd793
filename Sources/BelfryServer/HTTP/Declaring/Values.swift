import BelfryBytes
import BelfryModel

/// What a request gives for the fields it declares.
struct Values {
  /// An entry for every declared field; nil where it was left out.
  private var values: [UTF8Text: (any Sendable)?] = [:]
  /// How many accounts, servers and so on the lists of a body name.
  private(set) var namedCount = 0

  init() {}

  /// Those of a body.
  init(ofBody body: JSONValue, _ declared: [any DeclaredField], rule: FieldRule) throws(Refusal) {
    try self.init(body, at: "", declared, rule: rule)
    guard case .object(let fields) = body else { return }
    for case (_, .array(let named)) in fields { namedCount += named.count }
  }

  /// The fields of one object. What is not declared is refused by name, and before anything else: that is the
  /// better thing to hear for whoever misspelt a field that is needed.
  init(
    _ value: JSONValue, at path: String, _ declared: [any DeclaredField], rule: FieldRule = .none
  ) throws(Refusal) {
    var fields = try Fields(value, at: path)
    try fields.refuseOthers(than: declared)
    for field in declared {
      try put(fields.value(field.key), for: field, at: fields.path(of: field.key))
    }
    try check(rule, fields)
  }

  private func check(_ rule: FieldRule, _ fields: Fields) throws(Refusal) {
    let names: [String]
    switch rule {
    case .none: return
    case .oneOf(let some), .someOf(let some): names = some
    }
    let given = names.filter { values[UTF8Text($0)].flatMap { $0 } != nil }
    guard let first = given.first else {
      throw .invalid(
        fields.path(of: UTF8Text(names[0])), "is needed, or " + names.dropFirst().joined(separator: " or "))
    }
    if case .oneOf = rule, given.count > 1 {
      throw .invalid(fields.path(of: UTF8Text(given[1])), "cannot stand beside \(first); give one of them")
    }
  }

  private mutating func put(
    _ given: JSONValue?, for field: any DeclaredField, at path: String
  ) throws(Refusal) {
    if let given {
      values[field.key] = try field.read(given, at: path)
    } else {
      guard !field.property.isNeeded else { throw .invalid(path, "is needed") }
      values.updateValue(field.standard, forKey: field.key)
    }
  }

  mutating func add(_ others: Values) {
    values.merge(others.values) { _, later in later }
    namedCount += others.namedCount
  }
}

// MARK: - From texts

extension Values {
  /// The parameters after the `?`. One that stands twice and one that is not declared are refused: a misspelt
  /// `after` would quietly begin at the beginning.
  mutating func read(
    query: [(name: UTF8Text, value: UTF8Text)], _ declared: [any DeclaredField]
  ) throws(Refusal) {
    var texts: [UTF8Text: UTF8Text] = [:]
    for (name, text) in query {
      guard declared.contains(where: { $0.key == name }) else {
        throw Refusal.invalid("", "is not a parameter of this request").under(name)
      }
      guard texts.updateValue(text, forKey: name) == nil else {
        throw .invalid(name.string, "stands twice in the query")
      }
    }
    try read(texts, declared)
  }

  /// The parameters in the path.
  mutating func read(_ texts: [UTF8Text: UTF8Text], _ declared: [any DeclaredField]) throws(Refusal) {
    for field in declared {
      try put(texts[field.key].map(field.property.shape.value(ofText:)), for: field, at: field.name)
    }
  }
}

// MARK: - What was given

extension Values {
  subscript<Value>(_ field: Field<Value>) -> Value? {
    get throws(Refusal) {
      guard let value = values[field.key] else { throw .undeclared(field.name) }
      return value as? Value
    }
  }

  subscript<Value>(_ field: SureField<Value>) -> Value {
    get throws(Refusal) {
      guard let value = values[field.key] as? Value else { throw .undeclared(field.name) }
      return value
    }
  }

  /// Nil also where the field is not declared, for what is asked of any request.
  func ifDeclared<Value>(_ field: SureField<Value>) -> Value? { values[field.key] as? Value }
}

extension Refusal {
  /// A route that asks for what its row does not declare. No request is to blame, and none may end the broker;
  /// the tests ask every route once.
  fileprivate static func undeclared(_ name: String) -> Refusal {
    Refusal(.unavailable, "this route does not declare the field \(name) that it asks for")
  }
}
