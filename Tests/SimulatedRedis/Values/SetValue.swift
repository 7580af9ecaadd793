/// A set. One of few integers is a sorted list. Another one is a table, and never becomes a list again.
struct SetValue: ValueOfKind {
  private let limits: EncodingLimits
  private var texts: Set<Bytes> = []
  /// The integers of a list, in order.
  private var integers: [Int64] = []
  private(set) var isTable = false
  private(set) var byteCount = 0
  private var order: ScanOrder?

  private init(_ limits: EncodingLimits) { self.limits = limits }

  static func of(_ stored: StoredValue) -> SetValue? {
    if case .set(let value) = stored { value } else { nil }
  }
  static func make(_ limits: EncodingLimits) -> SetValue { SetValue(limits) }
  var stored: StoredValue { .set(self) }
  var isToBeRemoved: Bool { texts.isEmpty }

  var count: Int { texts.count }
  func contains(_ member: Bytes) -> Bool { texts.contains(member) }

  var members: [Bytes] {
    isTable ? scanOrder.elements.map(\.text) : integers.map { Bytes(String($0).utf8) }
  }

  var scanOrder: ScanOrder { order ?? ScanOrder(texts) }

  mutating func keepOrder() { if isTable, order == nil { order = ScanOrder(texts) } }

  mutating func insert(_ member: Bytes) -> Bool {
    guard texts.insert(member).inserted else { return false }
    byteCount += member.count + 2
    order = nil
    guard !isTable else { return true }
    guard let integer = member.integer else {
      becomeTable()
      return true
    }
    integers.insert(integer, at: integers.partitioningIndex { $0 > integer })
    if integers.count > limits.integerSetEntries { becomeTable() }
    return true
  }

  mutating func remove(_ member: Bytes) -> Bool {
    guard texts.remove(member) != nil else { return false }
    byteCount -= member.count + 2
    order = nil
    if !isTable, let integer = member.integer {
      integers.remove(at: integers.partitioningIndex { $0 >= integer })
    }
    return true
  }

  private mutating func becomeTable() {
    isTable = true
    integers = []
  }
}

extension SetValue: Hashable {
  static func == (one: SetValue, other: SetValue) -> Bool {
    one.texts == other.texts && one.isTable == other.isTable
  }

  func hash(into hasher: inout Hasher) { hasher.combine(texts) }
}
