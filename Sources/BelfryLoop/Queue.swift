/// First in, first out, in a ring buffer that grows when full and never shrinks, so that a queue allocates nothing
/// once it has reached its size.
///
/// Public and inlinable, because Swift 6.3 does not specialize a generic type of package access in other modules: each
/// call would look up the element's type at run time.
public struct Queue<Element> {
  /// Its size is a power of two, so that a mask wraps an index. Empty until something is appended: most queues stay
  /// empty.
  @usableFromInline var ring: [Element?] = []
  @usableFromInline var head = 0
  @usableFromInline var length = 0

  @inlinable public init() {}

  @inlinable public var count: Int { length }
  @inlinable public var isEmpty: Bool { length == 0 }

  /// The oldest element.
  @inlinable public var first: Element? { length > 0 ? ring[head] : nil }

  /// Counted from the oldest element, at 0; nil beyond the last.
  @inlinable public subscript(place: Int) -> Element? {
    place < length ? ring[(head &+ place) & (ring.count &- 1)] : nil
  }

  @inlinable public mutating func append(_ element: Element) {
    if length == ring.count { grow() }
    ring[(head &+ length) & (ring.count &- 1)] = element
    length &+= 1
  }

  @inlinable @discardableResult
  public mutating func popFirst() -> Element? {
    guard length > 0 else { return nil }
    let element = ring[head].take()
    head = (head &+ 1) & (ring.count &- 1)
    length &-= 1
    return element
  }

  /// Takes everything, oldest first, and frees the storage.
  public mutating func takeAll() -> [Element] {
    let elements = Array(self)
    self = Queue()
    return elements
  }

  @inlinable mutating func grow() {
    let more = ring.isEmpty ? 8 : ring.count
    ring = ring[head...] + ring[..<head] + Array(repeating: nil, count: more)
    head = 0
  }
}

extension Queue: Sequence {
  public func makeIterator() -> AnyIterator<Element> {
    var place = 0
    return AnyIterator {
      defer { place += 1 }
      return self[place]
    }
  }
}
