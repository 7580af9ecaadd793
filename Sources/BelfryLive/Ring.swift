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

  private let memory: RingMemory
  /// Nil while there are none: most rings are those of personal spaces in which nothing happens.
  private var held: HeldItems?
  /// The sequence number up to which items are forgotten, or may be missing.
  private(set) var droppedThrough: UInt64 = 0
  /// The same of those items that are not for named accounts only.
  private var sharedDroppedThrough: UInt64 = 0
  /// The latest item that is not for named accounts only.
  private(set) var lastShared: UInt64 = 0
  /// The step by which a cursor passes all that came through since the ring last broke off.
  private(set) var lastStep: CursorStep?
  private var hearing = Hearing.nothing(doubted: .zero)
  /// The last entry that came through, also before the ring broke off, as long as the log has it.
  private var lastArrived = MessageID.zero

  /// How the ring has followed the log since it last broke off.
  private enum Hearing {
    /// `doubted` is the last entry that arrived and was taken for one that had come through before, or zero. After the store
    /// lost its last writes it may be a new one: its clock may have been set back, too.
    case nothing(doubted: MessageID)
    /// No entry has come through. An account has joined the ring that has read the log up to `end`.
    case log(end: MessageID, doubted: MessageID)
    /// Entries have come through, up to `end`. `predecessor` is that of the first one.
    case entries(end: MessageID, after: MessageID)
  }

  init(in memory: RingMemory) { self.memory = memory }

  /// The last id of the log that is known here: of the last entry that came through, or before one did, the id up to
  /// which an account that joined the ring has read the log. Nil before both.
  var end: MessageID? {
    switch hearing {
    case .nothing: nil
    case .log(let end, _), .entries(let end, _): end
    }
  }

  var lastSequence: UInt64 { held?.last.sequence ?? droppedThrough }

  mutating func append(_ item: RingItem) {
    if let held { held.append(item) } else { held = HeldItems(item, in: memory) }
    if !item.isForNamedOnly { lastShared = item.sequence }
    lastStep = item.step ?? lastStep
    while let held, held.count > Self.itemsLimit || held.bytes > Self.bytesLimit { dropFirst(of: held) }
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
      doubt(id)
      return .known
    }
    switch hearing {
    case .nothing: hearing = .entries(end: id, after: predecessor)
    // The first entry may have been on its way when the log was read.
    case .log(let end, _):
      guard predecessor <= end else { return .afterMissed }
      hearing = .entries(end: id, after: predecessor)
    case .entries(let end, let first):
      guard predecessor == end else { return .afterMissed }
      hearing = .entries(end: id, after: first)
    }
    lastArrived = id
    return .next
  }

  /// Until the first entry comes through, an account may join that has read the log before this one.
  private mutating func doubt(_ id: MessageID) {
    switch hearing {
    case .nothing(let doubted): hearing = .nothing(doubted: max(doubted, id))
    case .log(let end, let doubted): hearing = .log(end: end, doubted: max(doubted, id))
    case .entries: break
    }
  }

  /// Lets an account that has read the log up to `id` go on in the ring.
  /// - Returns: true if the ring has all entries after `id`.
  mutating func join(at id: MessageID) -> Bool {
    let doubted: MessageID
    switch hearing {
    case .entries(_, let first): return first <= id
    case .nothing(let entry), .log(_, let entry): doubted = entry
    }
    guard doubted <= id else { return false }
    // A later entry that came through before is not in the log any more, and new ones may have smaller ids than it had.
    lastArrived = min(lastArrived, id)
    hearing = .log(end: min(end ?? id, id), doubted: doubted)
    return true
  }

  /// The items after a sequence number, in order; nil if some of them are forgotten, or may be missing.
  /// - Parameter isNamed: false for an account that none of the items for named accounts only names. It misses nothing if
  ///   some of these are forgotten.
  func items(after sequence: UInt64, isNamed: Bool = true) -> ArraySlice<RingItem>? {
    if (isNamed ? droppedThrough : sharedDroppedThrough) > sequence { return nil }
    return held?.items(after: sequence) ?? []
  }

  /// Forgets the items up to a sequence number. Consumers that have not taken them yet read from the store.
  mutating func drop(through sequence: UInt64) {
    while let held, held.first.sequence <= sequence { dropFirst(of: held) }
  }

  /// Forgets everything, since something was missed: all consumers have to read from the store.
  mutating func breakOff(at sequence: UInt64) {
    held = nil
    droppedThrough = sequence
    sharedDroppedThrough = sequence
    lastShared = sequence
    lastStep = nil
    hearing = .nothing(doubted: .zero)
  }

  private mutating func dropFirst(of held: HeldItems) {
    droppedThrough = held.first.sequence
    if !held.first.isForNamedOnly { sharedDroppedThrough = droppedThrough }
    if held.count == 1 { self.held = nil }
    held.removeFirst()
  }
}

/// The items that a ring has, in the order of their sequence numbers; at least one.
private final class HeldItems {
  private var items: [RingItem]
  private var head = 0
  /// The bytes of the events.
  private(set) var bytes: Int
  private var memoryBytes: Int {
    didSet { memory.hold(memoryBytes - oldValue) }
  }
  private let memory: RingMemory

  init(_ item: RingItem, in memory: RingMemory) {
    self.memory = memory
    (items, bytes, memoryBytes) = ([item], item.event.json.count, item.memoryBytes)
    memory.hold(memoryBytes)
  }

  deinit { memory.hold(-memoryBytes) }

  var count: Int { items.count - head }
  var first: RingItem { items[head] }
  var last: RingItem { items[items.count - 1] }

  func append(_ item: RingItem) {
    items.append(item)
    bytes += item.event.json.count
    memoryBytes += item.memoryBytes
  }

  func removeFirst() {
    bytes -= first.event.json.count
    memoryBytes -= first.memoryBytes
    head += 1
    // Moving the rest once per half keeps each append's share of the work constant.
    if head > 32, head * 2 > items.count {
      items.removeSubrange(..<head)
      head = 0
    }
  }

  func items(after sequence: UInt64) -> ArraySlice<RingItem> {
    guard last.sequence > sequence else { return [] }
    // Most consumers need just the one item that has arrived last.
    if count == 1 || items[items.count - 2].sequence <= sequence { return items[(items.count - 1)...] }
    var low = head
    var high = items.count - 1
    while low < high {
      let middle = (low + high) / 2
      if items[middle].sequence > sequence { high = middle } else { low = middle + 1 }
    }
    return items[low...]
  }
}
