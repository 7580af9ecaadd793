/// What waits for its turn, in a line for each key: the elements of a line come in the order in which they were
/// appended, and the lines take turns. So whoever has thirty elements waiting waits behind itself, and somebody with
/// one waits for at most one of each other key.
///
/// Public and inlinable for the same reason as ``Queue``.
public struct FairLines<Key: Hashable, Element> {
  @usableFromInline var lines: [Key: Queue<Element>] = [:]
  @usableFromInline var turns = Queue<Key>()
  /// Keys with elements waiting but without a turn, until ``resume(_:)`` gives it back to them.
  @usableFromInline var resting: Set<Key> = []

  @inlinable public init() {}

  @inlinable public mutating func append(_ element: Element, to key: Key) {
    if lines[key] == nil { turns.append(key) }
    lines[key, default: Queue()].append(element)
  }

  /// The first element of the next line whose key may go on. A key that is full loses its turn, so that it is not
  /// looked at again and again.
  @inlinable public mutating func popFirst(unless isFull: (Key) -> Bool) -> (key: Key, element: Element)? {
    while let key = turns.popFirst() {
      if isFull(key) {
        resting.insert(key)
        continue
      }
      guard let element = lines[key]?.popFirst() else { continue }
      if lines[key]?.isEmpty == true { lines[key] = nil } else { turns.append(key) }
      return (key, element)
    }
    return nil
  }

  /// To be called when the key is full no more.
  @inlinable public mutating func resume(_ key: Key) {
    if resting.remove(key) != nil { turns.append(key) }
  }
}
