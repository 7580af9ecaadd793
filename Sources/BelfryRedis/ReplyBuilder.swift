/// Puts a reply together from its elements as the parser meets them: depth first, each array announced by
/// its size before its elements.
struct ReplyBuilder {
  enum Text {
    case status, error, bulk
  }

  private struct OpenArray {
    let place: Int
    let count: Int
    var missing: Int
  }

  /// Room made up front, at most: for as much as the reply before had, since they come in runs of a kind. An
  /// announced size is not trusted at all: a few bytes may announce two billion elements.
  private static let reservedElementsMax = 4_096
  private static let reservedBytesMax = 64 << 10

  private var openArrays: [OpenArray] = []
  private var elements: [RedisReplies.Item] = []
  private var bytes: [UInt8] = []
  private var usualElements = 0
  private var usualBytes = 0
  private var finished: RedisReply?

  /// Memory held by the reply so far.
  var byteCount: Int { bytes.count + elements.count * MemoryLayout<RedisReplies.Item>.stride }

  /// SAFETY: the bytes are read before this returns.
  mutating func add(_ kind: Text, _ text: UnsafeBufferPointer<UInt8>) {
    let start = bytes.count
    if start == 0 { bytes.reserveCapacity(max(usualBytes, text.count)) }
    unsafe bytes.append(contentsOf: text)
    let range = start..<bytes.count
    switch kind {
    case .status: add(.status(range))
    case .error: add(.error(range))
    case .bulk: add(.bulk(range))
    }
  }

  mutating func add(_ element: RedisReplies.Item) {
    elements.append(element)
    endArrays()
  }

  mutating func beginArray(count: Int) {
    if elements.isEmpty { elements.reserveCapacity(usualElements) }
    let place = elements.count
    elements.append(.array(count: count, end: place + 1))
    if count > 0 {
      openArrays.append(OpenArray(place: place, count: count, missing: count))
    } else {
      endArrays()
    }
  }

  mutating func takeFinished() -> RedisReply? { finished.take() }

  /// An element is complete, and so perhaps are the arrays whose last it is.
  private mutating func endArrays() {
    while let last = openArrays.indices.last {
      openArrays[last].missing -= 1
      if openArrays[last].missing > 0 { return }
      elements[openArrays[last].place] = .array(count: openArrays[last].count, end: elements.count)
      openArrays.removeLast()
    }
    finish()
  }

  private mutating func finish() {
    let all = RedisReplies(elements, bytes, places: elements.indices, count: 1)
    let reply = all[0]
    if case .array = reply {
      usualElements = min(elements.count, Self.reservedElementsMax)
      usualBytes = min(bytes.count, Self.reservedBytesMax)
    }
    finished = reply
    elements = []
    bytes = []
  }
}
