import BelfryFeed
package import BelfryModel
import BelfryStore

/// One open stream: a cursor into its account's feed, and never a queue.
///
/// A consumer is in one of two states. Catching up, it reads the entries between its cursor and now from the store: some at
/// a time, and more when the socket has taken those. Live, it takes from the rings the events that arrived after its place
/// there. It keeps that place while it catches up, since marks, echoes of other devices and ephemeral notifications are in
/// no log. One remedy serves all unusual situations (the consumer fell behind a ring, its account joined or left a space,
/// Redis was away): the consumer catches up again, from its cursor.
package final class Consumer: FeedListener {
  /// The connection that sends the consumer's bytes. An object and not a closure, so that notifying a consumer
  /// fetches nothing from memory but the consumer and its connection: for thousands in a row, those fetches are the
  /// cost.
  package protocol Outlet: AnyObject {
    /// There is something to be pulled.
    func consumerIsReady()
    /// Called in the interval of heartbeats, for a transport that asks its client whether it is there.
    func consumerBeats()
  }

  package enum Pull: Sendable, Hashable {
    /// So many bytes are in the buffer. `more`: whether more may follow at once; otherwise the outlet is told when.
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
  package let device: DeviceID?
  /// The outlet holds the consumer, so the consumer lets go of the outlet when it is closed.
  package var outlet: (any Outlet)?
  let expiresAtMilliseconds: Int64
  var heartbeatSlot = 0

  var state = State.catchingUp
  /// Why the broker ended it; nil while it has not.
  package private(set) var kickReason: KickReason?
  var output: ConsumerOutput
  /// True if the client has had a stream before. Then it may hold notifications that were read meanwhile.
  var isResuming: Bool
  /// The id from which on the client is promised every entry. Zero for a client with a cursor, which says what it was
  /// shown. For a client that came without one, the beginning of retention when it came, until its first catch-up is
  /// complete; nil until that is known.
  var promisedFrom: MessageID?
  var sentGap: FeedGap?
  /// The latest change of the account's preferences that this consumer goes by; nil before its first catch-up.
  var preferredSince: MessageID?
  /// Up to which id the scan under way reads each partition. If the scan was given up, the cursor says how far it came.
  var scanBounds: [Partition: MessageID] = [:]
  /// Lagging spaces for which the cursor has no room, each with the id up to which it was served. The scan under way serves
  /// them, too. A client that is cut off before its end comes back with a cursor that does not know of them, and misses what
  /// was yet to be served there.
  var furtherLagging: [SpaceID: MessageID] = [:]
  /// The places when the latest scan was complete, or with which the client came: everything up to there was served, in all
  /// spaces. The cursor of a client is believed, also if a live message was missed before the client had it: mostly another
  /// broker has shown the entry, and the message is still on its way to this one.
  var servedThrough: FeedPlaces
  /// True if the client may hold notifications that its cursor has not passed. Then it is told to drop all that it holds.
  var mustStartOver = false
  /// How often the cursor was set back. A scan that began before that has not read everything it has to, and starts again.
  private(set) var setbacks = 0
  private var drained: CheckedContinuation<Void, Never>?
  private var isCatchUpRunning = false
  /// Nil for a client that does not want to be told how much is unread.
  private let counts: CountsToTell?
  /// True if a scan was given up because the client reads slowly. Reset when the consumer is live.
  var isSlow = false

  init(
    hub: Hub, session: AccountSession, device: DeviceID?, cursor: FeedCursor?, expiresAtMilliseconds: Int64,
    wantsCounts: Bool, framing: any EventFraming
  ) {
    self.hub = hub
    self.session = session
    self.device = device
    output = ConsumerOutput(cursor ?? FeedCursor(), after: hub.lastSequence, framing: framing)
    counts = wantsCounts ? CountsToTell() : nil
    servedThrough = output.cursor.places
    isResuming = cursor != nil
    promisedFrom = cursor.map { _ in .zero }
    self.expiresAtMilliseconds = expiresAtMilliseconds
  }

  package var account: AccountID { session.account }

  /// How long a client is asked to wait before it comes back. Each another time, or all would come back at once.
  package static func reconnectDelayMilliseconds() -> Int { Int.random(in: 1_000...5_000) }

  func begin() {
    let delay = output.framing.reconnectDelay(milliseconds: Self.reconnectDelayMilliseconds())
    if !delay.isEmpty { queue(delay) }
    lostTrack()
    if counts != nil { session.tellCounts(to: self) }
  }

  /// The client has gone, or the stream has ended.
  package func close() {
    guard state != .closed else { return }
    state = .closed
    outlet = nil
    resumeDrained()
    if counts != nil { session.tellCountsNoMore(to: self) }
    hub.close(self, session: session)
  }

  // MARK: Events around it

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
    // Held here, since the hub may be gone when the catch-up ends.
    let scans = hub.feed.scans
    scans.enter(as: session.account) { [self] in
      isCatchUpRunning =
        state == .catchingUp
        && hub.scope.start { [self] in
          // The consumer may lose track again in the very moment in which it becomes live.
          while state == .catchingUp, !Task.isCancelled { await catchUp() }
          isCatchUpRunning = false
          scans.leave(as: session.account)
        }
      return isCatchUpRunning
    }
  }

  /// Sets the cursor back in the space if it has passed what was missed, as it has one position for all spaces of a
  /// partition.
  func missed(in space: SpaceID, since id: MessageID) {
    let partitions = hub.store.partitions
    let place = output.cursor.position(in: space, partitions)
    let known = max(id, min(servedByStore(in: space), place))
    guard known < place else { return }
    if !output.cursor.addLagging(space, since: known, partitions) {
      // The cursor has no room for another lagging space. The whole partition goes back, and the cursor does not say any more
      // what the client was shown in its other spaces. Without starting over the client would be shown some of that twice, and
      // would not be told if it was recalled.
      output.cursor.goBack(to: known, in: partitions.holding(space), partitions)
      mustStartOver = true
    }
    setbacks += 1
  }

  /// Catches up as a client that comes back: it is told of the mark once more, and then shown what is not read up to there.
  func droppedUnread() {
    guard state == .live || state == .catchingUp else { return }
    isResuming = true
    setbacks += 1
    lostTrack()
  }

  /// Up to which id the store has served the space, or is about to. Entries up to there may still be on their way to the
  /// ring: if one of their messages is missed, nothing is missing.
  func servedByStore(in space: SpaceID) -> MessageID {
    let partitions = hub.store.partitions
    return max(
      scanBounds[partitions.holding(space)] ?? .zero, servedThrough.position(in: space, partitions))
  }

  /// Goes on with what came next and was held up.
  func learnedOfMarks() {
    guard state == .live, output.mayFlow else { return }
    outlet?.consumerIsReady()
  }

  /// How often a client hears of a quiet stream, unless its hub says otherwise.
  package static let heartbeatSeconds = HeartbeatWheel.heartbeatSeconds

  /// Sends a heartbeat, also on a stream that is busy: then a client never waits longer than the interval for a byte.
  /// A client that has yet to take what came before gets none, or heartbeats would pile up for it.
  func beat() {
    outlet?.consumerBeats()
    if state == .live, hub.hasNotifiedAll {
      output.passOthersItems(in: session.followers, latest: hub.lastSequence)
    }
    guard !output.hasQueued, !output.framing.heartbeat.isEmpty else { return }
    queue(output.framing.heartbeat)
  }

  func sendAway() { kick(.shutdown) }

  /// - Parameter device: the one whose stream takes its place.
  package func kick(_ reason: KickReason, by device: DeviceID? = nil) {
    guard state == .live || state == .catchingUp else { return }
    state = .ending
    kickReason = reason
    queue(.kicked(reason, by: device))
    resumeDrained()
  }

  /// Becomes live at the end of a catch-up that began when `sequence` was the latest.
  func goLive(recovered sequence: UInt64) {
    state = .live
    isSlow = false
    output.begin(recovered: sequence, latest: hub.lastSequence, in: session.followers)
    if output.mayFlow { outlet?.consumerIsReady() }
  }

  // MARK: Events to send

  func queue(_ bytes: [UInt8]) {
    output.queue(bytes)
    outlet?.consumerIsReady()
  }

  func queue(_ event: LiveEvent) { queue(output.framing.bytes(event)) }

  /// Tells how much is unread. A client that has yet to take what came before is told the latest then: counts do not
  /// pile up.
  func tell(_ unread: UnreadCounts) {
    guard state == .live || state == .catchingUp else { return }
    counts?.late = unread
    if !output.hasQueued { queueLateCounts() }
  }

  private func queueLateCounts() {
    guard let late = counts?.late else { return }
    counts?.late = nil
    queue(.counts(late))
  }

  /// Waits until everything queued is with the socket, but no longer than `patience`.
  /// - Returns: true if everything is with the socket.
  func drains(within patience: Duration) async -> Bool {
    guard mustDrain else { return true }
    // Held until the timer is cancelled below. A weak reference would cost each consumer some memory for as long as it lives.
    let timer = hub.loop.schedule(after: patience) { [self] in resumeDrained() }
    defer { timer.cancel() }
    await waitUntilDrained()
    isSlow = mustDrain
    return !isSlow
  }

  /// Returns when everything queued is with the socket, or when the consumer is closed. A client may take as long as
  /// it likes for that, so the consumer's place among the scans goes to others meanwhile.
  func waitUntilDrained() async {
    guard mustDrain else { return }
    await hub.feed.scans.stepOut(as: session.account) {
      await withCheckedContinuation { continuation in
        // Checked again in here: if it has drained meanwhile, nobody would resume the continuation.
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

  /// True if what was pulled last ends within an event.
  package var isWithinEvent: Bool { output.isWithinEvent }

  /// Fills the buffer with what is ready. `.wait`: nothing is; the outlet will be told when something is.
  package func pull(into buffer: inout StreamBuffer) -> Pull {
    guard state != .closed else { return .end }
    if state == .live { hub.noteRest(in: &output, of: session) }
    let fill = output.fill(&buffer, live: reader)
    if fill.deliveries > 0 { hub.countDeliveries(fill.deliveries) }
    if fill.hasDrained {
      resumeDrained()
      if state == .live || state == .catchingUp { queueLateCounts() }
    }
    if fill.hasLostTrack { lostTrack() }
    if let (id, space) = fill.doubtful { session.askForMark(of: id, in: space) }
    guard buffer.count > 0 else { return state == .ending ? .end : .wait }
    return .bytes(buffer.count, more: output.mayFlow || state == .ending)
  }

  private var reader: ConsumerOutput.Reader? {
    state == .live ? session.reader(on: device) : nil
  }
}

/// An object, so that the many consumers without counts have no room for them.
private final class CountsToTell {
  /// How much is unread, if that is to be told once the client has taken what came before.
  var late: UnreadCounts?
}
