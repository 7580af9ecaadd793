/// Puts a reply together from its elements as the parser meets them: depth first, each array announced by
/// its size before its elements.
final class ReplyBuilder {
  private struct OpenArray {
    var elements: [RedisReply]
    var missing: Int
  }

  /// What an element costs beyond its bytes, roughly: an enum with its payload, and an allocation.
  private static let elementOverheadBytes = 48
  /// Room made for an array's elements up front. An announced size is not trusted further than this:
  /// a few bytes may announce two billion elements.
  private static let reservedElementsMax = 1_024

  private var openArrays: [OpenArray] = []
  private var finished: RedisReply?
  /// Memory held by the reply so far.
  private(set) var byteCount = 0

  func add(_ element: RedisReply, byteCount count: Int = 0) {
    byteCount += count + ReplyBuilder.elementOverheadBytes
    var element = element
    while let last = openArrays.indices.last {
      openArrays[last].elements.append(element)
      openArrays[last].missing -= 1
      if openArrays[last].missing > 0 { return }
      element = .array(openArrays.removeLast().elements)
    }
    finished = element
  }

  func beginArray(count: Int) {
    guard count > 0 else { return add(.array([])) }
    var elements: [RedisReply] = []
    elements.reserveCapacity(min(count, ReplyBuilder.reservedElementsMax))
    openArrays.append(OpenArray(elements: elements, missing: count))
    byteCount += ReplyBuilder.elementOverheadBytes
  }

  func takeFinished() -> RedisReply? {
    byteCount = 0
    return finished.take()
  }
}
