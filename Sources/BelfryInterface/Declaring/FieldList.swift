import BelfryBytes
import BelfryModel

/// The fields of one place of a request: its path, its query, its headers, its body or an object inside that.
///
/// Reading returns a value for each field, in their order and of their types.
struct FieldList<each Declared: DeclaredField>: Sendable {
  private let fields: (repeat each Declared)
  let properties: [Property]
  private let keys: [UTF8Text]

  init(_ fields: repeat each Declared) {
    self.fields = (repeat each fields)
    var properties: [Property] = []
    for field in repeat each fields { properties.append(field.property) }
    self.properties = properties
    keys = properties.map { UTF8Text($0.name) }
  }

  // MARK: From an object

  /// A field that is not declared is refused by name, and before anything else. A caller that misspelt a needed field then
  /// reads the wrong name.
  func read(
    _ value: JSONValue, at path: String, rule: FieldRule = .none
  ) throws(Refusal) -> (repeat (each Declared).Value) {
    var fields = try ObjectFields(value, at: path)
    try fields.refuseOthers(than: keys)
    let given = Self.given(rule, fields)
    let values =
      (repeat try (each self.fields).read(
        fields.value((each self.fields).key), at: fields.path(of: (each self.fields).key)))
    try Self.check(rule, given, fields)
    return values
  }

  /// The fields of the rule that are present.
  private static func given(_ rule: FieldRule, _ fields: ObjectFields) -> [String] {
    switch rule {
    case .none: []
    case .oneOf(let names), .someOf(let names): names.filter { fields.isGiven(UTF8Text($0)) }
    }
  }

  private static func check(
    _ rule: FieldRule, _ given: [String], _ fields: ObjectFields
  ) throws(Refusal) {
    let (amount, names): (String, [String])
    switch rule {
    case .none: return
    case .oneOf(let some): (amount, names) = ("exactly", some)
    case .someOf(let some): (amount, names) = ("at least", some)
    }
    guard let first = given.first else {
      throw .invalid(
        fields.path(of: UTF8Text(names[0])),
        "is missing: give \(amount) one of \(names.joined(separator: ", "))")
    }
    if case .oneOf = rule, given.count > 1 {
      throw .invalid(
        fields.path(of: UTF8Text(given[1])), "cannot be combined with \(first); give only one of them")
    }
  }

  // MARK: From texts

  /// Reads the parameters after the `?`. It refuses a parameter that comes twice or is not declared: a misspelt `after`
  /// would silently begin at the beginning.
  func read(
    query: [(name: UTF8Text, value: UTF8Text)]
  ) throws(Refusal) -> (repeat (each Declared).Value) {
    var texts: [UTF8Text: UTF8Text] = [:]
    for (name, text) in query {
      guard keys.contains(name) else {
        throw Refusal.unknownName(
          name, "is not a parameter of this request", among: properties.map(\.name))
      }
      guard texts.updateValue(text, forKey: name) == nil else {
        throw .invalid(name.string, "is given twice in the query")
      }
    }
    return try read(texts)
  }

  func read(_ texts: [UTF8Text: UTF8Text]) throws(Refusal) -> (repeat (each Declared).Value) {
    (repeat try (each fields).read(
      texts[(each fields).key].map((each fields).property.shape.value(ofText:)), at: (each fields).name))
  }
}
