/// The elements of an array that Redis replied, however nested, in one piece of memory: a log's entries are
/// seven elements each, and an array of arrays of byte arrays took longer to make and to take down again than
/// everything that was done with it.
///
/// An element is given as a ``RedisReply`` that shares the bytes: who keeps one keeps all of them.
package struct RedisReplies: Sendable {
  enum Item: Sendable {
    case status(Range<Int>)
    case error(Range<Int>)
    case integer(Int64)
    case bulk(Range<Int>)
    /// Its own elements follow, theirs behind each of them; `end` is the place behind the last.
    case array(count: Int, end: Int)
    case null
  }

  fileprivate let elements: [Item]
  fileprivate let bytes: [UInt8]
  fileprivate let places: Range<Int>
  package let count: Int

  /// - Parameter places: where the elements stand, with all that is nested in them.
  init(_ elements: [Item], _ bytes: [UInt8], places: Range<Int>, count: Int) {
    self.elements = elements
    self.bytes = bytes
    self.places = places
    self.count = count
  }

  /// To read through the elements in their order, each where it lies.
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

/// An element's number finds it at once when none is an array; behind arrays it is counted off from the front.
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
  /// Reads one element after the other. Those of an array come right behind its count.
  ///
  /// What is of another kind throws as the accessors of ``RedisReply`` do, and is passed all the same.
  package struct Reader {
    private let replies: RedisReplies
    private var next: Int

    /// Of the whole reply, among them what ``place()`` gives.
    package var allBytes: [UInt8] { replies.bytes }

    fileprivate init(_ replies: RedisReplies) {
      self.replies = replies
      next = replies.places.lowerBound
    }

    /// Whether it goes on with an array.
    package var isAtArray: Bool {
      if next < replies.places.upperBound, case .array = replies.elements[next] { true } else { false }
    }

    /// The count of an array's elements.
    package mutating func array() throws(RedisError) -> Int {
      guard case .array(let count, _)? = take() else { throw mismatch("an array") }
      return count
    }

    package mutating func array(count wanted: Int) throws(RedisError) {
      guard case .array(wanted, _)? = take() else { throw mismatch("an array of \(wanted)") }
    }

    /// Where in ``allBytes`` a bulk string lies.
    package mutating func place() throws(RedisError) -> Range<Int> {
      guard case .bulk(let range)? = take() else { throw mismatch("a bulk string") }
      return range
    }

    package mutating func bytes() throws(RedisError) -> ArraySlice<UInt8> { replies.bytes[try place()] }

    /// Nil in place of null.
    package mutating func bytesIfPresent() throws(RedisError) -> ArraySlice<UInt8>? {
      switch take() {
      case .bulk(let range): return replies.bytes[range]
      case .null: return nil
      default: throw mismatch("a bulk string")
      }
    }

    /// Passes one element with all that is in it.
    package mutating func skip() {
      if case .array(_, let end)? = take() { next = end }
    }

    private mutating func take() -> Item? {
      guard next < replies.places.upperBound else { return nil }
      next += 1
      return replies.elements[next - 1]
    }

    /// Of the element passed last.
    private func mismatch(_ wanted: String) -> RedisError {
      guard next > replies.places.lowerBound else { return RedisReply.null.mismatch(wanted) }
      return replies.reply(at: next - 1).mismatch(wanted)
    }
  }
}
