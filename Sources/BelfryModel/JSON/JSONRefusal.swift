package import BelfryBytes

// Refusals of a value, with the expected kind and the place.

extension JSONValue {
  package func refused(_ expected: String, at path: String) -> Refusal {
    .invalid(path.utf8.isEmpty ? "$" : path, "must be \(expected), not \(kind)")
  }

  /// The kind of the value, for a caller who expected another one.
  private var kind: String {
    switch self {
    case .null: "null"
    case .bool: "true or false"
    case .integer: "a whole number"
    case .number: "a number with a fraction or an exponent"
    case .string: "a string"
    case .array: "a list"
    case .object: "an object"
    }
  }
}

// MARK: - The field of a refusal

extension Refusal {
  /// Names come from the caller; an answer repeats no more of one than a person needs to recognise it.
  private static let nameBytes = 64

  /// The same refusal, with the path from one level further out as its field.
  package func under(_ name: UTF8Text) -> Refusal {
    let name = name.beginning(bytes: Self.nameBytes)
    var refusal = self
    guard let inner = field, let first = inner.utf8.first else {
      refusal.field = name
      return refusal
    }
    refusal.field = first == UInt8(ascii: "[") ? name + inner : name + "." + inner
    return refusal
  }

  /// The path is complete; an empty one means all of it.
  var fromTheRoot: Refusal {
    guard let field, field.utf8.isEmpty else { return self }
    var refusal = self
    refusal.field = "$"
    return refusal
  }
}
