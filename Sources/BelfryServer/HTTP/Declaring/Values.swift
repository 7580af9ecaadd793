import BelfryModel

/// What a request gives for the fields it declares.
struct Values {
  /// An entry for every declared field; nil where it was left out.
  private var values: [String: (any Sendable)?] = [:]

  init() {}

  /// The fields of one object. What is not declared is refused by name, and before anything else: that is the
  /// better thing to hear for whoever misspelt a field that is needed.
  init(
    _ value: JSONValue, at path: String, _ declared: [any DeclaredField], rule: FieldRule = .none
  ) throws(Refusal) {
    var fields = try Fields(value, at: path)
    try fields.refuseOthers(than: declared)
    for field in declared {
      try put(fields.value(field.name), for: field, at: fields.path(of: field.name))
    }
    try check(rule, fields)
  }

  private func check(_ rule: FieldRule, _ fields: Fields) throws(Refusal) {
    let names: [String]
    switch rule {
    case .none: return
    case .oneOf(let some), .someOf(let some): names = some
    }
    let given = names.filter { values[$0].flatMap { $0 } != nil }
    guard let first = given.first else {
      throw .invalid(
        fields.path(of: names[0]), "is needed, or " + names.dropFirst().joined(separator: " or "))
    }
    if case .oneOf = rule, given.count > 1 {
      throw .invalid(fields.path(of: given[1]), "cannot stand beside \(first); give one of them")
    }
  }

  private mutating func put(
    _ given: JSONValue?, for field: any DeclaredField, at path: String
  ) throws(Refusal) {
    if let given {
      values[field.name] = try field.read(given, at: path)
    } else {
      guard !field.property.isNeeded else { throw .invalid(path, "is needed") }
      values.updateValue(field.standard, forKey: field.name)
    }
  }

  mutating func add(_ others: Values) { values.merge(others.values) { _, later in later } }
}

// MARK: - From texts

extension Values {
  /// The parameters after the `?`. One that stands twice and one that is not declared are refused: a misspelt
  /// `after` would quietly begin at the beginning.
  mutating func read(
    query: [(name: String, value: String)], _ declared: [any DeclaredField]
  ) throws(Refusal) {
    var texts: [String: String] = [:]
    for (name, text) in query {
      guard declared.contains(where: { $0.name == name }) else {
        throw Refusal.invalid("", "is not a parameter of this request").under(name)
      }
      guard texts.updateValue(text, forKey: name) == nil else {
        throw .invalid(name, "stands twice in the query")
      }
    }
    try read(texts, declared)
  }

  /// The parameters in the path.
  mutating func read(_ texts: [String: String], _ declared: [any DeclaredField]) throws(Refusal) {
    for field in declared {
      try put(texts[field.name].map(field.property.shape.value(ofText:)), for: field, at: field.name)
    }
  }
}

// MARK: - What was given

extension Values {
  subscript<Value>(_ field: Field<Value>) -> Value? {
    get throws(Refusal) {
      guard let value = values[field.name] else { throw .undeclared(field.name) }
      return value as? Value
    }
  }

  subscript<Value>(_ field: SureField<Value>) -> Value {
    get throws(Refusal) {
      guard let value = values[field.name] as? Value else { throw .undeclared(field.name) }
      return value
    }
  }

  /// Nil also where the field is not declared, for what is asked of any request.
  func ifDeclared<Value>(_ field: SureField<Value>) -> Value? { values[field.name] as? Value }
}

extension Refusal {
  /// A route that asks for what its row does not declare. No request is to blame, and none may end the broker;
  /// the tests ask every route once.
  fileprivate static func undeclared(_ name: String) -> Refusal {
    Refusal(.unavailable, "this route does not declare the field \(name) that it asks for")
  }
}
