package import BelfryBytes
package import BelfryModel

/// The fields of one JSON object of a request, taken one by one by name and kind.
///
/// A field that nobody took is refused in the end. If a misspelt `toAccids` were ignored, a message for one account would
/// become a broadcast. `null` means the same as absent.
package struct ObjectFields {
  /// The path from the whole body to this object. Empty if they are the same.
  private let path: String
  /// A list, not a dictionary: there are few fields, and a look at each costs less than one hash.
  private var rest: [(name: UTF8Text, value: JSONValue)]

  /// Reads a body, or one line of a body, that is one object.
  package init(of body: [UInt8], in range: Range<Int>? = nil) throws(Refusal) {
    if range == nil, body.isEmpty { throw .emptyBody }
    path = ""
    rest = try JSONParser.members(of: body, in: range ?? body.startIndex..<body.endIndex)
  }

  package init(_ value: JSONValue, at path: String) throws(Refusal) {
    guard case .object(let members) = value else { throw value.refused("an object", at: path) }
    self.path = path
    rest = members.map { (name: UTF8Text($0.key), value: $0.value) }
  }

  package var isEmpty: Bool { rest.isEmpty }

  /// - Parameter name: a name of a declaration, not of a caller.
  package func path(of name: UTF8Text) -> String { path.isEmpty ? name.string : path + "." + name.string }

  /// Refuses every field that was not taken.
  ///
  /// - Parameter declared: the declared fields. The refusal names the one with the nearest name.
  package func finish(declared: @autoclosure () -> [Property]) throws(Refusal) {
    guard let name = rest.map(\.name).min() else { return }
    throw refusal(ofUnknown: name, among: declared().map(\.name))
  }

  /// Refuses every field that is not declared.
  func refuseOthers(than declared: [UTF8Text]) throws(Refusal) {
    guard let name = rest.map(\.name).filter({ !declared.contains($0) }).min() else { return }
    throw refusal(ofUnknown: name, among: declared.map(\.string))
  }

  /// True if the field is present and not null.
  func isGiven(_ name: UTF8Text) -> Bool {
    rest.contains { field in
      if case .null = field.value { false } else { field.name == name }
    }
  }

  private func refusal(ofUnknown name: UTF8Text, among declared: [String]) -> Refusal {
    .unknownName(name, "is not a field of this request", among: declared).inside(path)
  }

  /// Most names differ in their length, and comparing lengths needs no call.
  private func index(of name: UTF8Text) -> Int? {
    let count = name.string.utf8.count
    return rest.firstIndex { $0.name.string.utf8.count == count && $0.name == name }
  }

  /// Refuses a field that exists but is not the caller's to set.
  package func refuse(_ name: UTF8Text, _ why: String) throws(Refusal) {
    if index(of: name) != nil { throw .invalid(path(of: name), why) }
  }
}

// MARK: - By kind

extension ObjectFields {
  package mutating func value(_ name: UTF8Text) -> JSONValue? {
    guard let index = index(of: name) else { return nil }
    rest.swapAt(index, rest.count - 1)
    let value = rest.removeLast().value
    if case .null = value { return nil }
    return value
  }

  package mutating func text(_ name: UTF8Text) throws(Refusal) -> String? {
    guard let value = value(name) else { return nil }
    return try value.text(at: path(of: name))
  }

  package mutating func integer(_ name: UTF8Text) throws(Refusal) -> Int? {
    guard let value = value(name) else { return nil }
    return try value.integer(at: path(of: name))
  }

  /// Reads one of a few values, as its declaration says.
  package mutating func take<Value>(_ name: UTF8Text, _ kind: Kind<Value>) throws(Refusal) -> Value? {
    guard let value = value(name) else { return nil }
    return try kind.read(value, path(of: name))
  }

  package mutating func entity(_ name: UTF8Text) throws(Refusal) -> EntityID? {
    guard let value = value(name) else { return nil }
    return try value.entity(at: path(of: name))
  }

  package mutating func account(_ name: UTF8Text) throws(Refusal) -> AccountID? {
    guard let value = value(name) else { return nil }
    return try value.account(at: path(of: name))
  }

  package mutating func device(_ name: UTF8Text) throws(Refusal) -> DeviceID? {
    guard let text = try text(name) else { return nil }
    guard let device = DeviceID(text) else { throw .invalid(path(of: name), "must be \(DeviceID.rule)") }
    return device
  }

  package mutating func accounts(_ name: UTF8Text, counts: ClosedRange<Int>) throws(Refusal) -> [AccountID]? {
    guard let value = value(name) else { return nil }
    return try value.list(at: path(of: name), counts: counts) { value, path throws(Refusal) in
      try value.account(at: path)
    }
  }
}

extension Kind where Value == [UTF8Text: String] {
  /// Reads texts by name.
  package static var texts: Kind {
    Kind(.map(.text)) { value, path throws(Refusal) in
      guard case .object(let members) = value else { throw value.refused("an object", at: path) }
      var texts: [UTF8Text: String] = [:]
      for (name, value) in members {
        let name = UTF8Text(name)
        if name.isEmpty { throw .invalid(path, "must not contain a field with an empty name") }
        guard case .string(let text) = value else {
          // An empty path would name the whole body.
          var refusal = value.refused("a string", at: "")
          refusal.field = ""
          throw refusal.under(name).inside(path)
        }
        texts[name] = text
      }
      return texts
    }
  }
}

extension Refusal {
  /// A reader finds the right one of so many names at a glance.
  private static let namesToldMax = 8

  /// The refusal of an undeclared name. It tells the nearest declared one, or all if there are few.
  static func unknownName(_ name: UTF8Text, _ why: String, among declared: [String]) -> Refusal {
    let same = SharedFields.accompanyingNames
    let accompanying = same.contains(name.string) ? declared.first(where: same.contains) : nil
    let isBody = SharedFields.bodyNamesElsewhere.contains(name.string) && declared.contains("body")
    let isSetting =
      declared.contains("setting") && NotificationSetting.properties.contains { $0.name == name.string }
    let meant =
      isBody
      ? "body"
      : isSetting ? "setting.\(name.string)" : NearestWord.to(name.string, among: declared) ?? accompanying
    let few =
      (1...namesToldMax).contains(declared.count) ? "; it has \(declared.joined(separator: ", "))" : ""
    return Refusal.invalid("", why + (meant.map { "; perhaps \($0) is meant" } ?? few)).under(name)
  }

  package static func noChoice(of choices: [String], at path: String) -> Refusal {
    let last = choices.last ?? "nothing"
    let words = choices.count > 1 ? choices.dropLast().joined(separator: ", ") + " or " + last : last
    return .invalid(path, "must be " + words)
  }
}

// MARK: - One value

extension JSONValue {
  package func text(at path: String) throws(Refusal) -> String {
    guard case .string(let text) = self else { throw refused("a string", at: path) }
    return text
  }

  package func integer(at path: String) throws(Refusal) -> Int {
    guard case .integer(let number) = self else { throw refused("a whole number", at: path) }
    return Int(number)
  }

  /// - Parameter counts: the allowed numbers of elements.
  package func list<Element>(
    at path: String, counts: ClosedRange<Int>, _ read: (JSONValue, String) throws(Refusal) -> Element
  ) throws(Refusal) -> [Element] {
    guard case .array(let values) = self else { throw refused("a list", at: path) }
    guard counts.contains(values.count) else {
      throw .invalid(
        path, "must have \(counts.lowerBound) to \(counts.upperBound) elements, not \(values.count)")
    }
    var elements: [Element] = []
    elements.reserveCapacity(values.count)
    for (index, value) in values.enumerated() { elements.append(try read(value, "\(path)[\(index)]")) }
    return elements
  }

  package func account(at path: String) throws(Refusal) -> AccountID {
    guard let account = AccountID(try text(at: path)) else {
      throw .invalid(path, "must be \(AccountID.rule)")
    }
    return account
  }

  package func entity(at path: String) throws(Refusal) -> EntityID {
    try id("a positive decimal id", at: path, EntityID.init(_:), EntityID.init(_:))
  }

  package func message(at path: String) throws(Refusal) -> MessageID {
    try id("a decimal message id", at: path, MessageID.init(_:), MessageID.init(_:))
  }

  /// Reads a decimal string, or the number itself, since the JSON writers of some callers can only write numbers.
  private func id<ID>(
    _ expected: String, at path: String, _ read: (String) -> ID?, _ convert: (Int64) -> ID?
  ) throws(Refusal) -> ID {
    let id: ID? =
      switch self {
      case .string(let text): read(text)
      case .integer(let number): convert(number)
      default: throw refused(expected, at: path)
      }
    guard let id else { throw .invalid(path, "must be \(expected)") }
    return id
  }
}

extension Refusal {
  /// The same refusal, with the whole path of its field.
  package func inside(_ path: String) -> Refusal {
    guard !path.isEmpty, let field else { return self }
    var refusal = self
    refusal.field = path + "." + field
    return refusal
  }
}

extension AccountID {
  /// The form of an accid in words, for the refusal of another text.
  package static let rule = "1 to \(lengthLimitBytes) characters of A-Z a-z 0-9 _ . @ -"
}

extension DeviceID {
  package static let rule = "1 to \(lengthLimitBytes) characters of A-Z a-z 0-9 _ . @ -"
}
