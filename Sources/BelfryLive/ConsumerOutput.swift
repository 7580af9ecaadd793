import BelfryModel
import BelfryStore

/// The next events for a consumer: first those that were queued for it alone, then, once it is live, those that arrived in
/// the rings of its account's spaces after its place there.
///
/// A value that one call changes in each pull. Were its fields properties of the consumer, the runtime would check
/// the access to each of them many times over, and filling buffers is the largest cost of a delivery but for the
/// system call.
struct ConsumerOutput {
  var cursor: FeedCursor
  let framing: any EventFraming
  /// The sequence number up to which everything that arrived on the loop has been dealt with. It is kept over
  /// catch-ups: the store has the entries that arrive meanwhile, but only the rings have the items that are no
  /// entries.
  private var consumed: UInt64
  /// The sequence number up to which the last complete catch-up has had all entries from the store. A ring may forget
  /// these.
  private var recovered: UInt64 = 0
  /// The sequence number up to which catch-ups have sent what the ring of the personal space has and no log.
  private var sentThrough: UInt64 = 0
  /// The spaces whose rings have something that was not dealt with.
  private var ready: [SpaceFollower] = []
  private var pending: [UInt8] = []
  private var pendingOffset = 0

  /// For whom it is decided whether a live item is shown.
  struct Reader {
    let account: AccountID
    let device: DeviceID?
    private let marks: SessionMarks
    fileprivate let preferences: Preferences
    fileprivate let store: any Store

    init(
      account: AccountID, device: DeviceID?, marks: SessionMarks, preferences: Preferences,
      store: any Store
    ) {
      self.account = account
      self.device = device
      self.marks = marks
      self.preferences = preferences
      self.store = store
    }

    /// Without a retention floor: an item that has just arrived is within retention.
    func sees(_ item: RingItem, in space: SpaceID, by membership: Membership) -> Bool {
      Visibility.of(
        item.id, item.audience, type: item.type, in: space, for: account, membership: membership,
        read: marks.state, preferences: preferences, retentionFloor: .zero,
        nowMilliseconds: store.estimatedMilliseconds ?? 0
      ).isVisible
    }

    /// True if a notification that was recalled may be on the device.
    fileprivate func perhapsHas(_ item: RingItem, in space: SpaceID, by membership: Membership) -> Bool {
      Visibility.isPerhapsShown(
        item.id, item.audience, in: space, for: account, membership: membership, read: marks.state,
        retentionFloor: .zero)
    }

    /// True if the account is to have the item unless it has marked the notification, and only the store knows whether it has.
    fileprivate func mustAsk(about item: RingItem, in space: SpaceID, by membership: Membership) -> Bool {
      switch item.kind {
      case .entry, .update:
        marks.mustAsk(about: item.id, in: space) && sees(item, in: space, by: membership)
      case .recall: marks.mustAsk(about: item.id, in: space) && perhapsHas(item, in: space, by: membership)
      case .ephemeral, .read, .device: false
      }
    }
  }

  /// The result of filling a buffer.
  struct Fill {
    /// True if something was queued, and all of it has been written.
    var hasDrained = false
    var deliveries = 0
    /// True if a ring has forgotten what came next.
    var hasLostTrack = false
    /// The next item, if the store has to be asked first whether it is marked.
    var doubtful: (id: MessageID, space: SpaceID)?

    /// Nothing can be written before something else has happened.
    var isHeldUp: Bool { hasLostTrack || doubtful != nil }
  }

  init(_ cursor: FeedCursor, after sequence: UInt64, framing: any EventFraming) {
    self.cursor = cursor
    self.framing = framing
    consumed = sequence
  }

  var hasQueued: Bool { pendingOffset < pending.count }
  /// True if a part of what is queued was written.
  var isWithinEvent: Bool { pendingOffset > 0 }
  /// True if there may be something to write.
  var mayFlow: Bool { hasQueued || !ready.isEmpty }

  mutating func queue(_ bytes: [UInt8]) { pending += bytes }

  // MARK: Its place in the rings

  /// - Returns: true if the rings had nothing for this consumer before.
  mutating func notify(of follower: SpaceFollower) -> Bool {
    // The item may have been dealt with already, when the consumer was pulled for another space.
    guard hasMore(follower) else { return false }
    if ready.isEmpty {
      ready.append(follower)
      return true
    }
    if !ready.contains(where: { $0 === follower }) { ready.append(follower) }
    return false
  }

  func isReady(in active: ActiveSpace) -> Bool { ready.contains { $0.active === active } }

  /// Goes on in the rings at the end of a catch-up, from the place where the consumer left them.
  /// - Parameters:
  ///   - sequence: the loop's latest sequence number when the catch-up began.
  ///   - latest: the loop's latest sequence number now.
  mutating func begin(
    recovered sequence: UInt64, latest: UInt64, in followers: some Sequence<SpaceFollower>
  ) {
    recovered = sequence
    ready = followers.filter { hasMore($0) }
    if ready.isEmpty { consumed = latest }
  }

  /// True if the ring of the personal space has forgotten something that the consumer was not sent.
  func hasMissed(in own: SpaceFollower) -> Bool {
    own.active.ring.droppedThrough > max(consumed, own.since, sentThrough)
  }

  /// The items of the personal space's ring, up to a sequence number, that are in no log and were not sent. They
  /// count as sent from now on.
  mutating func takeUnsent(
    from own: SpaceFollower, through sequence: UInt64, for device: DeviceID?
  ) -> [RingItem] {
    let ring = own.active.ring
    let place = max(consumed, own.since, sentThrough, ring.droppedThrough)
    sentThrough = max(sentThrough, sequence)
    return (ring.items(after: place) ?? []).filter { $0.sequence <= sequence && $0.concerns(device) }
  }

  /// The sequence number up to which the consumer needs nothing more from the ring.
  private func place(in follower: SpaceFollower) -> UInt64 {
    max(consumed, follower.since, min(recovered, follower.active.ring.droppedThrough))
  }

  private func hasMore(_ follower: SpaceFollower) -> Bool { follower.hasItems(after: place(in: follower)) }

  /// Passes what has arrived in the rings and is for others. Called when the consumer has been notified of all that may be
  /// for it. Without this its cursor would stay behind in a partition where everything is for others. A client that comes
  /// back with such a cursor would be told that it has missed what was trimmed there.
  mutating func passOthersItems(in followers: some Sequence<SpaceFollower>, latest: UInt64) {
    guard ready.isEmpty, consumed < latest else { return }
    for follower in followers where follower.active.ring.lastSequence > consumed {
      if let step = follower.active.ring.lastStep { _ = cursor.advance(follower.active.space, by: step) }
    }
    consumed = latest
  }

  mutating func leaveRings() { ready.removeAll() }

  // MARK: Filling a buffer

  /// - Parameter reader: nil if the consumer is not live.
  mutating func fill(_ buffer: inout StreamBuffer, live reader: Reader?) -> Fill {
    var fill = Fill()
    writeQueued(&buffer, &fill)
    if let reader, !hasQueued { writeNewItems(&buffer, for: reader, &fill) }
    return fill
  }

  private mutating func writeQueued(_ buffer: inout StreamBuffer, _ fill: inout Fill) {
    guard !pending.isEmpty else { return }
    pendingOffset += buffer.write(pending, from: pendingOffset)
    guard pendingOffset == pending.count else { return }
    pending.removeAll(keepingCapacity: pending.capacity <= Self.pendingCapacityKept)
    pendingOffset = 0
    fill.hasDrained = true
  }

  /// Bytes of its buffer that an idle consumer may keep, enough for a heartbeat.
  private static let pendingCapacityKept = 256

  private mutating func writeNewItems(
    _ buffer: inout StreamBuffer, for reader: Reader, _ fill: inout Fill
  ) {
    while buffer.remaining > 0, !ready.isEmpty, !hasQueued, !fill.isHeldUp {
      // Nearly always only one space has something, which is faster than merging several.
      if ready.count == 1 {
        writeRing(of: ready[0], &buffer, for: reader, &fill)
      } else if let (item, follower) = earliestItem(&fill) {
        write(item, follower.active.space, &buffer, for: reader, follower.membership, &fill)
      }
    }
  }

  /// Writes everything that one ring has, or as much as there is room for.
  private mutating func writeRing(
    of follower: SpaceFollower, _ buffer: inout StreamBuffer, for reader: Reader, _ fill: inout Fill
  ) {
    guard let items = follower.items(after: place(in: follower)) else {
      return fill.hasLostTrack = true
    }
    let membership = follower.membership
    for item in items {
      guard buffer.remaining > 0, !hasQueued, !fill.isHeldUp else { return }
      write(item, follower.active.space, &buffer, for: reader, membership, &fill)
    }
    if !fill.isHeldUp { ready.removeAll(keepingCapacity: true) }
  }

  /// The earliest item that was not dealt with, over all spaces. So items of one partition come in the order of their
  /// ids, and the cursor needs only one id per partition.
  private mutating func earliestItem(_ fill: inout Fill) -> (RingItem, SpaceFollower)? {
    var earliest: (RingItem, SpaceFollower)?
    var hasFinished = false
    for follower in ready {
      guard let items = follower.items(after: place(in: follower)) else {
        fill.hasLostTrack = true
        return nil
      }
      if let item = items.first {
        if let (other, _) = earliest, other.sequence < item.sequence { continue }
        earliest = (item, follower)
      } else {
        hasFinished = true
      }
    }
    if hasFinished { ready = ready.filter { hasMore($0) } }
    return earliest
  }

  // MARK: One item for one consumer

  private mutating func write(
    _ item: RingItem, _ space: SpaceID, _ buffer: inout StreamBuffer, for reader: Reader,
    _ membership: Membership, _ fill: inout Fill
  ) {
    if reader.mustAsk(about: item, in: space, by: membership),
      item.step.map({ cursor.hasPassed($0, in: space) }) != true
    {
      return fill.doubtful = (item.id, space)
    }
    consumed = item.sequence
    guard takes(item, space, for: reader, membership, &fill) else { return }
    let framing = framing
    let event = item.event
    guard let step = item.step else { return write(framing.bytes(event), &buffer, &fill) }
    cursor.render()
    guard event.json.count + framing.overheadBytesMost + cursor.byteCountMost <= buffer.remaining else {
      var bytes: [UInt8] = []
      framing.append(event, at: &cursor, to: &bytes)
      return write(bytes, &buffer, &fill)
    }
    buffer.append { framing.write(event, at: cursor, after: step, to: &$0) }
  }

  /// Writes an event. The part that does not fit the buffer is kept for the next one.
  private mutating func write(_ event: [UInt8], _ buffer: inout StreamBuffer, _ fill: inout Fill) {
    if event.count <= buffer.remaining {
      _ = buffer.write(event)
    } else {
      pending = event
      writeQueued(&buffer, &fill)
    }
  }

  /// Passes the item, and says whether it is for this consumer.
  private mutating func takes(
    _ item: RingItem, _ space: SpaceID, for reader: Reader, _ membership: Membership, _ fill: inout Fill
  ) -> Bool {
    switch item.kind {
    case .entry(let step):
      guard cursor.advance(space, by: step), reader.sees(item, in: space, by: membership) else {
        return false
      }
      fill.deliveries += 1
      return true
    // An account that sees the updated entry was shown it before, since it lies before the update in the log.
    case .update(let step):
      return cursor.advance(space, by: step) && reader.sees(item, in: space, by: membership)
    case .recall(let step):
      return cursor.advance(space, by: step) && reader.perhapsHas(item, in: space, by: membership)
    case .ephemeral:
      guard reader.sees(item, in: space, by: membership) else { return false }
      fill.deliveries += 1
      return true
    case .read, .device: return item.sequence > sentThrough && item.concerns(reader.device)
    }
  }
}
