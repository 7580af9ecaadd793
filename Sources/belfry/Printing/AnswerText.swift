import BelfryInterface
import BelfryModel
import FoundationEssentials

/// Answers of the broker as rows and cells, according to the shapes that their routes declare.
struct AnswerText {
  let timeZone: TimeZone

  /// The table of an answer that is a list of objects and nothing else, and the words for an empty one.
  func table(_ value: JSONValue, as shape: Shape) -> (table: TextTable, ifEmpty: String)? {
    guard case .object(let object) = shape.bare, object.properties.count == 1,
      let list = object.properties.first,
      case .list(let element, _) = list.shape, case .object(let item) = element.bare,
      case .object(let members) = value, case .array(let elements)? = members[list.name]
    else { return nil }
    var table = TextTable(item.properties.map(\.heading))
    for element in elements { table.add(cells(of: element, item.properties)) }
    return (table, element.words(ifNone: list.name))
  }

  /// An answer in its parts. A table for each list of objects is easier to read than a row for each of their
  /// values.
  struct Parts {
    /// Rows of a name and a value, in the order of declaration. The name of a value inside an object begins
    /// with that of the object.
    var facts: [[String]] = []
    var tables: [(name: String, table: TextTable)] = []

    /// - Parameter columnsLimit: the longest width of a line of a table; nil: no limit.
    func lines(columnsLimit: Int?) -> [String] {
      tables.reduce(into: TextTable.aligned(facts)) { lines, named in
        if !lines.isEmpty { lines.append("") }
        lines += [named.name] + named.table.lines(columnsLimit: columnsLimit).map(\.text)
      }
    }

    fileprivate mutating func append(_ other: Parts) {
      facts += other.facts
      tables += other.tables
    }
  }

  func parts(_ value: JSONValue, as shape: Shape, prefix: String = "") -> Parts {
    guard case .object(var members) = value, case .object(let object) = shape.bare else {
      return Parts(facts: [[prefix, cell(value, as: shape)].map(VisibleText.of)])
    }
    var parts = Parts()
    for property in object.properties {
      guard let value = members[property.name] else {
        if let word = property.wordIfAbsent { parts.facts.append([prefix + property.label, word]) }
        continue
      }
      members[property.name] = nil
      if property.namesTypes {
        let cell = cell(value, of: property)
        parts.facts.append([prefix + property.label, cell].map(VisibleText.of))
        continue
      }
      parts.append(self.parts(of: value, property.shape, named: prefix + property.label))
    }
    // Fields that a newer broker adds are shown as well as possible.
    parts.facts += FactText.rows(members, prefix: prefix, in: timeZone)
    return parts
  }

  private func parts(of value: JSONValue, _ shape: Shape, named name: String) -> Parts {
    switch (shape.bare, value) {
    case (.object, .object): return parts(value, as: shape, prefix: name + " ")
    case (.map, .object(let members)):
      return Parts(facts: FactText.rows(members, prefix: name + " ", in: timeZone))
    case (.list(let element, _), .array([])):
      return Parts(facts: [[name, element.isAboutAccounts ? "nobody" : "none"]])
    case (.list(let element, _), .array(let elements)):
      if case .account = element.bare, elements.count > Self.namesMax {
        let names = elements.prefix(Self.namesMax).map { cell($0, as: element) }.joined(separator: ", ")
        return Parts(facts: [[name, VisibleText.of("\(elements.count): \(names), …")]])
      }
      guard case .object(let item) = element.bare else { break }
      return Parts(tables: [(name, table(elements, of: item.properties))])
    default: break
    }
    return Parts(facts: [[name, cell(value, as: shape)].map(VisibleText.of)])
  }

  /// The most accounts that a fact names. A file may have thousands.
  private static let namesMax = 20

  /// - Parameter properties: those of an element. A property that no element has gets no column.
  private func table(_ elements: [JSONValue], of properties: [Property]) -> TextTable {
    let rows = elements.map { cells(of: $0, properties) }
    let shown = properties.indices.filter { column in rows.contains { $0[column] != "-" } }
    var table = TextTable(shown.map { properties[$0].heading })
    for row in rows { table.add(shown.map { row[$0] }) }
    return table
  }

  private func cells(of element: JSONValue, _ properties: [Property]) -> [String] {
    properties.map { property in
      guard case .object(let members) = element, let value = members[property.name] else {
        return property.wordIfAbsent ?? "-"
      }
      return cell(value, of: property)
    }
  }

  /// The value of a property in one place. Types of notifications have their names.
  func cell(_ value: JSONValue, of property: Property) -> String {
    if property.isPlaceInWords, case .string(let key) = value {
      return SpaceID(key: key).map { "\($0.kind.rawValue) \($0.name)" } ?? key
    }
    guard property.namesTypes else { return cell(value, as: property.shape) }
    switch value {
    case .integer(let code): return Int(exactly: code).map(Self.type) ?? "\(code)"
    case .array(let codes) where !codes.isEmpty:
      return codes.map { cell($0, of: property) }.joined(separator: ", ")
    default: return cell(value, as: property.shape)
    }
  }

  /// The name and the code of a type, as `belfry types` has both.
  private static func type(_ code: Int) -> String {
    Catalogue.type(code).map { "\($0.name) (\(code))" } ?? "type \(code)"
  }

  /// One value in one place.
  func cell(_ value: JSONValue, as shape: Shape) -> String {
    switch (shape.bare, value) {
    case (_, .null): "-"
    case (.time, .integer(let time)): TimeText.of(unixMilliseconds: time, in: timeZone)
    case (.numbers(_, let words), .integer(let number)):
      words.first { $0.number == Int(number) }?.word ?? "\(number)"
    case (.list(let element, _), .array(let elements)):
      elements.isEmpty ? "-" : elements.map { cell($0, as: element) }.joined(separator: element.listSeparator)
    case (.object(let object), .object(let members)): phrase(members, of: object.properties)
    case (_, .bool(let flag)): flag ? "yes" : "no"
    case (_, .string(let text)): text.isEmpty ? "-" : text
    default: (try? JSONLine.text(value)) ?? ""
    }
  }

  /// An object as one cell: `10.0.0.2:6379, online, 0 bytes behind`.
  private func phrase(_ members: JSONObject, of properties: [Property]) -> String {
    let words = properties.compactMap { property -> String? in
      switch (property.shape.bare, members[property.name]) {
      case (_, nil): nil
      case (.flag, .bool(let flag)?): flag ? property.label : nil
      case (.integer, let number?): "\(cell(number, as: property.shape)) \(property.label)"
      case (_, let value?): cell(value, as: property.shape)
      }
    }
    return words.joined(separator: ", ")
  }
}

extension Property {
  /// The label before its value: `create time`.
  fileprivate var label: String { heading.lowercased() }
}

extension Shape {
  /// True for accounts, and for objects that begin with one.
  fileprivate var isAboutAccounts: Bool {
    switch bare {
    case .account: true
    case .object(let object): object.properties.first?.shape.bare == .account
    default: false
    }
  }

  /// The words for a list without elements of this shape: `nobody` or `no preferences`.
  func words(ifNone name: String) -> String { isAboutAccounts ? "nobody" : "no \(name)" }

  /// An object as a phrase has commas of its own.
  fileprivate var listSeparator: String { if case .object = bare { "; " } else { ", " } }
}
