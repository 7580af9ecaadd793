/// A stream: entries in nodes, and facts about those that are gone.
struct StreamValue: ValueOfKind {
  private let limits: EncodingLimits
  private(set) var nodes: [StreamNode] = []
  private(set) var count = 0
  private(set) var last = StreamID.zero
  private(set) var first = StreamID.zero
  private(set) var lastDeleted = StreamID.zero
  private(set) var added: Int64 = 0
  private(set) var byteCount = 0

  private init(_ limits: EncodingLimits) { self.limits = limits }

  static func of(_ stored: StoredValue) -> StreamValue? {
    if case .stream(let value) = stored { value } else { nil }
  }
  static func make(_ limits: EncodingLimits) -> StreamValue { StreamValue(limits) }
  var stored: StoredValue { .stream(self) }
  var isToBeRemoved: Bool { false }

  /// Appends an entry. Its id must be later than all others.
  mutating func append(_ entry: StreamEntry) {
    let bytes = entry.fields.reduce(0) { $0 + $1.count }
    if let node = nodes.last, node.byteCount + bytes < limits.streamNodeBytes,
      node.entries.count < limits.streamNodeEntries
    {
      byteCount -= node.byteCount
      nodes[nodes.count - 1].append(entry)
      byteCount += nodes[nodes.count - 1].byteCount
    } else {
      let node = StreamNode(entry)
      byteCount += node.byteCount
      nodes.append(node)
    }
    count += 1
    added += 1
    last = entry.id
    if count == 1 { first = entry.id }
  }

  /// - Parameter most: nil for all.
  func entries(from start: StreamID, through end: StreamID, most: Int?, isReverse: Bool) -> [StreamEntry] {
    var found: [StreamEntry] = []
    guard start <= end else { return [] }
    let firstNode = nodes.partitioningIndex { $0.last >= start }
    let nodesInOrder = isReverse ? Array(nodes[firstNode...].reversed()) : Array(nodes[firstNode...])
    for node in nodesInOrder {
      if node.first > end {
        if isReverse { continue }
        break
      }
      for entry in isReverse ? node.entries.reversed() : node.entries
      where !entry.isDeleted && entry.id >= start && entry.id <= end {
        found.append(entry)
        if found.count == most { return found }
      }
    }
    return found
  }

  mutating func delete(_ id: StreamID) -> Bool {
    let place = nodes.partitioningIndex { $0.last >= id }
    guard place < nodes.count,
      let index = nodes[place].entries.firstIndex(where: { $0.id == id && !$0.isDeleted })
    else { return false }
    if nodes[place].liveCount == 1 {
      removeNodes(place..<(place + 1))
    } else {
      nodes[place].delete(at: index)
    }
    count -= 1
    if id > lastDeleted { lastDeleted = id }
    findFirst()
    return true
  }

  private mutating func removeNodes(_ range: Range<Int>) {
    for node in nodes[range] { byteCount -= node.byteCount }
    nodes.removeSubrange(range)
  }

  private mutating func findFirst() {
    // A node may have nothing but deleted entries.
    for node in nodes where node.liveCount > 0 {
      first = node.entries.first { !$0.isDeleted }?.id ?? .zero
      return
    }
    first = .zero
  }
}

extension StreamValue: Hashable {
  /// Everything that commands can tell. A replica may have removed nodes without entries that its master still has.
  private var facts: [StreamID] { [first, last, lastDeleted] }

  static func == (one: StreamValue, other: StreamValue) -> Bool {
    one.facts == other.facts && one.added == other.added && one.count == other.count
      && one.entries(from: .zero, through: .max, most: nil, isReverse: false)
        == other.entries(from: .zero, through: .max, most: nil, isReverse: false)
  }

  func hash(into hasher: inout Hasher) { hasher.combine(facts) }
}

/// The entries that a trim leaves.
enum TrimBound: Hashable, Sendable {
  case count(Int)
  case from(StreamID)
}

struct StreamTrim: Hashable, Sendable {
  var bound: TrimBound
  /// Removes whole nodes alone.
  var isApproximate: Bool
  /// The entries that may go at once; 0 for any number.
  var limit: Int
}

extension StreamValue {
  /// - Returns: how many entries went.
  mutating func trim(_ trim: StreamTrim) -> Int {
    var (removed, gone) = (0, 0)
    for node in nodes {
      if case .count(let bound) = trim.bound, count <= bound { break }
      if trim.limit > 0, gone + node.liveCount > trim.limit { break }
      guard removesWhole(node, trim.bound) else {
        if !trim.isApproximate { gone += trimInside(removed, trim.bound) }
        break
      }
      removed += 1
      gone += node.liveCount
      count -= node.liveCount
    }
    removeNodes(0..<removed)
    if gone > 0 { findFirst() }
    return gone
  }

  private func removesWhole(_ node: StreamNode, _ bound: TrimBound) -> Bool {
    switch bound {
    case .count(let bound): count - node.liveCount >= bound
    case .from(let id): node.last < id
    }
  }

  private mutating func trimInside(_ place: Int, _ bound: TrimBound) -> Int {
    var gone = 0
    for index in nodes[place].entries.indices {
      let entry = nodes[place].entries[index]
      switch bound {
      case .count(let bound): if count <= bound { return gone }
      case .from(let id): if entry.id >= id { return gone }
      }
      if entry.isDeleted { continue }
      nodes[place].delete(at: index)
      gone += 1
      count -= 1
    }
    return gone
  }
}
