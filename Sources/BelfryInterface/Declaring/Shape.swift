package import BelfryBytes
package import BelfryModel

/// The form of a value in the interface, as data.
///
/// The same data has three uses. Requests are read by it (``Kind``), the description of the interface has it as JSON
/// Schema, and the command line asks for it.
package indirect enum Shape: Sendable, Hashable {
  case text(TextLimit)
  /// A text, or a whole number of the range.
  case textOrNumber(TextLimit, ClosedRange<Int>)
  case account
  case device
  /// An invite code.
  case code
  /// A space, by its kind and its name: `server:7`.
  case space
  /// The id of a server, a channel, a group, a room, a request or a file.
  case id
  case message
  /// The place where a list or a feed continues. Only Belfry reads it.
  case cursor
  case flag
  /// A number in one of the ranges.
  case integer([ClosedRange<Int>])
  /// Milliseconds since 1970.
  case time
  /// One of a few texts. The set of them has a name.
  case words(String, [String])
  /// One of a few numbers, each with a word for it.
  case numbers(String, [NumberWord])
  case list(Shape, counts: ClosedRange<Int>)
  case object(ObjectShape)
  /// Any JSON.
  case json(bytesMax: Int)
  case jsonObject(bytesMax: Int)
  /// Values by name, with any names.
  case map(Shape)

  // Only in answers.
  case orNull(Shape)
  /// A shape that has a name of its own in the document.
  case resource(String, Shape)
}

/// A number with a meaning, and a word for the meaning.
package struct NumberWord: Sendable, Hashable {
  package let number: Int
  package let word: String
}

/// A few values with a name, under which the description of the interface lists them.
package protocol NamedChoice: CaseIterable, Sendable {
  static var schemaName: String { get }
}

/// How long a text may be.
package struct TextLimit: Sendable, Hashable {
  package enum Unit: Sendable, Hashable {
    /// Unicode scalars, which is also what JSON Schema counts.
    case characters
    /// Bytes of UTF-8.
    case bytes
  }

  package let range: ClosedRange<Int>
  package let unit: Unit
}

/// The fields of an object.
package struct ObjectShape: Sendable, Hashable {
  package let properties: [Property]
  package let rule: FieldRule
  /// The fields that an example shows. Empty means all fields. It is needed if all fields together make no sense.
  package let usual: Set<String>  // own text

  package init(_ properties: [Property], rule: FieldRule = .none, usual: Set<String> = []) {  // own text
    self.properties = properties
    self.rule = rule
    self.usual = usual
  }
}

/// Says which fields of an object are given together.
package enum FieldRule: Sendable, Hashable {
  /// Any of them. Needed fields are always given.
  case none
  /// Exactly one of these.
  case oneOf([String])
  /// At least one of these.
  case someOf([String])
}

/// A field of an object, or a parameter of a path or a query.
package struct Property: Sendable, Hashable {
  package let name: String
  package let shape: Shape
  /// In a few words: a phrase without a full stop.
  package let meaning: String
  package var isNeeded = false
  /// The value that applies if the field is left out.
  package var standard: JSONValue?
  /// The word that the command line shows if an answer does not have the field, such as `all`; nil for none.
  package var wordIfAbsent: String?
  /// True for a space that the command line shows as a sentence has it, `server 7`, and not as its options take it.
  package var isPlaceInWords = false

  package init(
    _ name: String, _ shape: Shape, _ meaning: String, isNeeded: Bool = false, standard: JSONValue? = nil,
    wordIfAbsent: String? = nil
  ) {
    self.name = name
    self.shape = shape
    self.meaning = meaning
    self.isNeeded = isNeeded
    self.standard = standard
    self.wordIfAbsent = wordIfAbsent
  }
}

extension Shape {
  /// A text of an answer, of any length.
  package static let text = Shape.text(characters: 0...Int.max)
  package static let count = Shape.integer([0...Int.max])

  package static func text(characters: ClosedRange<Int>) -> Shape {
    .text(TextLimit(range: characters, unit: .characters))
  }
  package static func text(bytes: ClosedRange<Int>) -> Shape { .text(TextLimit(range: bytes, unit: .bytes)) }
  package static func choice<Choice: RawRepresentable<String> & NamedChoice>(_: Choice.Type) -> Shape {
    .words(Choice.schemaName, Choice.allCases.map(\.rawValue))
  }
  package static func choice<Choice: RawRepresentable<Int> & NamedChoice>(_: Choice.Type) -> Shape {
    .numbers(Choice.schemaName, Choice.allCases.map { NumberWord(number: $0.rawValue, word: "\($0)") })
  }

  package static func list(_ element: Shape) -> Shape { .list(element, counts: 0...Int.max) }

  package static func object(_ properties: [Property]) -> Shape { .object(ObjectShape(properties)) }

  /// A resource of answers. It always has all properties, except for those that are `.sometimes`.
  package static func resource(_ name: String, _ properties: [Property]) -> Shape {
    .resource(name, .object(properties))
  }

  /// One page of a list.
  package static func page(_ name: String, of element: Shape, _ meaning: String) -> Shape {
    let elementName = if case .resource(let name, _) = element { name } else { "Accid" }
    return .resource(
      elementName + "Page",
      [
        .always(name, .list(element), meaning),
        .always("cursor", .orNull(.cursor), "the cursor of the next page; null at the end of the list"),
      ])
  }
}

extension Property {
  package static func always(_ name: String, _ shape: Shape, _ meaning: String) -> Property {
    Property(name, shape, meaning, isNeeded: true)
  }
  package static func sometimes(_ name: String, _ shape: Shape, _ meaning: String) -> Property {
    Property(name, shape, meaning)
  }
}

// MARK: - Written as text

extension Shape {
  /// Reads a word of a path, a query or a command line: as a number or a flag if one is expected, otherwise as the text
  /// itself.
  private static let yes: UTF8Text = "true"
  private static let no: UTF8Text = "false"

  package func value(ofText text: UTF8Text) -> JSONValue {
    switch self {
    case .flag:
      if text == Self.yes { return true }
      return text == Self.no ? false : .string(text.string)
    case .integer, .numbers, .time:
      // Each number has one spelling: neither +5 nor 05.
      guard let number = Int64(text.string), UTF8Text(String(number)) == text else {
        return .string(text.string)
      }
      return .integer(number)
    default:
      return .string(text.string)
    }
  }
}
