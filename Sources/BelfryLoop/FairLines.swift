/// Elements that wait for their turn, in a line for each key. The elements of a line come in the order in
/// which they were appended, and the lines take turns. So a key with thirty elements waits for its own, and a
/// key with one element waits for at most one of each other key.
///
/// Public and inlinable for the same reason as ``Queue``.
public struct FairLines<Key: Hashable, Element> {
  @usableFromInline var lines: [Key: Queue<Element>] = [:]
  @usableFromInline var turns = Queue<Key>()
  /// Keys with elements waiting but without a turn, until ``resume(_:)`` or ``resumeAll()`` gives it back to them.
  @usableFromInline var resting: [Key] = []

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
        resting.append(key)
        continue
      }
      guard let element = lines[key]?.popFirst() else { continue }
      if lines[key]?.isEmpty == true { lines[key] = nil } else { turns.append(key) }
      return (key, element)
    }
    return nil
  }

  /// To be called when any of the keys may be full no more.
  @inlinable public mutating func resumeAll() {
    for key in resting { turns.append(key) }
    resting.removeAll(keepingCapacity: true)
  }

  /// To be called when the key is full no more.
  @inlinable public mutating func resume(_ key: Key) {
    guard let place = resting.firstIndex(of: key) else { return }
    turns.append(resting.remove(at: place))
  }
}
