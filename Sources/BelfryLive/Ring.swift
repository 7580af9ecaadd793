import BelfryModel
import BelfryStore

/// Something that happened in a space, rendered once for all consumers that are shown it.
final class RingItem {
  enum Kind {
    case entry(CursorStep)
    /// The new content of an earlier entry.
    case update(CursorStep)
    /// An earlier entry was recalled.
    case recall(CursorStep)
    case ephemeral
    /// A mark, in a personal space: for the account's devices other than the one that made it.
    case read(by: DeviceID?)
    /// An operation, in a personal space: for the account's devices other than the one that carried it out.
    case device(DeviceID?)
  }

  /// The hub numbers everything that arrives on its loop, over all spaces. So a consumer's place in all rings is one
  /// number.
  let sequence: UInt64
  let kind: Kind
  /// True if only those followers were notified that the item's audience names, since it is for nobody else.
  let isForNamedOnly: Bool
  /// The id of the notification that the item is, or is about.
  let id: MessageID
  /// Its type; 0 of what is about none.
  let type: Int
  let countsInBadge: Bool
  let audience: Audience
  let event: LiveEvent
  /// The bytes that the item takes in memory, about.
  let memoryBytes: Int

  /// The step by which a cursor passes the item; nil if the item is not in the log.
  var step: CursorStep? {
    switch kind {
    case .entry(let step), .update(let step), .recall(let step): step
    case .ephemeral, .read, .device: nil
    }
  }

  init(sequence: UInt64, kind: Kind, isForNamedOnly: Bool, _ entry: LogEntry, event: LiveEvent) {
    self.sequence = sequence
    self.kind = kind
    self.isForNamedOnly = isForNamedOnly
    id = entry.notificationID
    type = entry.type
    countsInBadge = entry.countsInBadge
    audience = entry.audience
    self.event = event
    memoryBytes =
      Self.memoryBytesBesideEvent + event.json.count + Self.memoryBytesPerName * entry.audience.named.count
  }

  /// Measured with events of a kilobyte.
  private static let memoryBytesBesideEvent = 400
  private static let memoryBytesPerName = 64
}

extension RingItem {
  /// True if the item tells the device what another one did. The device that acted knows it.
  func concerns(_ device: DeviceID?) -> Bool {
    switch kind {
    case .read(let actor), .device(let actor): actor == nil || actor != device
    case .entry, .update, .recall, .ephemeral: false
    }
  }
}

/// The latest items of a space, in bounded number. A consumer that falls behind the ring reads from the store.
struct Ring {
  /// Enough for a burst to be served from memory, small enough that ten thousand active spaces do not
  /// fill it.
  static let itemsLimit = 512
  static let bytesLimit = 512 * 1_024

  private var items: [RingItem] = []
  private var head = 0
  private var bytesHeld = 0
  private var memoryBytes = 0 {
    didSet { memory.hold(memoryBytes - oldValue) }
  }
  private let memory: RingMemory
  /// The sequence number up to which items are forgotten, or may be missing.
  private(set) var droppedThrough: UInt64 = 0
  /// The same of those items that are not for named accounts only.
  private var sharedDroppedThrough: UInt64 = 0
  /// The latest item that is not for named accounts only.
  private(set) var lastShared: UInt64 = 0
  /// The step by which a cursor passes all that came through since the ring last broke off.
  private(set) var lastStep: CursorStep?
  /// The last id of the log that is known here: of the last entry that came through, or before one did, the id up to
  /// which an account that joined the ring has read the log. Nil before both.
  private(set) var end: MessageID?
  /// The last entry that came through, also before the ring broke off, as long as the log has it.
  private var lastArrived = MessageID.zero
  /// The last entry that arrived since the ring broke off and was taken for one that had come through before. After the store
  /// lost its last writes it may be a new one: its clock may have been set back, too.
  private var lastDoubted = MessageID.zero
  /// The predecessor of the first entry that came through; nil before it.
  private var firstPredecessor: MessageID?

  init(in memory: RingMemory) { self.memory = memory }

  var lastSequence: UInt64 { items.last?.sequence ?? droppedThrough }

  mutating func append(_ item: RingItem) {
    items.append(item)
    if !item.isForNamedOnly { lastShared = item.sequence }
    lastStep = item.step ?? lastStep
    bytesHeld += item.event.json.count
    memoryBytes += item.memoryBytes
    while items.count - head > Self.itemsLimit || bytesHeld > Self.bytesLimit { dropFirst() }
  }

  /// How an entry that arrives stands to the others.
  enum Arrival {
    /// It is the next one, as far as is known.
    case next
    /// It arrived before, or every account that joined the ring has read the log beyond it.
    case known
    /// Something before it was missed.
    case afterMissed
  }

  /// Takes note of an entry that arrives, if it is the next one.
  mutating func advance(to id: MessageID, after predecessor: MessageID) -> Arrival {
    // A server that was cut off sends its messages once it is heard again, after all that its successor has sent since.
    // The end must not go back to such an entry: the next good message would then seem to come after a gap, and every
    // consumer would be shown once more all that it was shown since.
    if id <= lastArrived || id <= end ?? .zero {
      // Until the first entry comes through, an account may join that has read the log before this one.
      if firstPredecessor == nil { lastDoubted = max(lastDoubted, id) }
      return .known
    }
    let isFirst = firstPredecessor == nil
    // If the end is from the log, the first entry may have been on its way when the log was read.
    if let end, isFirst ? predecessor > end : predecessor != end { return .afterMissed }
    if isFirst { firstPredecessor = predecessor }
    end = id
    lastArrived = id
    return .next
  }

  /// Lets an account that has read the log up to `id` go on in the ring.
  /// - Returns: true if the ring has all entries after `id`.
  mutating func join(at id: MessageID) -> Bool {
    if let firstPredecessor { return firstPredecessor <= id }
    guard lastDoubted <= id else { return false }
    // A later entry that came through before is not in the log any more, and new ones may have smaller ids than it had.
    lastArrived = min(lastArrived, id)
    end = min(end ?? id, id)
    return true
  }

  /// The items after a sequence number, in order; nil if some of them are forgotten, or may be missing.
  /// - Parameter isNamed: false for an account that none of the items for named accounts only names. It misses nothing if
  ///   some of these are forgotten.
  func items(after sequence: UInt64, isNamed: Bool = true) -> ArraySlice<RingItem>? {
    if (isNamed ? droppedThrough : sharedDroppedThrough) > sequence { return nil }
    guard let last = items.last, last.sequence > sequence else { return [] }
    // Most consumers need just the one item that has arrived last.
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

  /// Forgets the items up to a sequence number. Consumers that have not taken them yet read from the store.
  mutating func drop(through sequence: UInt64) {
    while head < items.count, items[head].sequence <= sequence { dropFirst() }
  }

  /// Forgets everything, since something was missed: all consumers have to read from the store.
  mutating func breakOff(at sequence: UInt64) {
    items.removeAll()
    head = 0
    bytesHeld = 0
    memoryBytes = 0
    droppedThrough = sequence
    sharedDroppedThrough = sequence
    lastShared = sequence
    lastStep = nil
    end = nil
    firstPredecessor = nil
    lastDoubted = .zero
  }

  private mutating func dropFirst() {
    guard head < items.count else { return }
    droppedThrough = items[head].sequence
    if !items[head].isForNamedOnly { sharedDroppedThrough = droppedThrough }
    bytesHeld -= items[head].event.json.count
    memoryBytes -= items[head].memoryBytes
    head += 1
    // Moving the rest once per half keeps each append's share of the work constant.
    if head > 32, head * 2 > items.count || head == items.count {
      items.removeSubrange(..<head)
      head = 0
    }
  }
}
