import BelfryFeed
import BelfryModel
import BelfryStore

/// One open stream: a cursor into its account's feed, and never a queue.
///
/// It is in one of two states. Catching up, it reads from the store what lies between its cursor and
/// now, one page at a time, the next when the socket has taken the last. Live, it takes from the rings
/// what arrived after its place there, which it keeps while it catches up: what is no entry (`read`, `device`, what
/// is sent without being stored) is in no log. Whatever is unusual (it fell behind a ring, its account joined
/// or left a space, Redis was away) has one remedy: catch up again, from the cursor.
package final class Consumer: FeedListener {
  /// Where its bytes go. An object and no closure: between a consumer that is told and its connection there is
  /// then nothing else to be fetched from memory, which for thousands in a row is what notifying costs.
  package protocol Outlet: AnyObject {
    /// There is something to be pulled.
    func consumerIsReady()
  }

  package enum Pull: Sendable, Hashable {
    /// That many are in the buffer; whether more may follow at once, or only when its outlet is told so.
    case bytes(Int, more: Bool)
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
  let device: DeviceID?
  /// Whoever it is holds the consumer; it is let go when the consumer is closed.
  package var outlet: (any Outlet)?
  let expiresAtMilliseconds: Int64
  var heartbeatSlot = 0

  var state = State.catchingUp
  var output: ConsumerOutput
  /// Whether the client has been here before: then it holds notifications that were read meanwhile.
  var isResuming: Bool
  /// From which id on it is promised everything: all of it once its cursor says what it was shown; before, what was
  /// within retention when it came. Nil until that is known.
  var promisedFrom: MessageID?
  var sentGap: FeedGap?
  /// In which spaces the latest scan goes on behind the end of their rings, and how far.
  var aheadOfRings: [SpaceID: MessageID] = [:]
  /// Counts how often the cursor was set back: a scan from before that does not end where it should.
  private(set) var setbacks = 0
  private var drained: CheckedContinuation<Void, Never>?
  private var isQuiet = true
  private var isCatchUpRunning = false
  /// Whether a scan was given up since the client takes its time; until it is live.
  var isSlow = false

  init(
    hub: Hub, session: AccountSession, device: DeviceID?, cursor: FeedCursor?, expiresAtMilliseconds: Int64,
    framing: any EventFraming
  ) {
    self.hub = hub
    self.session = session
    self.device = device
    output = ConsumerOutput(cursor ?? FeedCursor(), after: hub.lastSequence, framing: framing)
    isResuming = cursor != nil
    promisedFrom = cursor.map { _ in .zero }
    self.expiresAtMilliseconds = expiresAtMilliseconds
  }

  func begin() {
    queue(output.framing.reconnectDelay(milliseconds: Int.random(in: 1_000...5_000)))
    lostTrack()
  }

  /// The client has gone, or the stream has ended.
  package func close() {
    guard state != .closed else { return }
    state = .closed
    outlet = nil
    resumeDrained()
    hub.close(self, session: session)
  }

  // MARK: What happens around it

  func notify(of follower: SpaceFollower) {
    guard state == .live, output.notify(of: follower) else { return }
    outlet?.consumerIsReady()
  }

  func lostTrack() {
    guard state == .live || state == .catchingUp else { return }
    state = .catchingUp
    output.leaveRings()
    guard !isCatchUpRunning else { return }
    isCatchUpRunning = true
    // Held, since the hub may be gone when the catch-up ends.
    let scans = hub.feed.scans
    scans.enter(as: session.account) { [self] in
      isCatchUpRunning =
        state == .catchingUp
        && hub.scope.start { [self] in
          // It may lose track again in the very moment in which it becomes live.
          while state == .catchingUp, !Task.isCancelled { await catchUp() }
          isCatchUpRunning = false
          scans.leave(as: session.account)
        }
      return isCatchUpRunning
    }
  }

  /// The cursor may have passed what was missed: it has one place for all spaces of a partition.
  func missed(in space: SpaceID, since id: MessageID) {
    let partitions = hub.store.partitions
    let partition = partitions.holding(space)
    let place = output.cursor.position(in: space, of: partition)
    let known = max(id, min(aheadOfRings[space] ?? .zero, place))
    guard known < place else { return }
    if !output.cursor.addLagging(space, of: partition, since: known) {
      // There is no room for another: better that neighbours are shown something again.
      output.cursor.goBack(to: known, in: partition, partitions)
    }
    setbacks += 1
  }

  func beat() {
    if isQuiet { queue(output.framing.heartbeat) }
    isQuiet = true
  }

  func sendAway() { kick(.shutdown) }

  package func kick(_ reason: KickReason) {
    guard state == .live || state == .catchingUp else { return }
    state = .ending
    queue(.kicked(reason))
    resumeDrained()
  }

  /// Becomes live at the end of a catch-up that began when `sequence` was the latest.
  func goLive(recovered sequence: UInt64) {
    state = .live
    isSlow = false
    output.begin(recovered: sequence, latest: hub.lastSequence, in: session.followers)
    if output.mayFlow { outlet?.consumerIsReady() }
  }

  // MARK: What it is to be sent

  func queue(_ bytes: [UInt8]) {
    output.queue(bytes)
    outlet?.consumerIsReady()
  }

  func queue(_ event: LiveEvent) { queue(output.framing.bytes(event)) }

  /// The same, and gives up after a while.
  /// - Returns: whether everything is with the socket.
  func drains(within patience: Duration) async -> Bool {
    guard mustDrain else { return true }
    let timer = hub.loop.schedule(after: patience) { [weak self] in self?.resumeDrained() }
    defer { timer.cancel() }
    await waitUntilDrained()
    isSlow = mustDrain
    return !isSlow
  }

  /// Returns when everything queued is with the socket, or when the consumer is closed. That may take as long as
  /// the client likes, so others catch up meanwhile.
  func waitUntilDrained() async {
    guard mustDrain else { return }
    await hub.feed.scans.stepOut(as: session.account) {
      await withCheckedContinuation { continuation in
        // Again, in here: nobody would resume it any more.
        guard mustDrain else { return continuation.resume() }
        drained = continuation
      }
    }
  }

  private var mustDrain: Bool { output.hasQueued && state == .catchingUp }

  private func resumeDrained() {
    drained?.resume()
    drained = nil
  }

  /// Fills the buffer with what is ready. `.wait`: nothing now; its outlet will be told.
  package func pull(into buffer: inout StreamBuffer) -> Pull {
    guard state != .closed else { return .end }
    if state == .live { hub.noteRest(in: &output, of: session) }
    let fill = output.fill(&buffer, live: reader)
    if fill.deliveries > 0 { hub.countDeliveries(fill.deliveries) }
    if fill.hasDrained { resumeDrained() }
    if fill.hasLostTrack { lostTrack() }
    guard buffer.count > 0 else { return state == .ending ? .end : .wait }
    isQuiet = false
    return .bytes(buffer.count, more: output.mayFlow || state == .ending)
  }

  private var reader: ConsumerOutput.Reader? {
    guard state == .live, let read = session.read else { return nil }
    return ConsumerOutput.Reader(account: session.account, device: device, read: read)
  }
}
