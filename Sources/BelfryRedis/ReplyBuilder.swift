/// Puts a reply together from its elements as the parser meets them: depth first, each array announced by
/// its size before its elements.
struct ReplyBuilder: ~Copyable {
  enum Text {
    case status, error, bulk
  }

  private struct OpenArray {
    let place: Int
    let count: Int
    var missing: Int
  }

  /// The array that elements go to now; at first what stands for the reply itself, an array of one.
  private var open = OpenArray(place: -1, count: 1, missing: 1)
  private var outer: [OpenArray] = []
  private var elements = ScratchBuffer<RedisReplies.Item>()
  private var bytes = ScratchBuffer<UInt8>()
  private var finished: RedisReply?

  /// Memory held by the reply so far.
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

  /// The announced size is not trusted: a few bytes may announce two billion elements.
  mutating func beginArray(count: Int) {
    let place = elements.count
    let array = RedisReplies.Item.array(count: count, end: place + 1)
    guard count > 0 else { return add(array) }
    elements.append(array)
    outer.append(open)
    open = OpenArray(place: place, count: count, missing: count)
  }

  mutating func takeFinished() -> RedisReply? { finished.take() }

  /// The last element of the open array has come, and so perhaps has the last of those around it.
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
    // What stands alone needs no table of places: half of the replies to a feed's reader.
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
