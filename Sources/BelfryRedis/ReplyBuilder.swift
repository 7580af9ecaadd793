/// Builds replies from their elements as the parser finds them: depth first, and the size of an array before its elements.
/// Replies lie one behind the other until they are taken, so the replies to commands that were sent together share their
/// memory.
struct ReplyBuilder: ~Copyable {
  enum Text {
    case status, error, bulk
  }

  private struct OpenArray {
    let place: Int
    let count: Int
    var missing: Int
  }

  /// The array to which elements are added now. Outside of arrays that is an array of one, for the reply itself.
  private var open = OpenArray(place: -1, count: 1, missing: 1)
  private var outer: [OpenArray] = []
  private var elements = ScratchBuffer<RedisReplies.Item>()
  private var bytes = ScratchBuffer<UInt8>()
  /// How many replies are complete.
  private var count = 0
  /// The memory of the complete replies.
  private var completeBytes = 0

  /// The memory of the reply that is being built.
  var byteCount: Int { memory - completeBytes }
  private var memory: Int { bytes.count + elements.count * MemoryLayout<RedisReplies.Item>.stride }

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

  /// The announced size reserves no memory, because a few bytes may announce two billion elements.
  mutating func beginArray(count: Int) {
    let place = elements.count
    let array = RedisReplies.Item.array(count: count, end: place + 1)
    guard count > 0 else { return add(array) }
    elements.append(array)
    outer.append(open)
    open = OpenArray(place: place, count: count, missing: count)
  }

  /// Takes all complete replies. Called only between two replies.
  mutating func takeReplies() -> RedisReplies {
    let all = elements.array()
    let replies = RedisReplies(all, bytes.array(), places: all.indices, count: count)
    clear()
    return replies
  }

  /// Takes the only complete reply. Called only between two replies.
  mutating func takeReply() -> RedisReply {
    defer { clear() }
    switch elements.first {
    // A reply that is no array needs no table of elements.
    case .integer(let value): return .integer(value)
    case .null: return .null
    case .bulk: return .bulk(bytes.array()[...])
    default:
      let all = elements.array()
      return RedisReplies(all, bytes.array(), places: all.indices, count: 1)[0]
    }
  }

  private mutating func clear() {
    elements.clear()
    bytes.clear()
    count = 0
    completeBytes = 0
  }

  /// Closes the open array after its last element, and each array around it that has its last element with it.
  private mutating func endArrays() {
    while open.missing == 0, let around = outer.popLast() {
      elements.replace(at: open.place, with: .array(count: open.count, end: elements.count))
      open = around
      open.missing -= 1
    }
    guard open.missing == 0 else { return }
    open.missing = 1
    count += 1
    completeBytes = memory
  }
}
