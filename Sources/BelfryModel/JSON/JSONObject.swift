internal import BelfryBytes

/// The members of a JSON object: names, each once, and values, in the order of the names' bytes.
///
/// A dictionary by `String` would not do. It takes two names for one that differ in their bytes, and callers could
/// have it hash a name for seconds (``UTF8Text``).
public struct JSONObject: Sendable, ExpressibleByDictionaryLiteral {
  private typealias Member = (name: UTF8Text, value: JSONValue)

  private var members: [Member] = []

  public init() {}

  /// Of two members of one name the later one is taken.
  public init(dictionaryLiteral members: (String, JSONValue)...) { self.init(members) }

  /// Of two members of one name the later one is taken.
  public init(_ members: some Sequence<(String, JSONValue)>) {
    for (name, value) in members { self[name] = value }
  }

  /// - Parameter members: none of a name twice.
  init(distinct members: [(name: UTF8Text, value: JSONValue)]) {
    self.members = members
    if members.count > 1 { self.members.sort { $0.name < $1.name } }
  }

  private init(sorted members: [Member]) { self.members = members }

  public var count: Int { members.count }
  public var isEmpty: Bool { members.isEmpty }
  public var keys: [String] { members.map(\.name.string) }
  public var values: [JSONValue] { members.map(\.value) }

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

  /// Where the name stands, or would stand.
  private func place(of name: UTF8Text) -> (index: Int, isTaken: Bool) {
    // Made in order, as most are.
    guard let last = members.last, !(last.name < name) else { return (members.count, false) }
    var (low, high) = (0, members.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if members[middle].name < name { low = middle + 1 } else { high = middle }
    }
    return (low, members[low].name == name)
  }

  public func mapValues(_ transform: (JSONValue) throws -> JSONValue) rethrows -> JSONObject {
    JSONObject(sorted: try members.map { ($0.name, try transform($0.value)) })
  }

  public func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> JSONObject {
    JSONObject(sorted: try members.filter { try isIncluded(($0.name.string, $0.value)) })
  }

  /// With the others' members, of which those take the place of its own.
  public func merging(_ others: JSONObject) -> JSONObject {
    var merged = self
    for (name, value) in others { merged[name] = value }
    return merged
  }
}

extension JSONObject: Sequence {
  public typealias Element = (key: String, value: JSONValue)

  public struct Iterator: IteratorProtocol {
    fileprivate var rest: ArraySlice<(name: UTF8Text, value: JSONValue)>

    public mutating func next() -> Element? {
      rest.popFirst().map { (key: $0.name.string, value: $0.value) }
    }
  }

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
