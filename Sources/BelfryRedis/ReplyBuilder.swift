/// Builds a reply from its elements as the parser finds them: depth first, an array's size before its elements.
struct ReplyBuilder: ~Copyable {
  enum Text {
    case status, error, bulk
  }

  private struct OpenArray {
    let place: Int
    let count: Int
    var missing: Int
  }

  /// The array to which elements are added now; at first an array of one, for the reply itself.
  private var open = OpenArray(place: -1, count: 1, missing: 1)
  private var outer: [OpenArray] = []
  private var elements = ScratchBuffer<RedisReplies.Item>()
  private var bytes = ScratchBuffer<UInt8>()
  private var finished: RedisReply?

  /// The memory of the reply so far.
  var byteCount: Int { bytes.count + elements.count * MemoryLayout<RedisReplies.Item>.stride }

  /// SAFETY: the bytes are read before this returns.
  mutating func add(_ kind: Text, _ text: UnsafeBufferPointer<UInt8>) {
    let start = bytes.count
    unsafe bytes.append(copying: text)
    let range = start..<bytes.count
    switch kind {
    case .status: add(.status(range))
    case .error: add(.error(range))
    case .bulk: add(.bulk(range))
    }
  }

  mutating func add(_ element: RedisReplies.Item) {
    elements.append(element)
    open.missing -= 1
    if open.missing == 0 { endArrays() }
  }

  /// No room is reserved by the announced size: a few bytes may announce two billion elements.
  mutating func beginArray(count: Int) {
    let place = elements.count
    let array = RedisReplies.Item.array(count: count, end: place + 1)
    guard count > 0 else { return add(array) }
    elements.append(array)
    outer.append(open)
    open = OpenArray(place: place, count: count, missing: count)
  }

  mutating func takeFinished() -> RedisReply? { finished.take() }

  /// Closes the open array after its last element, and the arrays around it of which it was the last element.
  private mutating func endArrays() {
    while open.missing == 0, let around = outer.popLast() {
      elements.replace(at: open.place, with: .array(count: open.count, end: elements.count))
      open = around
      open.missing -= 1
    }
    if open.missing == 0 { finish() }
  }

  private mutating func finish() {
    switch elements.first {
    // A reply that is no array needs no table of elements.
    case .integer(let value): finished = .integer(value)
    case .null: finished = .null
    case .bulk: finished = .bulk(bytes.array()[...])
    default:
      let all = elements.array()
      finished = RedisReplies(all, bytes.array(), places: all.indices, count: 1)[0]
    }
    elements.clear()
    bytes.clear()
    open.missing = 1
  }
}
