import BelfryModel
import BelfryStore

/// Something that happened in a space, rendered once for all who will be shown it.
final class RingItem {
  enum Kind {
    case entry(CursorStep)
    case passing
    case amended
    /// For the other devices of the account whose own space it is.
    case read(ReadEcho)
    /// Likewise.
    case device(DeviceEcho)
  }

  /// Counts everything that arrives on this loop, over all spaces. A consumer's place in all rings is
  /// one such number.
  let arrival: UInt64
  let kind: Kind
  let id: MessageID
  let audience: Audience
  /// The event's bytes; of an entry all but the id, which is each consumer's own.
  let bytes: [UInt8]

  init(arrival: UInt64, kind: Kind, id: MessageID, audience: Audience, bytes: [UInt8]) {
    self.arrival = arrival
    self.kind = kind
    self.id = id
    self.audience = audience
    self.bytes = bytes
  }
}

/// The latest of a space, bounded. Who falls behind it reads from the store.
struct Ring {
  /// Enough for a burst to be served from memory, small enough that ten thousand active spaces do not
  /// fill it.
  static let itemsLimit = 512
  static let bytesLimit = 512 * 1_024

  private var items: [RingItem] = []
  private var head = 0
  private var bytesHeld = 0
  /// Everything up to this arrival is gone, or cannot be relied on.
  private(set) var droppedThrough: UInt64 = 0
  /// The last entry of the log that came through here; nil until one did.
  private(set) var lastEntryID: MessageID?

  var lastArrival: UInt64 { items.last?.arrival ?? droppedThrough }

  mutating func append(_ item: RingItem) {
    items.append(item)
    bytesHeld += item.bytes.count
    if case .entry = item.kind { lastEntryID = item.id }
    while items.count - head > Self.itemsLimit || bytesHeld > Self.bytesLimit { dropFirst() }
  }

  /// What came after an arrival, in order; nil if some of it is gone, or may be.
  func items(after arrival: UInt64) -> ArraySlice<RingItem>? {
    if droppedThrough > arrival { return nil }
    guard let last = items.last, last.arrival > arrival else { return [] }
    // Most consumers lag by the one item that has just arrived.
    if items.count - head == 1 || items[items.count - 2].arrival <= arrival {
      return items[(items.count - 1)...]
    }
    var low = head
    var high = items.count - 1
    while low < high {
      let middle = (low + high) / 2
      if items[middle].arrival > arrival { high = middle } else { low = middle + 1 }
    }
    return items[low...]
  }

  /// Forgets what arrived up to here; whoever has not taken it yet reads it from the store.
  mutating func drop(through arrival: UInt64) {
    while head < items.count, items[head].arrival <= arrival { dropFirst() }
  }

  /// Something was missed: nobody may go on from memory.
  mutating func breakOff(at arrival: UInt64) {
    items.removeAll()
    head = 0
    bytesHeld = 0
    droppedThrough = arrival
    lastEntryID = nil
  }

  private mutating func dropFirst() {
    guard head < items.count else { return }
    droppedThrough = items[head].arrival
    bytesHeld -= items[head].bytes.count
    head += 1
    // Moving the rest once per half keeps each append's share of the work constant.
    if head > 32, head * 2 > items.count || head == items.count {
      items.removeSubrange(..<head)
      head = 0
    }
  }
}
