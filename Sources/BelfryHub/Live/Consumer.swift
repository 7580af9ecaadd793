import BelfryModel
import BelfryStore

/// One open stream: a cursor into its account's feed, and never a queue.
///
/// It is in one of two states. Catching up, it reads from the store what lies between its cursor and
/// now, one page at a time, the next when the socket has taken the last. Live, it takes from the rings
/// what arrived after its place there. Whatever is unusual (it fell behind a ring, its account joined
/// or left a space, Redis was away) has one remedy: catch up again, from the cursor.
package final class Consumer: FeedFollower {
  package enum Pull: Sendable, Hashable {
    case bytes(Int)
    case wait
    case end
  }

  enum State {
    case catchingUp
    case live
    case ending
    case closed
  }

  unowned let hub: Hub
  let session: AccountSession
  private let device: DeviceID?
  private let onReady: () -> Void
  let expiresAtMilliseconds: Int64
  var pulseSlot = 0

  var state = State.catchingUp
  var cursor: FeedCursor
  /// Whether the client has been here before: then it holds notifications that were read meanwhile.
  var isResuming: Bool
  /// Everything that arrived on the loop up to here has been dealt with.
  var consumed: UInt64 = 0
  /// Those whose rings have something that was not dealt with.
  private var ready: [Following] = []
  private var pending: [UInt8] = []
  private var pendingOffset = 0
  private var drained: CheckedContinuation<Void, Never>?
  private var isQuiet = true
  private var isCatchUpRunning = false

  init(
    hub: Hub, session: AccountSession, device: DeviceID?, cursor: FeedCursor?, expiresAtMilliseconds: Int64,
    onReady: @escaping () -> Void
  ) {
    self.hub = hub
    self.session = session
    self.device = device
    self.cursor = cursor ?? FeedCursor()
    isResuming = cursor != nil
    self.expiresAtMilliseconds = expiresAtMilliseconds
    self.onReady = onReady
  }

  func begin() {
    queue(EventText.retry(milliseconds: Int.random(in: 1_000...5_000)))
    lostTrack()
  }

  /// The client has gone, or the stream has ended.
  package func close() {
    guard state != .closed else { return }
    state = .closed
    resumeDrained()
    hub.close(self, session: session)
  }

  // MARK: What happens around it

  func arrived(by following: Following) {
    guard state == .live else { return }
    if !ready.contains(where: { $0 === following }) { ready.append(following) }
    onReady()
  }

  func lostTrack() {
    guard state == .live || state == .catchingUp else { return }
    state = .catchingUp
    ready.removeAll()
    guard !isCatchUpRunning else { return }
    isCatchUpRunning = true
    // Held, since the hub may be gone when the catch-up ends.
    let turnstile = hub.turnstile
    turnstile.enter { [self] in
      isCatchUpRunning =
        state == .catchingUp
        && hub.scope.start { [self] in
          // It may lose track again in the very moment in which it becomes live.
          while state == .catchingUp, !Task.isCancelled { await catchUp() }
          isCatchUpRunning = false
          turnstile.leave()
        }
      return isCatchUpRunning
    }
  }

  func beat() {
    if isQuiet { queue(EventText.heartbeat) }
    isQuiet = true
  }

  func sendAway() { kick(.shutdown) }

  func kick(_ reason: KickReason) {
    guard state == .live || state == .catchingUp else { return }
    state = .ending
    queue(EventText.kicked(reason))
    resumeDrained()
  }

  /// Becomes live at the end of a catch-up that began when `arrival` was the latest.
  func goLive(from arrival: UInt64) {
    state = .live
    consumed = arrival
    ready = session.followings.filter { $0.active.ring.lastArrival > arrival }
    if !ready.isEmpty { onReady() }
  }

  // MARK: What it is to be sent

  func queue(_ bytes: [UInt8]) {
    pending += bytes
    onReady()
  }

  /// Returns when everything queued is with the socket, or when the consumer is closed. That may take as long as
  /// the client likes, so others catch up meanwhile.
  func waitUntilDrained() async {
    guard mustDrain else { return }
    await hub.turnstile.stepOut {
      await withCheckedContinuation { continuation in
        // Again, in here: nobody would resume it any more.
        guard mustDrain else { return continuation.resume() }
        drained = continuation
      }
    }
  }

  private var mustDrain: Bool { pendingOffset < pending.count && state == .catchingUp }

  private func resumeDrained() {
    drained?.resume()
    drained = nil
  }

  /// Fills the buffer with what is ready. `.wait`: nothing now; `onReady` will say.
  package func pull(into buffer: inout StreamBuffer) -> Pull {
    if writePending(&buffer) {
      switch state {
      case .live: writeLive(&buffer)
      case .ending: return buffer.count > 0 ? .bytes(buffer.count) : .end
      case .closed: return .end
      case .catchingUp: break
      }
    }
    guard buffer.count > 0 else { return .wait }
    isQuiet = false
    return .bytes(buffer.count)
  }

  /// Whether all that was pending is written.
  private func writePending(_ buffer: inout StreamBuffer) -> Bool {
    guard !pending.isEmpty else { return true }
    pendingOffset += buffer.write(pending, from: pendingOffset)
    guard pendingOffset == pending.count else { return false }
    pending.removeAll(keepingCapacity: pending.capacity <= Self.pendingCapacityKept)
    pendingOffset = 0
    resumeDrained()
    return true
  }

  /// What an idle consumer may keep of its buffer: a heartbeat's worth.
  private static let pendingCapacityKept = 256

  private func writeLive(_ buffer: inout StreamBuffer) {
    while buffer.remaining > 0, let (item, following) = nextItem() {
      consumed = item.arrival
      guard let ending = take(item, by: following) else { continue }
      let tail = text(of: ending)
      if item.bytes.count + tail.count <= buffer.remaining {
        _ = buffer.write(item.bytes)
        _ = buffer.write(tail)
      } else {
        pending = item.bytes + tail
        _ = writePending(&buffer)
        return
      }
    }
  }

  /// The earliest arrival not dealt with, over all spaces that have one. Arrivals of one partition come
  /// in the order of their ids, which is what lets the cursor be one id per partition.
  private func nextItem() -> (RingItem, Following)? {
    // One space and all spaces: nearly always only one of them has something.
    if ready.count == 1 {
      let following = ready[0]
      switch following.active.ring.next(after: consumed) {
      case .item(let item): return (item, following)
      case .nothing: ready.removeLast()
      case .forgotten: lostTrack()
      }
      return nil
    }
    var earliest: (RingItem, Following)?
    var hasFinished = false
    for following in ready {
      switch following.active.ring.next(after: consumed) {
      case .item(let item):
        if let (other, _) = earliest, other.arrival < item.arrival { continue }
        earliest = (item, following)
      case .nothing:
        hasFinished = true
      case .forgotten:
        lostTrack()
        return nil
      }
    }
    if hasFinished { ready.removeAll { $0.active.ring.lastArrival <= consumed } }
    return earliest
  }

  /// What an item's event still needs for one consumer.
  private enum Ending {
    case complete
    case emptyLine
    case cursor
  }

  private func text(of ending: Ending) -> [UInt8] {
    switch ending {
    case .complete: []
    case .emptyLine: Self.eventEnd
    case .cursor: hub.idLines(cursor)
    }
  }

  /// Nil when the item is not for this consumer.
  private func take(_ item: RingItem, by following: Following) -> Ending? {
    switch item.kind {
    case .entry:
      guard cursor.advance(following.active.space, toLive: item.id, base: item.base),
        following.shows(item)
      else { return nil }
      hub.count { $0.deliveries += 1 }
      return .cursor
    case .passing:
      guard following.shows(item) else { return nil }
      hub.count { $0.deliveries += 1 }
      return .emptyLine
    case .amended:
      return following.shows(item) ? .complete : nil
    case .read(let echo): return isOwn(echo.device) ? nil : .complete
    case .device(let echo): return isOwn(echo.device) ? nil : .complete
    }
  }

  /// Whether what happened was done on this consumer's own device, which knows.
  private func isOwn(_ acting: DeviceID?) -> Bool { acting != nil && acting == device }

  private static let eventEnd = Array("\n".utf8)
}
