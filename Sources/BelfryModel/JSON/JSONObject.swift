internal import BelfryBytes

// A dictionary by `String` would not do. It treats some names with different bytes as the same name, and callers could make it
// hash a name for seconds (``UTF8Text``).
/// The members of a JSON object: names, each once, and values. They are in the order of the names' bytes.
///
/// ```swift
/// let stats = try await client.stats()
/// for (name, value) in stats { print(name, value) }
/// if case .string(let broker)? = stats["broker"] { print("broker \(broker)") }
/// ```
public struct JSONObject: Sendable, ExpressibleByDictionaryLiteral {
  private typealias Member = (name: UTF8Text, value: JSONValue)

  private var members: [Member] = []

  /// Makes an empty object.
  public init() {}

  /// Makes an object. If a name comes twice, the later member is taken.
  public init(dictionaryLiteral members: (String, JSONValue)...) { self.init(members) }

  /// Makes an object. If a name comes twice, the later member is taken.
  public init(_ members: some Sequence<(String, JSONValue)>) {
    for (name, value) in members { self[name] = value }
  }

  /// - Parameter members: none of a name twice.
  init(distinct members: [(name: UTF8Text, value: JSONValue)]) {
    self.members = members
    if members.count > 1 { self.members.sort { $0.name < $1.name } }
  }

  private init(sorted members: [Member]) { self.members = members }

  /// How many members it has.
  public var count: Int { members.count }
  /// True if it has no members.
  public var isEmpty: Bool { members.isEmpty }
  /// The names, in the order of their bytes.
  public var keys: [String] { members.map(\.name.string) }
  /// The values, in the order of their names.
  public var values: [JSONValue] { members.map(\.value) }

  /// The value of a member. Set it to nil to remove the member.
  public subscript(name: String) -> JSONValue? {
    get {
      let place = place(of: UTF8Text(name))
      return place.isTaken ? members[place.index].value : nil
    }
    set {
      let name = UTF8Text(name)
      let (index, isTaken) = place(of: name)
      switch newValue {
      case let value? where isTaken: members[index].value = value
      case let value?: members.insert((name, value), at: index)
      case nil: if isTaken { members.remove(at: index) }
      }
    }
  }

  /// The index of the name, or the index at which it would be inserted.
  private func place(of name: UTF8Text) -> (index: Int, isTaken: Bool) {
    // Most objects are made in order.
    guard let last = members.last, !(last.name < name) else { return (members.count, false) }
    var (low, high) = (0, members.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if members[middle].name < name { low = middle + 1 } else { high = middle }
    }
    return (low, members[low].name == name)
  }

  /// An object with the same names and the transformed values.
  public func mapValues(_ transform: (JSONValue) throws -> JSONValue) rethrows -> JSONObject {
    JSONObject(sorted: try members.map { ($0.name, try transform($0.value)) })
  }

  /// An object with those members for which the closure returns true.
  public func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> JSONObject {
    JSONObject(sorted: try members.filter { try isIncluded(($0.name.string, $0.value)) })
  }

  /// An object with the members of both. If both have a name, the member of `others` is taken.
  public func merging(_ others: JSONObject) -> JSONObject {
    var merged = self
    for (name, value) in others { merged[name] = value }
    return merged
  }
}

extension JSONObject: Sequence {
  /// One member.
  public typealias Element = (key: String, value: JSONValue)

  /// One pass over the members of an object.
  ///
  /// ```swift
  /// var iterator = try await client.stats().makeIterator()
  /// while let (name, value) = iterator.next() { print(name, value) }
  /// ```
  public struct Iterator: IteratorProtocol {
    fileprivate var rest: ArraySlice<(name: UTF8Text, value: JSONValue)>

    /// The next member. Nil at the end.
    public mutating func next() -> Element? {
      rest.popFirst().map { (key: $0.name.string, value: $0.value) }
    }
  }

  /// Begins a pass over the members.
  public func makeIterator() -> Iterator { Iterator(rest: members[...]) }
  public var underestimatedCount: Int { count }
}

extension JSONObject: Hashable {
  public static func == (left: Self, right: Self) -> Bool {
    left.members.count == right.members.count
      && left.members.elementsEqual(right.members) { $0.name == $1.name && $0.value == $1.value }
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(members.count)
    for member in members {
      hasher.combine(member.name)
      hasher.combine(member.value)
    }
  }
}

extension JSONObject: Codable {
  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Name.self)
    for name in fields.allKeys { self[name.stringValue] = try fields.decode(JSONValue.self, forKey: name) }
  }

  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Name.self)
    for (name, value) in self { try fields.encode(value, forKey: Name(stringValue: name)) }
  }
}
