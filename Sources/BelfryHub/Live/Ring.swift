import BelfryModel
import BelfryStore

/// Something that happened in a space, rendered once for all who will be shown it.
final class RingItem {
  enum Kind {
    case entry(CursorStep)
    /// What an entry has become.
    case update(CursorStep)
    case ephemeral
    /// For the other devices of the account whose own space it is.
    case read(ReadEcho)
    /// Likewise.
    case device(DeviceEcho)
  }

  /// Counts everything that arrives on this loop, over all spaces. A consumer's place in all rings is
  /// one such number.
  let sequence: UInt64
  let kind: Kind
  /// Of the notification that it is or is about.
  let id: MessageID
  let audience: Audience
  /// The event's bytes; of what is in the log all but the id, which is each consumer's own.
  let bytes: [UInt8]

  /// What it is to the cursors that pass it; nil when it is not in the log.
  var step: CursorStep? {
    switch kind {
    case .entry(let step), .update(let step): step
    case .ephemeral, .read, .device: nil
    }
  }

  init(sequence: UInt64, kind: Kind, id: MessageID, audience: Audience, bytes: [UInt8]) {
    self.sequence = sequence
    self.kind = kind
    self.id = id
    self.audience = audience
    self.bytes = bytes
  }
}

extension RingItem {
  /// Whether it is something that another device did than this one, which knows.
  func isMeant(for device: DeviceID?) -> Bool {
    switch kind {
    case .read(let echo): echo.device == nil || echo.device != device
    case .device(let echo): echo.device == nil || echo.device != device
    case .entry, .update, .ephemeral: false
    }
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
  /// The end of the log as far as it is known here: the last entry that came through, or, before any did, where those
  /// who follow the ring found it. Nil until one of them has looked.
  private(set) var end: MessageID?
  /// What came before the first entry that came through; nil until one did.
  private var firstPredecessor: MessageID?

  var lastSequence: UInt64 { items.last?.sequence ?? droppedThrough }

  mutating func append(_ item: RingItem) {
    items.append(item)
    bytesHeld += item.bytes.count
    while items.count - head > Self.itemsLimit || bytesHeld > Self.bytesLimit { dropFirst() }
  }

  /// An entry comes.
  /// - Returns: whether it is the next one, as far as that is known: if not, something was missed, and nothing changes.
  mutating func advance(to id: MessageID, after predecessor: MessageID) -> Bool {
    let isFirst = firstPredecessor == nil
    // Where the end was looked up, the first may have been on its way already.
    if let end, isFirst ? predecessor > end : predecessor != end { return false }
    if isFirst { firstPredecessor = predecessor }
    end = id
    return true
  }

  /// Somebody goes on in the ring who has all entries up to `id` from the log.
  /// - Returns: whether the ring has all that came after it.
  mutating func join(at id: MessageID) -> Bool {
    if let firstPredecessor { return firstPredecessor <= id }
    end = min(end ?? id, id)
    return true
  }

  /// What came after an arrival, in order; nil if some of it is gone, or may be.
  func items(after sequence: UInt64) -> ArraySlice<RingItem>? {
    if droppedThrough > sequence { return nil }
    guard let last = items.last, last.sequence > sequence else { return [] }
    // Most consumers lag by the one item that has just arrived.
    if items.count - head == 1 || items[items.count - 2].sequence <= sequence {
      return items[(items.count - 1)...]
    }
    var low = head
    var high = items.count - 1
    while low < high {
      let middle = (low + high) / 2
      if items[middle].sequence > sequence { high = middle } else { low = middle + 1 }
    }
    return items[low...]
  }

  /// Forgets what arrived up to here; whoever has not taken it yet reads it from the store.
  mutating func drop(through sequence: UInt64) {
    while head < items.count, items[head].sequence <= sequence { dropFirst() }
  }

  /// Something was missed: nobody may go on from memory.
  mutating func breakOff(at sequence: UInt64) {
    items.removeAll()
    head = 0
    bytesHeld = 0
    droppedThrough = sequence
    end = nil
    firstPredecessor = nil
  }

  private mutating func dropFirst() {
    guard head < items.count else { return }
    droppedThrough = items[head].sequence
    bytesHeld -= items[head].bytes.count
    head += 1
    // Moving the rest once per half keeps each append's share of the work constant.
    if head > 32, head * 2 > items.count || head == items.count {
      items.removeSubrange(..<head)
      head = 0
    }
  }
}
