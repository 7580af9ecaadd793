/// First in, first out, on a ring that grows when full and keeps its storage.
struct Queue<Element> {
  private var ring: [Element?]
  private var head = 0
  private(set) var count = 0

  init() {
    ring = Array(repeating: nil, count: 16)
  }

  var isEmpty: Bool { count == 0 }

  /// The oldest element.
  var first: Element? { ring[head] }

  mutating func append(_ element: Element) {
    if count == ring.count { grow() }
    // The ring's size is a power of two, so that a mask wraps the index.
    ring[(head + count) & (ring.count - 1)] = element
    count += 1
  }

  @discardableResult
  mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    let element = ring[head].take()
    head = (head + 1) & (ring.count - 1)
    count -= 1
    return element
  }

  /// Takes everything, oldest first, and frees the storage.
  mutating func takeAll() -> [Element] {
    let elements = Array(self)
    self = Queue()
    return elements
  }

  private mutating func grow() {
    ring = ring[head...] + ring[..<head] + Array(repeating: nil, count: ring.count)
    head = 0
  }
}

extension Queue: Sequence {
  func makeIterator() -> AnyIterator<Element> {
    var index = 0
    return AnyIterator {
      guard index < count else { return nil }
      defer { index += 1 }
      return ring[(head + index) & (ring.count - 1)]
    }
  }
}
