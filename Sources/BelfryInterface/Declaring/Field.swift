import BelfryBytes
package import BelfryModel

/// The common part of the declarations of all fields.
package protocol DeclaredField<Value>: Sendable {
  /// The type of the value that a handler gets.
  associatedtype Value: Sendable
  var property: Property { get }
  /// - Parameters:
  ///   - value: the value in the request. Nil if it was left out.
  ///   - path: the name of the field, with the names of the objects that it is inside.
  func read(_ value: JSONValue?, at path: String) throws(Refusal) -> Value
}

extension DeclaredField {
  package var name: String { property.name }
  /// The name in the form in which it is compared with the names of callers.
  var key: UTF8Text { UTF8Text(property.name) }
}

/// A field that a request may have. It is declared once, and read, refused and described by this declaration. A handler
/// gets its value, or nil if it was left out.
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

  /// The same field for requests that need it.
  package var needed: SureField<Content> {
    var property = property
    property.isNeeded = true
    return SureField(property, kind, standard: nil)
  }

  /// The same field with a default.
  ///
  /// - Parameter json: the default as JSON.
  package func otherwise(_ standard: Content, _ json: JSONValue) -> SureField<Content> {
    var property = property
    property.standard = json
    return SureField(property, kind, standard: standard)
  }
}

/// A field that has a value in every accepted request.
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
