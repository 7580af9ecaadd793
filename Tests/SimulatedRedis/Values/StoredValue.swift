/// A key's value, of one of five kinds.
enum StoredValue: Hashable, Sendable {
  case string(StringValue)
  case hash(HashValue)
  case set(SetValue)
  case sortedSet(SortedSetValue)
  case stream(StreamValue)

  /// Redis's name of the kind.
  var kind: String {
    switch self {
    case .string: "string"
    case .hash: "hash"
    case .set: "set"
    case .sortedSet: "zset"
    case .stream: "stream"
    }
  }

  /// A rough count of the memory, for a limit.
  var byteCount: Int {
    switch self {
    case .string(let value): value.text.count
    case .hash(let value): value.byteCount
    case .set(let value): value.byteCount
    case .sortedSet(let value): value.byteCount
    case .stream(let value): value.byteCount
    }
  }
}

/// One of the kinds.
protocol ValueOfKind: Sendable {
  /// The value, if it is of this kind.
  static func of(_ stored: StoredValue) -> Self?
  var stored: StoredValue { get }
  /// A key whose value is empty does not exist. A stream stays.
  var isToBeRemoved: Bool { get }
  /// An empty value for a new key.
  static func make(_ limits: EncodingLimits) -> Self
}

struct StringValue: ValueOfKind, Hashable {
  var text: Bytes = []

  static func of(_ stored: StoredValue) -> StringValue? {
    if case .string(let value) = stored { value } else { nil }
  }
  static func make(_ limits: EncodingLimits) -> StringValue { StringValue() }
  var stored: StoredValue { .string(self) }
  var isToBeRemoved: Bool { false }
}

/// Redis keeps small values as lists. This decides about the order of their elements, and about how they are scanned.
package struct EncodingLimits: Hashable, Sendable {
  package var hashEntries = 512
  package var hashTextBytes = 64
  package var integerSetEntries = 512
  package var streamNodeBytes = 4_096
  package var streamNodeEntries = 100

  package init() {}
}

/// Elements of a table in the order in which they are scanned. The order stays the same when others come and go, so a scan
/// finds each element that is there all the time.
struct ScanOrder: Hashable, Sendable {
  struct Element: Hashable, Sendable {
    let place: UInt64
    let text: Bytes
  }

  let elements: [Element]

  init(_ texts: some Sequence<Bytes>) {
    elements = texts.map { Element(place: $0.scanPlace, text: $0) }.sorted {
      $0.place == $1.place ? $0.text.precedes($1.text) : $0.place < $1.place
    }
  }

  /// - Returns: the elements from the cursor on, and the cursor to go on from, 0 at the end.
  func page(from cursor: UInt64, count: Int) -> (texts: [Bytes], next: UInt64) {
    var index = elements.partitioningIndex { $0.place >= cursor }
    var texts: [Bytes] = []
    while index < elements.count {
      // Elements of one place stay together, or the cursor would pass over some of them.
      if texts.count >= count, elements[index].place != elements[index - 1].place { break }
      texts.append(elements[index].text)
      index += 1
    }
    return (texts, index < elements.count ? elements[index].place : 0)
  }
}

extension RandomAccessCollection where Index == Int {
  /// The first index whose element, and all elements behind it, are beyond the border.
  func partitioningIndex(where isBeyond: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if isBeyond(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
