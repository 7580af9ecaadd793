/// The replies to commands that were sent together, or the elements of an array that Redis replied. Nested or
/// not, they lie in one piece of memory. With an array of its own for each nested array, seven elements for
/// an entry of a log, a reply took longer to make and to free than to use.
///
/// An element is given as a ``RedisReply`` that shares the memory. A caller that keeps one element keeps all
/// of them in memory.
package struct RedisReplies: Sendable {
  enum Item: Sendable {
    case status(Range<Int>)
    case error(Range<Int>)
    case integer(Int64)
    case bulk(Range<Int>)
    /// The elements of the array follow, each followed by its own elements; `end` is the place after the
    /// last.
    case array(count: Int, end: Int)
    case null
  }

  fileprivate let elements: [Item]
  fileprivate let bytes: [UInt8]
  fileprivate let places: Range<Int>
  package let count: Int

  /// - Parameter places: the places of the elements, nested ones included.
  init(_ elements: [Item], _ bytes: [UInt8], places: Range<Int>, count: Int) {
    self.elements = elements
    self.bytes = bytes
    self.places = places
    self.count = count
  }

  /// The same replies without the first, which must exist.
  func droppingFirst() -> RedisReplies {
    let start = place(after: places.lowerBound)
    return RedisReplies(elements, bytes, places: start..<places.upperBound, count: count - 1)
  }

  /// Reads the elements in their order without copying them.
  package var reader: Reader { Reader(self) }

  fileprivate func reply(at place: Int) -> RedisReply {
    switch elements[place] {
    case .status(let range): .status(String(decoding: bytes[range], as: UTF8.self))
    case .error(let range): .error(String(decoding: bytes[range], as: UTF8.self))
    case .integer(let value): .integer(value)
    case .bulk(let range): .bulk(bytes[range])
    case .array(let count, let end):
      .array(RedisReplies(elements, bytes, places: place + 1..<end, count: count))
    case .null: .null
    }
  }

  fileprivate func place(after place: Int) -> Int {
    if case .array(_, let end) = elements[place] { end } else { place + 1 }
  }
}

extension RedisReplies: Hashable {
  package static func == (left: RedisReplies, right: RedisReplies) -> Bool {
    left.count == right.count && left.elementsEqual(right)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    for reply in self { hasher.combine(reply) }
  }
}

/// If no element is an array, an element is found by its number at once. Otherwise it is found by counting from the first.
extension RedisReplies: Collection {
  package struct Iterator: IteratorProtocol {
    fileprivate let replies: RedisReplies
    fileprivate var place: Int

    package mutating func next() -> RedisReply? {
      guard place < replies.places.upperBound else { return nil }
      defer { place = replies.place(after: place) }
      return replies.reply(at: place)
    }
  }

  package var startIndex: Int { 0 }
  package var endIndex: Int { count }
  package func index(after index: Int) -> Int { index + 1 }

  package subscript(index: Int) -> RedisReply {
    precondition(index >= 0 && index < count)
    if places.count == count { return reply(at: places.lowerBound + index) }
    var place = places.lowerBound
    for _ in 0..<index { place = self.place(after: place) }
    return reply(at: place)
  }

  package func makeIterator() -> Iterator { Iterator(replies: self, place: places.lowerBound) }
}

// MARK: - In place

extension RedisReplies {
  /// Reads one element after the other. The elements of an array come right after its count. If the next element is of
  /// another kind than the one asked for, the reader throws as the accessors of ``RedisReply`` do, and passes the element.
  package struct Reader {
    private let replies: RedisReplies
    private var next: Int

    /// The bytes of the whole reply, into which ``place()`` points.
    package var allBytes: [UInt8] { replies.bytes }

    fileprivate init(_ replies: RedisReplies) {
      self.replies = replies
      next = replies.places.lowerBound
    }

    /// True if the next element is an array.
    package var isAtArray: Bool {
      if next < replies.places.upperBound, case .array = replies.elements[next] { true } else { false }
    }

    /// Begins an array and returns the number of its elements.
    package mutating func array() throws(RedisError) -> Int {
      guard case .array(let count, _)? = take() else { throw mismatch("an array") }
      return count
    }

    package mutating func array(count wanted: Int) throws(RedisError) {
      guard case .array(wanted, _)? = take() else { throw mismatch("an array of \(wanted)") }
    }

    /// The range of a bulk string in ``allBytes``.
    package mutating func place() throws(RedisError) -> Range<Int> {
      guard case .bulk(let range)? = take() else { throw mismatch("a bulk string") }
      return range
    }

    package mutating func bytes() throws(RedisError) -> ArraySlice<UInt8> { replies.bytes[try place()] }

    /// Reads a bulk string, or nil in place of null.
    package mutating func bytesIfPresent() throws(RedisError) -> ArraySlice<UInt8>? {
      switch take() {
      case .bulk(let range): return replies.bytes[range]
      case .null: return nil
      default: throw mismatch("a bulk string")
      }
    }

    /// Passes one element, nested ones included.
    package mutating func skip() {
      if case .array(_, let end)? = take() { next = end }
    }

    private mutating func take() -> Item? {
      guard next < replies.places.upperBound else { return nil }
      next += 1
      return replies.elements[next - 1]
    }

    /// The error for the element that was passed last.
    private func mismatch(_ wanted: String) -> RedisError {
      guard next > replies.places.lowerBound else { return RedisReply.null.mismatch(wanted) }
      return replies.reply(at: next - 1).mismatch(wanted)
    }
  }
}
