/// Places that owners share, and the elements that wait for one. A value without clock or I/O: it says which element is
/// next, and the caller begins it.
///
/// Places and the room for waiting are both shared by the rule of ``FairShares``, and those that wait take turns by
/// owner. So an owner that is slow, or asks for much, waits for itself, and the others find a place. Nothing is reserved for trusted
/// owners here: their elements have a line of their own, which has its turn as any other.
///
/// Public and inlinable for the same reason as ``Queue``.
public struct FairPool<Owner: Hashable, Element> {
  @usableFromInline var places: FairShares<Owner>
  @usableFromInline var waiting: FairShares<Owner>
  @usableFromInline var lines = FairLines<Owner?, Element>()

  @inlinable public init(places: FairShares<Owner>, waiting: FairShares<Owner>) {
    self.places = places
    self.waiting = waiting
  }

  @inlinable public var waitingCount: Int { waiting.takenByAll }
  @inlinable public var takenCount: Int { places.takenByAll }
  @inlinable public var isUnused: Bool { waitingCount == 0 && takenCount == 0 }

  /// - Parameter owner: nil for trusted ones, which are limited by all places alone.
  /// - Returns: false when too many wait, of this owner or of all.
  @inlinable public mutating func append(_ element: Element, for owner: Owner?) -> Bool {
    guard waiting.take(for: owner) == nil else { return false }
    lines.append(element, to: owner)
    return true
  }

  /// The element whose turn it is. Its owner has a place then, until ``leave(_:)``.
  /// - Parameter isWithdrawn: true of an element that was withdrawn while it waited, which is passed over.
  @inlinable public mutating func popNext(
    passingOver isWithdrawn: (Element) -> Bool = { _ in false }
  ) -> (owner: Owner?, element: Element)? {
    while !places.isExhausted {
      let next = lines.popFirst { places.shortage(for: $0) != nil }
      guard let next else { return nil }
      if isWithdrawn(next.element) { continue }
      waiting.giveBack(of: next.key)
      _ = places.take(for: next.key)
      return (next.key, next.element)
    }
    return nil
  }

  /// To be called once for each element that was popped, when it has ended.
  @inlinable public mutating func leave(_ owner: Owner?) {
    places.giveBack(of: owner)
    // Each share has grown by what is free now. An owner that rests has a place, so no more rest than there are places.
    lines.resumeAll()
  }

  /// To be called once for each element that ends while it waits. It stays in its line, and is passed over.
  @inlinable public mutating func withdraw(of owner: Owner?) { waiting.giveBack(of: owner) }

  /// All that wait, for their end. The caller withdraws each.
  @inlinable public mutating func removeWaiting() -> [Element] {
    lines.resumeAll()
    var removed: [Element] = []
    while let next = lines.popFirst(unless: { _ in false }) { removed.append(next.element) }
    return removed
  }
}
