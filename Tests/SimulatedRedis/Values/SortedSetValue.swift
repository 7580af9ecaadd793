/// A sorted set: members by their scores, and those of one score by their bytes.
struct SortedSetValue: ValueOfKind, Hashable {
  struct Element: Hashable, Sendable {
    let score: Double
    let member: Bytes

    func precedes(_ other: Element) -> Bool {
      score == other.score ? member.precedes(other.member) : score < other.score
    }
  }

  private var scores: [Bytes: Double] = [:]
  private(set) var elements: [Element] = []
  private(set) var byteCount = 0

  static func of(_ stored: StoredValue) -> SortedSetValue? {
    if case .sortedSet(let value) = stored { value } else { nil }
  }
  static func make(_ limits: EncodingLimits) -> SortedSetValue { SortedSetValue() }
  var stored: StoredValue { .sortedSet(self) }
  var isToBeRemoved: Bool { elements.isEmpty }

  var count: Int { elements.count }
  func score(of member: Bytes) -> Double? { scores[member] }

  mutating func set(_ member: Bytes, _ score: Double) {
    _ = remove(member)
    scores[member] = score
    let element = Element(score: score, member: member)
    elements.insert(element, at: elements.partitioningIndex { element.precedes($0) })
    byteCount += member.count + 10
  }

  mutating func remove(_ member: Bytes) -> Bool {
    guard let score = scores.removeValue(forKey: member) else { return false }
    let element = Element(score: score, member: member)
    elements.remove(at: elements.partitioningIndex { !$0.precedes(element) })
    byteCount -= member.count + 10
    return true
  }
}
