import BelfryBytes
package import BelfryModel

/// What the declarations of all fields have in common.
package protocol DeclaredField<Value>: Sendable {
  /// What a handler is given for it.
  associatedtype Value: Sendable
  var property: Property { get }
  /// - Parameters:
  ///   - value: what the request says; nil where it was left out.
  ///   - path: the field's name, below whatever it is inside of.
  func read(_ value: JSONValue?, at path: String) throws(Refusal) -> Value
}

extension DeclaredField {
  package var name: String { property.name }
  /// The name as callers' names are compared with it.
  var key: UTF8Text { UTF8Text(property.name) }
}

/// A field that a request may have, declared once: it is read, refused and described by this. A handler is given its
/// value, or nil where it was left out.
package struct Field<Content: Sendable>: DeclaredField {
  package let property: Property
  private let kind: Kind<Content>

  package init(_ name: String, _ kind: Kind<Content>, _ meaning: String) {
    property = Property(name, kind.shape, meaning)
    self.kind = kind
  }

  package func read(_ value: JSONValue?, at path: String) throws(Refusal) -> Content? {
    guard let value else { return nil }
    return try kind.read(value, path)
  }

  /// The same field where a request cannot do without it.
  package var needed: SureField<Content> {
    var property = property
    property.isNeeded = true
    return SureField(property, kind, standard: nil)
  }

  /// The same field where something holds when it is left out.
  ///
  /// - Parameter json: the standard as the wire has it.
  package func otherwise(_ standard: Content, _ json: JSONValue) -> SureField<Content> {
    var property = property
    property.standard = json
    return SureField(property, kind, standard: standard)
  }
}

/// A field that has a value in every request that is not refused.
package struct SureField<Content: Sendable>: DeclaredField {
  package let property: Property
  private let kind: Kind<Content>
  private let standard: Content?

  fileprivate init(_ property: Property, _ kind: Kind<Content>, standard: Content?) {
    self.property = property
    self.kind = kind
    self.standard = standard
  }

  package func read(_ value: JSONValue?, at path: String) throws(Refusal) -> Content {
    if let value { return try kind.read(value, path) }
    guard let standard else { throw .invalid(path, "is needed") }
    return standard
  }
}
