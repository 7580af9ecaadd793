import BelfryInterface
import BelfryModel
import FoundationEssentials

/// Answers of the broker as rows and cells, according to the shapes that their routes declare.
struct AnswerText {
  let timeZone: TimeZone

  /// The table of an answer that is a list of objects and nothing else.
  func table(_ value: JSONValue, as shape: Shape) -> TextTable? {
    guard case .object(let object) = shape.bare, object.properties.count == 1,
      let list = object.properties.first,
      case .list(let element, _) = list.shape, case .object(let item) = element.bare,
      case .object(let members) = value, case .array(let elements)? = members[list.name]
    else { return nil }
    var table = TextTable(item.properties.map(\.heading))
    for case .object(let row) in elements {
      table.add(
        item.properties.map { property in
          row[property.name].map { cell($0, as: property.shape) } ?? property.wordIfAbsent ?? "-"
        })
    }
    return table
  }

  /// Rows of a name and a value, in the order of declaration. A value inside an object has a name with a dot.
  func rows(_ value: JSONValue, as shape: Shape, prefix: String = "") -> [[String]] {
    guard case .object(var members) = value, case .object(let object) = shape.bare else {
      return [[prefix, cell(value, as: shape)].map(VisibleText.of)]
    }
    var rows: [[String]] = []
    for property in object.properties {
      guard let value = members[property.name] else {
        if let word = property.wordIfAbsent { rows.append([prefix + property.label, word]) }
        continue
      }
      members[property.name] = nil
      rows += self.rows(of: value, property.shape, named: prefix + property.label)
    }
    // Fields that a newer broker adds are shown as well as possible.
    return rows + FactText.rows(members, prefix: prefix, in: timeZone)
  }

  private func rows(of value: JSONValue, _ shape: Shape, named name: String) -> [[String]] {
    switch (shape.bare, value) {
    case (.object, .object): rows(value, as: shape, prefix: name + ".")
    case (.list(let element, _), .array(let elements)) where element.isObject:
      elements.enumerated().flatMap { rows($0.element, as: element, prefix: "\(name).\($0.offset).") }
    case (.map, .object(let members)): FactText.rows(members, prefix: name + ".", in: timeZone)
    default: [[name, cell(value, as: shape)].map(VisibleText.of)]
    }
  }

  /// One value in one place.
  func cell(_ value: JSONValue, as shape: Shape) -> String {
    switch (shape.bare, value) {
    case (_, .null): "-"
    case (.time, .integer(let time)): TimeText.of(unixMilliseconds: time, in: timeZone)
    case (.numbers(_, let words), .integer(let number)):
      words.first { $0.number == Int(number) }?.word ?? "\(number)"
    case (.list(let element, _), .array(let elements)):
      elements.isEmpty ? "-" : elements.map { cell($0, as: element) }.joined(separator: ", ")
    case (_, .bool(let flag)): flag ? "yes" : "no"
    case (_, .string(let text)): text
    default: (try? JSONLine.text(value)) ?? ""
    }
  }
}

extension Property {
  /// The label before its value: `create time`.
  fileprivate var label: String { heading.lowercased() }
}

extension Shape {
  fileprivate var isObject: Bool { if case .object = bare { true } else { false } }
}
