/// A hash. A small one is a list, in the order in which its fields came. A large one is a table, and never becomes a list
/// again.
struct HashValue: ValueOfKind {
  private let limits: EncodingLimits
  private var texts: [Bytes: Bytes] = [:]
  /// The fields of a list, in order.
  private var list: [Bytes] = []
  private(set) var isTable = false
  private(set) var byteCount = 0
  /// The order of a table; nil if fields came or went since it was made.
  private var order: ScanOrder?

  private init(_ limits: EncodingLimits) { self.limits = limits }

  static func of(_ stored: StoredValue) -> HashValue? {
    if case .hash(let value) = stored { value } else { nil }
  }
  static func make(_ limits: EncodingLimits) -> HashValue { HashValue(limits) }
  var stored: StoredValue { .hash(self) }
  var isToBeRemoved: Bool { texts.isEmpty }

  var count: Int { texts.count }
  subscript(field: Bytes) -> Bytes? { texts[field] }

  /// The fields in the order of the list, or of the scans of a table.
  var fields: [Bytes] { isTable ? scanOrder.elements.map(\.text) : list }

  var scanOrder: ScanOrder { order ?? ScanOrder(texts.keys) }

  /// Makes the order once for several scans.
  mutating func keepOrder() { if isTable, order == nil { order = ScanOrder(texts.keys) } }

  /// A command with a long text makes a list a table, even if it does not set that text.
  mutating func prepare(for arguments: some Sequence<Bytes>) {
    if !isTable, arguments.contains(where: { $0.count > limits.hashTextBytes }) { becomeTable() }
  }

  /// - Returns: true if the field is new.
  @discardableResult
  mutating func set(_ field: Bytes, _ text: Bytes) -> Bool {
    prepare(for: CollectionOfOne(field))
    prepare(for: CollectionOfOne(text))
    if let old = texts.updateValue(text, forKey: field) {
      byteCount += text.count - old.count
      return false
    }
    byteCount += field.count + text.count + 2
    order = nil
    if !isTable {
      list.append(field)
      if list.count > limits.hashEntries { becomeTable() }
    }
    return true
  }

  mutating func remove(_ field: Bytes) -> Bool {
    guard let old = texts.removeValue(forKey: field) else { return false }
    byteCount -= field.count + old.count + 2
    order = nil
    if !isTable { list.removeAll { $0 == field } }
    return true
  }

  private mutating func becomeTable() {
    isTable = true
    list = []
  }
}

extension HashValue: Hashable {
  static func == (one: HashValue, other: HashValue) -> Bool {
    one.texts == other.texts && one.isTable == other.isTable && one.list == other.list
  }

  func hash(into hasher: inout Hasher) { hasher.combine(texts) }
}
