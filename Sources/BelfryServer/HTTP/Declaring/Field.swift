import BelfryBytes
import BelfryModel

/// A field that a request may have, declared once: it is read, refused and described by this.
///
/// It is also the key under which an answer finds what was given (``Values``), so that no name is written
/// twice and nothing is found with another type than it was read with.
struct Field<Value: Sendable>: DeclaredField {
  let property: Property
  private let kind: Kind<Value>
  var standard: (any Sendable)? { nil }

  init(_ name: String, _ kind: Kind<Value>, _ meaning: String) {
    self.init(Property(name, kind.shape, meaning), kind)
  }

  private init(_ property: Property, _ kind: Kind<Value>) {
    self.property = property
    self.kind = kind
  }

  func read(_ value: JSONValue, at path: String) throws(Refusal) -> any Sendable {
    try kind.read(value, path)
  }

  /// The same field where a request cannot do without it.
  var needed: SureField<Value> {
    var property = property
    property.isNeeded = true
    return SureField(property, kind, standard: nil)
  }

  /// The same field where something holds when it is left out.
  ///
  /// - Parameter json: the standard as the wire has it.
  func otherwise(_ standard: Value, _ json: JSONValue) -> SureField<Value> {
    var property = property
    property.standard = json
    return SureField(property, kind, standard: standard)
  }
}

/// A field that has a value in every request that is not refused.
struct SureField<Value: Sendable>: DeclaredField {
  let property: Property
  private let kind: Kind<Value>
  let standard: (any Sendable)?

  fileprivate init(_ property: Property, _ kind: Kind<Value>, standard: Value?) {
    self.property = property
    self.kind = kind
    self.standard = standard
  }

  func read(_ value: JSONValue, at path: String) throws(Refusal) -> any Sendable {
    try kind.read(value, path)
  }
}

/// What the declarations of all fields have in common.
protocol DeclaredField: Sendable {
  var property: Property { get }
  /// What holds when it is left out; nil: nothing does.
  var standard: (any Sendable)? { get }
  func read(_ value: JSONValue, at path: String) throws(Refusal) -> any Sendable
}

extension DeclaredField {
  var name: String { property.name }
  /// The name as callers' names are compared with it.
  var key: UTF8Text { UTF8Text(property.name) }
}
