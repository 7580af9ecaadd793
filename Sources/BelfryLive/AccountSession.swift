import BelfryFeed
import BelfryLoop
import BelfryModel
import BelfryStore

/// A consumer or a waiting request, which is told when its account's feed may have something new.
protocol FeedListener: AnyObject {
  /// Something arrived in a space of the account.
  func notify(of follower: SpaceFollower)
  /// The account's spaces or memberships changed, or live messages were missed: the listener has to read from the
  /// store.
  func lostTrack()
  /// Something that came after this id in the space was missed.
  func missed(in space: SpaceID, since id: MessageID)
  /// Clients are told of a mark that they take for a mark of everything, and something up to there is not read.
  func droppedUnread()
  /// The store has said of an entry whether it is marked, which the listener may have been waiting for.
  func learnedOfMarks()
  /// The broker is shutting down.
  func sendAway()
}

/// An account with at least one listener on this loop. The session keeps the account's read state and memberships up
/// to date, and the live channels of its spaces subscribed.
final class AccountSession {
  let account: AccountID
  private unowned let hub: Hub
  /// Nil before the first snapshot. A session keeps only the watermarks of a snapshot and, in the followers, the
  /// memberships. There are as many sessions as accounts with streams, so they have to be small.
  private var marks: SessionMarks?
  /// Nil for an account that has never set any.
  private var preferences: PreferencesInForce?
  private(set) var listeners: [any FeedListener] = []
  /// How often the index or the memberships have changed, or may have while live messages were lost. A catch-up that
  /// began in an earlier generation begins again.
  private(set) var generation = 0
  private var spaces: [SpaceID: SpaceFollower] = [:]
  /// Counts what is unread; nil until a stream asks for it.
  private var tally: UnreadTally?
  /// The marks that arrived while a snapshot is taken, which may have read the read state before them. Nil while none is taken.
  private var echoes: [ReadEcho]?

  init(_ account: AccountID, hub: Hub) {
    self.account = account
    self.hub = hub
  }

  func add(_ listener: any FeedListener) { listeners.append(listener) }

  func remove(_ listener: any FeedListener) {
    listeners.removeAll { $0 === listener }
    guard listeners.isEmpty else { return }
    letGo(allBut: [])
    preferences?.end?.cancel()
  }

  /// Tells the consumer how much is unread, now and whenever that changes.
  func tellCounts(to consumer: Consumer) {
    let tally = tally ?? UnreadTally(hub: hub, session: self)
    self.tally = tally
    tally.add(consumer)
  }

  func tellCountsNoMore(to consumer: Consumer) {
    tally?.remove(consumer)
    if tally?.isWatched == false { tally = nil }
  }

  /// For whom it is decided what of the rings is shown; nil before the first snapshot.
  func reader(on device: DeviceID?) -> ConsumerOutput.Reader? {
    marks.map {
      ConsumerOutput.Reader(
        account: account, device: device, marks: $0, preferences: preferences?.values ?? Preferences(),
        store: hub.store)
    }
  }

  /// The read state, as far as it is known here; nil before the first snapshot.
  var read: ReadState? { marks?.state }

  /// The spaces that are followed, for a consumer that begins to read from their rings.
  var followers: Dictionary<SpaceID, SpaceFollower>.Values { spaces.values }

  func follower(in space: SpaceID) -> SpaceFollower? { spaces[space] }

  // MARK: Arriving

  /// Applies a mark before any listener is told of it, so that everything shown from now on is judged by it.
  func receive(_ echo: ReadEcho) {
    echoes?.append(echo)
    let isLate = isLate(echo)
    apply(echo)
    if isLate { for listener in listeners { listener.droppedUnread() } }
  }

  /// True for a mark of everything that may have been made before the index learned of a space that it did not cover. The
  /// snapshot has the mark and the space, and a scan may have shown what is not read there. Clients drop that when they are told
  /// of the mark. The space lags only if something of its partition was marked before.
  ///
  /// A mark that was made later was decided with the space, and leaves nothing unread up to its end.
  private func isLate(_ echo: ReadEcho) -> Bool {
    guard echo.upTo != nil, let marks else { return false }
    return marks.isOutdated(echo)
  }

  /// Something arrived in a space of the account.
  func notify(of follower: SpaceFollower) {
    for listener in listeners { listener.notify(of: follower) }
    tally?.notify(of: follower)
  }

  private func apply(_ echo: ReadEcho) {
    marks?.apply(echo, hub.store.partitions)
  }

  /// Asks the store whether the account has marked an entry, which a listener waits to know.
  func askForMark(of id: MessageID, in space: SpaceID) {
    guard marks?.beginQuestion(about: id) == true else { return }
    // Both are held: the account's last stream may have gone before the work begins.
    let hasStarted = hub.scope.start { [self, store = hub.store] in
      let generation = marks?.generation
      do throws(StoreError) {
        let answer = try await store.readState(of: account, among: [id])
        if marks?.generation == generation { marks?.applyAnswer(answer, about: id, in: space) }
        marks?.endQuestion(about: id)
        for listener in listeners { listener.learnedOfMarks() }
      } catch {
        marks?.endQuestion(about: id)
        // To catch up waits until the store is back, and asks it about all it reads.
        lostTrack()
      }
    }
    if !hasStarted { marks?.endQuestion(about: id) }
  }

  /// Called when the account's index or memberships have changed, or may have.
  func becomeStale() {
    generation += 1
    lostTrack()
  }

  /// Something that came after this id in the space was missed.
  func missed(in space: SpaceID, since id: MessageID) {
    for listener in listeners { listener.missed(in: space, since: id) }
  }

  /// Has all listeners read from the store.
  func lostTrack() {
    for listener in listeners { listener.lostTrack() }
    tally?.lostTrack()
  }

  // MARK: The account as it is

  /// Takes a snapshot of the account, with the live channels of all its spaces subscribed.
  /// - Parameter asker: the listener that goes by the snapshot; nil for one that is no listener.
  func snapshot(for asker: (any FeedListener)?) async throws(StoreError) -> FeedSnapshot {
    try await hub.snapshots.pass(as: account) { () async throws(StoreError) in
      let sequence = self.hub.lastSequence
      self.echoes = []
      defer { self.echoes = nil }
      try await self.follow([.personal(self.account)])
      self.hub.announceHearing(of: self.account)
      let snapshot = try await FeedSnapshot.take(of: self.account, from: self.hub.store) {
        (spaces) throws(StoreError) in
        self.letGo(allBut: Set(spaces + [.personal(self.account)]))
        try await self.follow(spaces)
      }
      let isFirst = self.marks == nil
      if isFirst {
        self.marks = SessionMarks(snapshot)
      } else {
        self.marks?.renewMarks(from: snapshot)
      }
      for echo in self.echoes ?? [] { self.apply(echo) }
      self.joinRings(snapshot, since: sequence)
      // The account's other listeners go by these memberships, too. They would be shown live entries of a membership
      // interval that their cursors have not taken into account, and once more when they have. So all catch up again. Before
      // the first snapshot, nobody goes by another one.
      let isOtherwise = self.take(snapshot.view.preferences, at: snapshot.takenAtMilliseconds)
      if self.takeMemberships(of: snapshot.view) || isOtherwise {
        // The asker may have gone meanwhile.
        let hasOthers = self.listeners.contains { $0 !== asker }
        if hasOthers, !isFirst { self.becomeStale() } else { self.tally?.lostTrack() }
      }
      return snapshot
    }
  }

  /// - Returns: true if the account wants to hear something else than before.
  private func take(_ new: Preferences, at now: Int64) -> Bool {
    preferences?.end?.cancel()
    let old = preferences
    let change = new.lastChange(nowMilliseconds: now)
    let end = new.nextEnd(after: now).flatMap { end in
      // At its end all devices read again, as at any other change.
      listeners.isEmpty
        ? nil : hub.loop.schedule(after: .milliseconds(end - now + 1)) { [weak self] in self?.becomeStale() }
    }
    preferences = new == Preferences() ? nil : PreferencesInForce(new, change: change, end: end)
    // One may have ended, and this snapshot came before its timer ran.
    return new != old?.values ?? Preferences() || change != old?.change ?? .zero
  }

  private func joinRings(_ snapshot: FeedSnapshot, since sequence: UInt64) {
    for (space, end, _) in snapshot.ends {
      // A ring that broke off while the snapshot was taken is not joined: what was missed may lie beyond the
      // snapshot.
      guard let follower = spaces[space], follower.active.ring.droppedThrough <= sequence else { continue }
      hub.join(follower, at: end)
    }
  }

  /// - Returns: true if a membership has changed.
  private func takeMemberships(of view: AccountView) -> Bool {
    var isAnyNew = false
    for (space, follower) in spaces {
      let membership = view.memberships[space] ?? .never
      if follower.membership != membership { isAnyNew = true }
      follower.membership = membership
    }
    return isAnyNew
  }

  private func follow(_ wanted: [SpaceID]) async throws(StoreError) {
    // The last listener may have gone while this waited. Then nothing else would unfollow these spaces.
    defer { if listeners.isEmpty { letGo(allBut: []) } }
    for space in wanted where spaces[space] == nil {
      spaces[space] = hub.follow(space, session: self)
    }
    try await hub.waitUntilSubscribed(wanted)
  }

  private func letGo(allBut wanted: Set<SpaceID>) {
    for (space, follower) in spaces where !wanted.contains(space) {
      hub.unfollow(follower)
      spaces[space] = nil
    }
  }
}

/// An object, since most accounts have no preferences, and there are as many sessions as accounts with streams.
private final class PreferencesInForce {
  let values: Preferences
  /// The latest change: by the account, or since one has ended.
  let change: MessageID
  /// Until one of them ends.
  let end: LoopTimer?

  init(_ values: Preferences, change: MessageID, end: LoopTimer?) {
    (self.values, self.change, self.end) = (values, change, end)
  }
}
