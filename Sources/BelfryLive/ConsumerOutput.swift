import BelfryModel

/// What a consumer is sent next: what was queued for it alone, then, once it is live, what arrived in the rings
/// of its account's spaces after its place there.
///
/// A value, and the whole of it is changed by one call a pull. Of a delivery that is not the system call, it is
/// the most: as properties of the consumer, each of them asked the runtime for access many times over.
struct ConsumerOutput {
  var cursor: FeedCursor
  let framing: any EventFraming
  /// Everything that arrived on the loop up to here has been dealt with. It outlasts catch-ups: the store has the
  /// entries that arrive meanwhile, and the rings alone have what is no entry.
  private var consumed: UInt64
  /// What arrived up to here and was an entry, the last complete catch-up has had from the store: a ring may have
  /// forgotten it.
  private var recovered: UInt64 = 0
  /// Up to here the consumer was sent what is in its account's own ring and in no log.
  private var sentThrough: UInt64 = 0
  /// Where the rings have something that was not dealt with.
  private var ready: [SpaceFollower] = []
  private var pending: [UInt8] = []
  private var pendingOffset = 0

  /// Whom a live item is shown to, or not.
  struct Reader {
    let account: AccountID
    let device: DeviceID?
    let read: ReadState

    /// Retention is no question for what has just arrived.
    fileprivate func sees(_ item: RingItem, in space: SpaceID, by membership: Membership) -> Bool {
      Visibility.of(
        item.id, item.audience, in: space, for: account, membership: membership, read: read,
        retentionFloor: .zero
      ).isVisible
    }
  }

  /// What came of filling a buffer.
  struct Fill {
    /// Everything queued has been written, and some was.
    var hasDrained = false
    var deliveries = 0
    /// A ring has forgotten what came next.
    var hasLostTrack = false
  }

  init(_ cursor: FeedCursor, after sequence: UInt64, framing: any EventFraming) {
    self.cursor = cursor
    self.framing = framing
    consumed = sequence
  }

  var hasQueued: Bool { pendingOffset < pending.count }
  /// Whether there may be something to write.
  var mayFlow: Bool { hasQueued || !ready.isEmpty }

  mutating func queue(_ bytes: [UInt8]) { pending += bytes }
  mutating func queue(_ event: LiveEvent) { queue(framing.bytes(event)) }

  // MARK: Its place in the rings

  /// - Returns: whether nothing was there before.
  mutating func notify(of follower: SpaceFollower) -> Bool {
    // Dealt with already, when the consumer was pulled for another space.
    guard hasMore(follower) else { return false }
    if ready.isEmpty {
      ready.append(follower)
      return true
    }
    if !ready.contains(where: { $0 === follower }) { ready.append(follower) }
    return false
  }

  func isReady(in active: ActiveSpace) -> Bool { ready.contains { $0.active === active } }

  /// Goes on in the rings at the end of a catch-up, from where it left them.
  /// - Parameters:
  ///   - sequence: the latest when the catch-up began.
  ///   - latest: the latest of all.
  mutating func begin(
    recovered sequence: UInt64, latest: UInt64, in followers: some Sequence<SpaceFollower>
  ) {
    recovered = sequence
    ready = followers.filter { hasMore($0) }
    if ready.isEmpty { consumed = latest }
  }

  /// Whether the account's own ring has forgotten something that was not told.
  func hasMissed(in own: SpaceFollower) -> Bool {
    own.active.ring.droppedThrough > max(consumed, own.since, sentThrough)
  }

  /// What the account's own ring has of it that is in no log and was not told, up to an sequence. It counts as told.
  mutating func takeUnsent(
    from own: SpaceFollower, through sequence: UInt64, for device: DeviceID?
  ) -> [RingItem] {
    let ring = own.active.ring
    let place = max(consumed, own.since, sentThrough, ring.droppedThrough)
    sentThrough = max(sentThrough, sequence)
    return (ring.items(after: place) ?? []).filter { $0.sequence <= sequence && $0.concerns(device) }
  }

  /// Everything in the ring up to here has been dealt with, or need not be.
  private func place(in follower: SpaceFollower) -> UInt64 {
    max(consumed, follower.since, min(recovered, follower.active.ring.droppedThrough))
  }

  private func hasMore(_ follower: SpaceFollower) -> Bool {
    follower.active.ring.lastSequence > place(in: follower)
  }

  mutating func leaveRings() { ready.removeAll() }

  // MARK: Filling a buffer

  /// - Parameter reader: nil when it is not live.
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

  /// What an idle consumer may keep of its buffer: a heartbeat's worth.
  private static let pendingCapacityKept = 256

  private mutating func writeNewItems(
    _ buffer: inout StreamBuffer, for reader: Reader, _ fill: inout Fill
  ) {
    while buffer.remaining > 0, !ready.isEmpty, !hasQueued, !fill.hasLostTrack {
      // One space and all spaces: nearly always only one of them has something.
      if ready.count == 1 {
        writeRing(of: ready[0], &buffer, for: reader, &fill)
      } else if let (item, follower) = earliestItem(&fill) {
        write(item, follower.active.space, &buffer, for: reader, follower.membership, &fill)
      }
    }
  }

  /// All that one ring has, or what there is room for.
  private mutating func writeRing(
    of follower: SpaceFollower, _ buffer: inout StreamBuffer, for reader: Reader, _ fill: inout Fill
  ) {
    guard let items = follower.active.ring.items(after: place(in: follower)) else {
      return fill.hasLostTrack = true
    }
    let membership = follower.membership
    for item in items {
      guard buffer.remaining > 0, !hasQueued else { return }
      write(item, follower.active.space, &buffer, for: reader, membership, &fill)
    }
    ready.removeAll(keepingCapacity: true)
  }

  /// The earliest item not dealt with, over all spaces that have one. Items of one partition come
  /// in the order of their ids, which is what lets the cursor be one id per partition.
  private mutating func earliestItem(_ fill: inout Fill) -> (RingItem, SpaceFollower)? {
    var earliest: (RingItem, SpaceFollower)?
    var hasFinished = false
    for follower in ready {
      guard let items = follower.active.ring.items(after: place(in: follower)) else {
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

  /// What there is no room for is kept for the next buffer.
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
    // Whoever sees the entry was shown it before: it lies before this one in the log.
    case .update(let step):
      return cursor.advance(space, by: step) && reader.sees(item, in: space, by: membership)
    case .ephemeral:
      guard reader.sees(item, in: space, by: membership) else { return false }
      fill.deliveries += 1
      return true
    case .read, .device: return item.sequence > sentThrough && item.concerns(reader.device)
    }
  }
}
