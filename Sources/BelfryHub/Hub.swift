package import BelfryLoop
package import BelfryModel
package import BelfryStore

/// Who gets what, live, on one event loop: the spaces that somebody follows, the accounts that follow
/// them, and everything that arrives in between.
///
/// Consumers are cursors, not queues (DESIGN §7). What arrives is rendered once into the ring of its
/// space; consumers pull from there when their sockets can take more, each from its own place.
package final class Hub {
  let loop: EventLoop
  let scope: LoopScope
  package let store: any Store
  let limits: Limits
  let live: any LiveFeed
  let scans = FairQueue(places: Hub.scansAtOnce, perAccount: Hub.scansAtOncePerAccount)
  /// One snapshot of an account at a time, so that a later one is never replaced by an earlier.
  let snapshots = FairQueue(places: .max, perAccount: 1)
  private let subscriptions: Subscriptions
  private var spaces: [SpaceID: ActiveSpace] = [:]
  private var sessions: [AccountID: AccountSession] = [:]
  private let heartbeats = HeartbeatWheel()
  private(set) var sequence: UInt64 = 0
  package private(set) var statistics = HubStatistics()
  private var ringHorizon: UInt64 = 0
  /// Not while the live channels are lost, nor while they return one after the other: what is heard in one of them
  /// would be passed by cursors that have yet to learn what was said in the others.
  private var isHearing = true
  /// Those where something arrived that not everybody has been told of.
  private var unnotified = Queue<ActiveSpace>()
  private var hook: LoopHook?
  /// Lets those who were told be sent it at once, while all that belongs to them is at hand: told together first,
  /// thousands push each other's out of the processor's caches. False: the rest is for the loop's next turn.
  package var onNotified: () -> Bool = { true }
  private(set) var isDraining = false

  /// When ten thousand consumers come back at once, this many read from the store at a time; the others
  /// wait their turn instead of filling the pipeline that everybody's commands go through.
  static let scansAtOnce = 64
  /// Enough for somebody's devices to come back together, and so few that whoever asks for dozens of pages at once
  /// leaves nearly all of Redis's answers to others.
  static let scansAtOncePerAccount = 4
  /// Rings forget after this many seconds; a consumer that lags longer reads from the store.
  static let ringSeconds = 30

  package init(
    loop: EventLoop, scope: LoopScope, store: any Store, live: any LiveFeed, limits: Limits
  ) {
    self.loop = loop
    self.scope = scope
    self.store = store
    self.live = live
    self.limits = limits
    subscriptions = Subscriptions(live: live)
    live.onMessage = { [unowned self] space, message in receive(message, in: space) }
    live.onUnreadable = { [unowned self] space in
      if isHearing, let active = spaces[space] { breakOff(active) }
    }
    live.onConnected = { [unowned self] isConnected in connectionChanged(isConnected) }
    hook = loop.beforeWaiting { [weak self] in self?.notify() }
    scope.start { [self] in await beat() }
  }

  // MARK: Following

  func session(of account: AccountID) -> AccountSession {
    if let session = sessions[account] { return session }
    let session = AccountSession(account, hub: self)
    sessions[account] = session
    return session
  }

  func end(_ follower: any FeedFollower, of session: AccountSession) {
    session.remove(follower)
    if session.followers.isEmpty, sessions[session.account] === session { sessions[session.account] = nil }
  }

  func follow(_ space: SpaceID, session: AccountSession) -> FollowedSpace {
    let active = spaces[space] ?? ActiveSpace(space)
    if spaces[space] == nil {
      spaces[space] = active
      startSubscribing(space)
    }
    let followed = FollowedSpace(session, active, since: sequence)
    active.add(followed)
    return followed
  }

  func unfollow(_ followed: FollowedSpace) {
    let active = followed.active
    active.remove(followed)
    guard active.followedSpaces.isEmpty, spaces[active.space] === active else { return }
    spaces[active.space] = nil
    subscriptions.unsubscribe(active.space)
  }

  func waitUntilSubscribed(_ wanted: [SpaceID]) async throws(StoreError) {
    for space in wanted {
      if subscriptions.hasFailed(space) { startSubscribing(space) }
      try await subscriptions.wait(for: space)
    }
  }

  private func startSubscribing(_ space: SpaceID) {
    subscriptions.begin(space)
    let hasStarted = scope.start { [subscriptions] in await subscriptions.subscribe(space) }
    if !hasStarted { subscriptions.giveUp(space) }
  }

  // MARK: What arrives

  private func receive(_ message: LiveMessage, in space: SpaceID) {
    guard isHearing, let active = spaces[space] else { return }
    switch message {
    case .appended(let entry, let predecessor):
      advance(active, to: entry.id, after: predecessor)
      let (step, isNew) = (CursorStep(to: entry.id), entry.updates == nil)
      arrive(isNew ? .entry(step) : .update(step), entry, EventText.upToID(entry), in: active)
    case .ephemeral(let entry):
      arrive(.ephemeral, entry, EventText.ephemeral(entry), in: active)
    case .read(let echo):
      arrive(.read(echo), .nothing, EventText.read(echo), in: active)
    case .device(let echo):
      arrive(.device(echo), .nothing, EventText.device(echo), in: active)
    case .memberships(let accounts):
      let changed = Set(accounts)
      for followed in active.followedSpaces where changed.contains(followed.session.account) {
        followed.session.becomeStale()
      }
    case .index:
      for followed in active.followedSpaces { followed.session.becomeStale() }
    }
  }

  private func arrive(_ kind: RingItem.Kind, _ entry: LogEntry, _ bytes: [UInt8], in active: ActiveSpace) {
    sequence += 1
    statistics.liveMessages += 1
    let item = RingItem(
      sequence: sequence, kind: kind, id: entry.notificationID, audience: entry.audience, bytes: bytes)
    active.ring.append(item)
    if case .read(let echo) = kind {
      for followed in active.followedSpaces { followed.session.receive(echo) }
    }
    if active.beginRound() { unnotified.append(active) }
    loop.requireHooks()
  }

  /// At the end of the loop's turn, so that what came together is told once.
  private func notify() {
    while let active = unnotified.first {
      while let followed = active.nextToNotify() {
        followed.session.notify(of: followed)
        guard onNotified() else { return loop.requireHooks() }
      }
      unnotified.popFirst()
    }
  }

  /// Lets a consumer know of all that has arrived in its account's spaces, also where it has yet to be told. Say it
  /// was told of one server, and pulled when a second had something older that it was not told of: having passed
  /// what is newer it would never look for the older again.
  func notifyRest(to output: inout ConsumerOutput, of session: AccountSession) {
    guard let first = unnotified.first, unnotified.count > 1 || !output.isReady(in: first) else { return }
    // Whichever are fewer: an account may be in many spaces, and many may have something new.
    if unnotified.count < session.followedSpaces.count {
      for place in 0..<unnotified.count {
        guard let active = unnotified[place], let followed = session.followed(of: active.space) else {
          continue
        }
        _ = output.notify(of: followed)
      }
    } else {
      for followed in session.followedSpaces where followed.active.isNotifying {
        _ = output.notify(of: followed)
      }
    }
  }

  private func advance(_ active: ActiveSpace, to id: MessageID, after predecessor: MessageID) {
    guard !active.ring.advance(to: id, after: predecessor) else { return }
    breakOff(active)
    _ = active.ring.advance(to: id, after: predecessor)
  }

  /// An account goes on in the ring of a space, whose log it has seen up to `end`.
  func join(_ followed: FollowedSpace, at end: MessageID) {
    if !followed.active.ring.join(at: end) { breakOff(followed.active) }
  }

  /// Something was said in the space that nobody here has taken in, an entry or anything else. Everybody there goes
  /// by the store, from where nothing of the space was missed.
  private func breakOff(_ active: ActiveSpace) {
    statistics.gapsSeen += 1
    let end = active.ring.end
    // An arrival of its own: whoever was on the way to this ring is late for it, too.
    sequence += 1
    active.ring.breakOff(at: sequence)
    for followed in active.followedSpaces {
      for follower in followed.session.followers {
        // If nobody has joined the ring yet, all will read the log anyway.
        if let end { follower.missed(in: active.space, since: end) }
        follower.lostTrack()
      }
    }
  }

  /// While the subscriptions were down anything may have been missed, control messages included.
  private func connectionChanged(_ isConnected: Bool) {
    isHearing = isConnected
    guard isConnected else { return }
    sequence += 1
    for active in spaces.values { active.ring.breakOff(at: sequence) }
    for session in sessions.values { session.becomeStale() }
  }

  // MARK: Time

  /// Once a second: heartbeats, expired tokens, and rings that forget.
  private func beat() async {
    var seconds = 0
    while !Task.isCancelled {
      do { try await loop.sleep(for: .seconds(1)) } catch { return }
      seconds += 1
      heartbeats.beat(second: seconds, nowMilliseconds: wallClockMilliseconds())
      if seconds % Self.ringSeconds == 0 {
        for active in spaces.values { active.ring.drop(through: ringHorizon) }
        ringHorizon = sequence
      }
    }
  }

  // MARK: Consumers

  /// Opens a consumer. What it is to be sent is asked for by `pull`; its outlet is told when there is some.
  package func openConsumer(
    account: AccountID, device: DeviceID?, after cursor: FeedCursor?, expiresAtMilliseconds: Int64
  ) throws(Refusal) -> Consumer {
    if isDraining { throw Refusal(.unavailable, "this broker is shutting down", retryAfterSeconds: 1) }
    let session = session(of: account)
    let consumer = Consumer(
      hub: self, session: session, device: device, cursor: cursor,
      expiresAtMilliseconds: expiresAtMilliseconds)
    session.add(consumer)
    heartbeats.add(consumer)
    statistics.consumers += 1
    consumer.begin()
    return consumer
  }

  func close(_ consumer: Consumer, session: AccountSession) {
    heartbeats.remove(consumer)
    statistics.consumers -= 1
    end(consumer, of: session)
  }

  /// Every consumer is told to come back, to another broker, and is ended; requests that wait for something
  /// get what there is.
  package func drain() {
    isDraining = true
    for session in sessions.values {
      for follower in session.followers { follower.sendAway() }
    }
  }

  func count(_ change: (inout HubStatistics) -> Void) { change(&statistics) }
}

extension LogEntry {
  /// In the place of the entry, of what is about none.
  fileprivate static let nothing = LogEntry(id: .zero, audience: Audience(.all), contentJSON: "{}")
}

/// What the hub has done since it began, and what it holds.
package struct HubStatistics: Sendable, Hashable, Codable {
  package var consumers = 0
  package var liveMessages = 0
  package var deliveries = 0
  package var scans = 0
  package var gapsSeen = 0
}
