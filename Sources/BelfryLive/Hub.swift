package import BelfryFeed
package import BelfryLoop
package import BelfryModel
package import BelfryStore
import BelfrySystem

/// Live delivery on one event loop: the accounts that have consumers, the spaces that these accounts follow, and the events
/// that arrive in the spaces.
///
/// Consumers are cursors, not queues. An event is rendered once into the ring of its space. Consumers pull it from there
/// when their sockets can take more, each from its own place.
package final class Hub {
  let loop: EventLoop
  let scope: LoopScope
  package let feed: FeedReader
  /// One snapshot of an account at a time, so that a later one is never replaced by an earlier.
  let snapshots = FairQueue(places: .max, perAccount: 1)
  private let subscriptions: LiveSubscriptions
  private var spaces: [SpaceID: ActiveSpace] = [:]
  private var sessions: [AccountID: AccountSession] = [:]
  /// How often a client hears of a quiet stream.
  package let heartbeatSeconds: Int
  private let heartbeats: HeartbeatWheel
  /// The number of the last thing that arrived on this loop, over all spaces.
  private(set) var lastSequence: UInt64 = 0
  private var counts = HubStatistics()
  private let ringMemory = RingMemory()
  private let heard: HeardPartitions
  /// Partitions that were away answer again.
  private let comeback = WakeUpCall()
  /// The spaces in which something arrived and some followers have not been notified of it.
  private var pendingSpaces = Queue<ActiveSpace>()
  private var hook: LoopHook?
  /// Called after each account is notified: writes to its consumers at once, while what belongs to them is in the
  /// processor's caches. Were all notified first, thousands of consumers would push each other out of the caches.
  /// Returns false if the rest has to wait for the loop's next turn.
  package var onNotified: () -> Bool = { true }
  /// Called when streams of an account that has some on this loop are to end.
  package var onEnded: ((EndedStreams) -> Void)?
  /// Called when the live channel of an account's personal space is subscribed, each time that the account is read.
  package var onHearing: ((AccountID) -> Void)?
  /// Called when the live channels are subscribed again after they were lost: something may have been missed.
  package var onHearingAgain: (() -> Void)?
  /// Called when a message for an account cannot be read. It may have said that streams are to end, and no log has that.
  package var onUnreadable: (() -> Void)?
  private(set) var isDraining = false
  /// Streams are told how much is unread at most once in so long.
  package var countsInterval: Duration = .seconds(1)

  /// Rings forget an item after one to two times so many seconds. A consumer that lags longer reads from the store.
  static let ringSeconds = 30

  package init(
    loop: EventLoop, scope: LoopScope, feed: FeedReader, live: any LiveFeed,
    heartbeatSeconds: Int = Consumer.heartbeatSeconds
  ) {
    self.heartbeatSeconds = heartbeatSeconds
    heartbeats = HeartbeatWheel(seconds: heartbeatSeconds)
    self.loop = loop
    self.scope = scope
    self.feed = feed
    subscriptions = LiveSubscriptions(live: live)
    heard = HeardPartitions(loop: loop, scope: scope, store: feed.store)
    heard.onRegained = { [weak self] in self?.takeUp($0) }
    live.onMessage = { [unowned self] space, message in receive(message, in: space) }
    live.onUnreadable = { [unowned self] space in
      if isHearing(space), let active = spaces[space] { breakOff(active) }
      if space.kind == .account { onUnreadable?() }
    }
    live.onHearingChange = { [heard] isHeard, partitions in
      if isHeard { heard.regain(partitions) } else { heard.lose(partitions) }
    }
    hook = loop.beforeWaiting(.notify) { [weak self] in self?.fanOut() }
    scope.start { [self] in await beat() }
  }

  var store: any Store { feed.store }

  /// The bytes that all rings may take in memory.
  package var ringBytesMost: Int {
    get { ringMemory.bytesMost }
    set { ringMemory.bytesMost = newValue }
  }
  /// The bytes that they take, about.
  package var ringBytes: Int { ringMemory.bytes }

  package var statistics: HubStatistics {
    var statistics = counts
    statistics.scans = feed.scanCount
    return statistics
  }

  // MARK: Following spaces

  func session(of account: AccountID) -> AccountSession {
    if let session = sessions[account] { return session }
    let session = AccountSession(account, hub: self)
    sessions[account] = session
    return session
  }

  func end(_ listener: any FeedListener, of session: AccountSession) {
    session.remove(listener)
    if session.listeners.isEmpty, sessions[session.account] === session { sessions[session.account] = nil }
  }

  func follow(_ space: SpaceID, session: AccountSession) -> SpaceFollower {
    let active = spaces[space] ?? ActiveSpace(space, ringsIn: ringMemory)
    if spaces[space] == nil {
      spaces[space] = active
      startSubscribing(active)
    }
    let follower = SpaceFollower(session, active, since: lastSequence)
    active.add(follower)
    return follower
  }

  func unfollow(_ follower: SpaceFollower) {
    let active = follower.active
    active.remove(follower)
    guard active.followers.isEmpty, spaces[active.space] === active else { return }
    spaces[active.space] = nil
    subscriptions.unsubscribe(active)
  }

  func waitUntilSubscribed(_ wanted: [SpaceID]) async throws(StoreError) {
    for space in wanted {
      guard let active = spaces[space] else {
        throw StoreError(.unavailable, "not followed", at: "subscribe \(space)")
      }
      if case .failed = active.subscription { startSubscribing(active) }
      try await subscriptions.wait(for: active)
    }
  }

  /// Tells ``onHearing`` that the account's own live channel is subscribed, if it is at this moment. A snapshot goes on after
  /// the account's last listener has left. The next listener's session may be subscribing only then: if its stream were
  /// registered at once, another broker could end that stream before this loop hears of it.
  func announceHearing(of account: AccountID) {
    guard let own = spaces[.personal(account)], case .subscribed = own.subscription else { return }
    onHearing?(account)
  }

  private func startSubscribing(_ active: ActiveSpace) {
    active.subscription = .subscribing([])
    let hasStarted = scope.start { [subscriptions] in await subscriptions.subscribe(active) }
    if !hasStarted { subscriptions.giveUp(active) }
  }

  // MARK: Arriving

  /// True if live messages of the space's partition are taken. After its channels were lost, none is until the partition
  /// answers again. Consumers then read from the store what was missed. Messages that are not stored are lost until then.
  package func isHearing(_ space: SpaceID) -> Bool { heard.isHeard(space) }

  private func receive(_ message: LiveMessage, in space: SpaceID) {
    guard isHearing(space), let active = spaces[space] else { return }
    switch message {
    case .appended(let entry, let predecessor):
      guard advance(active, to: entry.id, after: predecessor) else { return }
      let step = CursorStep(to: entry.id)
      let kind: RingItem.Kind =
        entry.updates == nil ? .entry(step) : entry.isRecalled ? .recall(step) : .update(step)
      arrive(kind, entry, .entry(entry), in: active)
    case .ephemeral(let entry):
      arrive(.ephemeral, entry, .entry(entry), in: active)
    case .read(let echo):
      for follower in active.followers { follower.session.receive(echo) }
      for event in echo.events { arrive(.read(by: echo.device), .nothing, event, in: active) }
    case .device(let echo):
      arrive(.device(echo.device), .nothing, .device(echo), in: active)
    case .memberships(let accounts):
      let changed = Set(accounts)
      for follower in active.followers where changed.contains(follower.session.account) {
        follower.session.becomeStale()
      }
    case .index:
      for follower in active.followers { follower.session.becomeStale() }
    case .ended(let streams):
      onEnded?(streams)
    }
  }

  private func arrive(_ kind: RingItem.Kind, _ entry: LogEntry, _ event: LiveEvent, in active: ActiveSpace) {
    lastSequence += 1
    counts.liveMessages += 1
    let audience = entry.audience
    // The smaller group is gone through: the named accounts or all followers.
    let isForNamedOnly = audience.rule == .named && audience.named.count < active.followers.count
    active.ring.append(
      RingItem(
        sequence: lastSequence, kind: kind, isForNamedOnly: isForNamedOnly, entry, event: event))
    ringMemory.keepWithinLimit(spaces.values, latest: lastSequence)
    if isForNamedOnly { return notify(audience.named, in: active) }
    if active.beginRound() { pendingSpaces.append(active) }
    loop.requireHooks()
  }

  /// Notifies these accounts and nobody else. The other followers pass the item with their next one, or with a heartbeat.
  private func notify(_ accounts: [AccountID], in active: ActiveSpace) {
    for account in accounts {
      guard let follower = sessions[account]?.follower(in: active.space) else { continue }
      follower.noteNamed(at: lastSequence)
      follower.session.notify(of: follower)
    }
  }

  /// Notifies the followers at the end of the loop's turn, once for everything that arrived in it.
  private func fanOut() {
    while let active = pendingSpaces.first {
      while let follower = active.nextToNotify() {
        follower.session.notify(of: follower)
        guard onNotified() else { return loop.requireHooks() }
      }
      pendingSpaces.popFirst()
    }
  }

  /// Adds to a consumer's output all spaces of its account that have something, also if the account has yet to be notified
  /// of them. Say a consumer was notified of one server, and is pulled while a second one has something older. The consumer
  /// would pass the newer entry first, and never look for the older one again.
  func noteRest(in output: inout ConsumerOutput, of session: AccountSession) {
    guard let first = pendingSpaces.first, pendingSpaces.count > 1 || !output.isReady(in: first) else {
      return
    }
    // The smaller set is gone through: the spaces with something new or the account's spaces.
    if pendingSpaces.count < session.followers.count {
      for place in 0..<pendingSpaces.count {
        guard let active = pendingSpaces[place], let follower = session.follower(in: active.space) else {
          continue
        }
        _ = output.notify(of: follower)
      }
    } else {
      for follower in session.followers where follower.active.isNotifying {
        _ = output.notify(of: follower)
      }
    }
  }

  /// True if each account has been notified of all that arrived and may be for it.
  var hasNotifiedAll: Bool { pendingSpaces.isEmpty }

  /// - Returns: false if the entry is known already, and nobody must be told of it again.
  private func advance(_ active: ActiveSpace, to id: MessageID, after predecessor: MessageID) -> Bool {
    switch active.ring.advance(to: id, after: predecessor) {
    case .next: return true
    case .known: return false
    case .afterMissed:
      breakOff(active)
      return active.ring.advance(to: id, after: predecessor) == .next
    }
  }

  /// Lets an account go on in the ring of a space whose log the account has read up to `end`.
  func join(_ follower: SpaceFollower, at end: MessageID) {
    if !follower.active.ring.join(at: end) { breakOff(follower.active) }
  }

  /// Called when a live message of the space was missed or cannot be read. All followers read from the store,
  /// beginning where nothing of the space was missed.
  private func breakOff(_ active: ActiveSpace) {
    counts.gapsSeen += 1
    let end = active.ring.end
    // The break takes a sequence number of its own. A snapshot that was begun before it has an earlier number, and
    // does not join the ring: what was missed may lie beyond that snapshot's bounds.
    lastSequence += 1
    active.ring.breakOff(at: lastSequence)
    for follower in active.followers {
      // If no account has joined the ring yet, all of them read the log anyway.
      if let end { follower.session.missed(in: active.space, since: end) }
      follower.session.lostTrack()
    }
  }

  /// While live channels were lost anything may have been missed in their spaces, also changes of memberships and indexes.
  /// Accounts that follow none of these spaces notice nothing.
  private func takeUp(_ partitions: [Partition]) {
    lastSequence += 1
    let regained = Set(partitions)
    let all = store.partitions
    for active in spaces.values where regained.contains(all.holding(active.space)) {
      active.ring.breakOff(at: lastSequence)
    }
    for session in sessions.values
    where session.followers.contains(where: { regained.contains(all.holding($0.active.space)) }) {
      session.becomeStale()
    }
    comeback.wakeAll()
    onHearingAgain?()
  }

  /// How long a consumer waits before it asks a store again that did not answer: random, so that not all ask at once.
  /// The bound grows from one end of this range to the other.
  package var storePauses = Duration.milliseconds(500)...(.seconds(4))
  private static let storePauseMin: Duration = .milliseconds(50)

  /// How often partitions that were away have answered again.
  var comebacks: Int { comeback.count }

  /// Returns before the pause is over when partitions that were away answer again.
  /// - Parameter seen: how often they had when the store was asked that did not answer.
  func pause(afterFailures failures: Int, since seen: Int) async {
    guard comebacks == seen else { return }
    let backoff = Backoff(storePauses.lowerBound, atMost: storePauses.upperBound, jitter: .full)
    let delay = backoff.delay(doublings: failures - 1, random: .random(in: 0..<1))
    try? await loop.sleep(for: max(delay, Self.storePauseMin), orUntil: comeback)
  }

  // MARK: Time

  /// Once a second: heartbeats, expired tokens, and rings that forget.
  private func beat() async {
    var seconds = 0
    while !Task.isCancelled {
      do { try await loop.sleep(for: .seconds(1)) } catch { return }
      seconds += 1
      heartbeats.beat(second: seconds, nowMilliseconds: WallClock.nowMilliseconds())
      if seconds % Self.ringSeconds == 0 {
        ringMemory.forgetOld(in: spaces.values, latest: lastSequence)
      }
    }
  }

  // MARK: Consumers

  /// Opens a consumer. Its outlet is told when there is something to send, and asks for it by
  /// ``Consumer/pull(into:)``.
  package func openConsumer(
    account: AccountID, device: DeviceID?, after cursor: FeedCursor?, expiresAtMilliseconds: Int64,
    wantsCounts: Bool = false, framing: any EventFraming
  ) throws(Refusal) -> Consumer {
    if isDraining { throw Refusal(.unavailable, "this broker is shutting down", retryAfterSeconds: 1) }
    let session = session(of: account)
    let consumer = Consumer(
      hub: self, session: session, device: device, cursor: cursor,
      expiresAtMilliseconds: expiresAtMilliseconds, wantsCounts: wantsCounts, framing: framing)
    session.add(consumer)
    heartbeats.add(consumer)
    counts.consumers += 1
    consumer.begin()
    return consumer
  }

  func close(_ consumer: Consumer, session: AccountSession) {
    heartbeats.remove(consumer)
    counts.consumers -= 1
    end(consumer, of: session)
  }

  /// Tells every consumer to come back to another broker, and ends it. Requests that wait are answered with what
  /// there is.
  package func drain() {
    isDraining = true
    for session in sessions.values {
      for listener in session.listeners { listener.sendAway() }
    }
  }

  func countDeliveries(_ count: Int) { counts.deliveries += count }
}

extension LogEntry {
  /// The entry of an event that is about no entry.
  fileprivate static let nothing = LogEntry(id: .zero, audience: Audience(.all), contentJSON: "{}")
}

/// The counters of the hub since it began, and its number of consumers.
package struct HubStatistics: Sendable, Hashable, Codable {
  package var consumers = 0
  package var liveMessages = 0
  /// Notifications written to consumers, one for each consumer.
  package var deliveries = 0
  package var scans = 0
  /// How often a live message was missed and consumers had to catch up. Not the gaps that clients are told of.
  package var gapsSeen = 0
}
