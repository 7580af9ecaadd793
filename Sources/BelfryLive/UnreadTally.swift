import BelfryFeed
import BelfryLoop
import BelfryModel
import BelfryStore

/// Counts how much an account has unread, for those of its streams that asked to be told.
///
/// An arriving notification is added to the last count as it comes through the rings. Everything that lowers the number
/// (marks, changes of memberships, missed messages) leads to another count from the store. So the numbers are the feed's at
/// any time, and a busy space costs no reading. A stream is told of counts at intervals, even if they change faster.
final class UnreadTally {
  private unowned let hub: Hub
  private unowned let session: AccountSession
  private var watchers: [Consumer] = []
  private var counts = UnreadCounts()
  /// Nil before the first count.
  private var told: UnreadCounts?
  /// Up to these ids the last count has read the logs.
  private var countedThrough: [Partition: MessageID] = [:]
  /// Up to where the rings were added.
  private var places = RingPlaces(after: 0)
  /// When the first of what was counted expires, milliseconds since 1970.
  private var firstExpiry: Int64?
  private var needsCount = true
  private var isCounting = false
  private var timer: LoopTimer?
  private var mayTellAt = ContinuousClock.now
  private var mayCountAt = ContinuousClock.now

  /// After a count that has read many entries, the next one waits this long for each of them. So counting takes at most a
  /// hundredth of a loop's time for one account. An account with ten thousand unread is counted again after ten seconds.
  private static let pausePerEntry = Duration.milliseconds(1)

  init(hub: Hub, session: AccountSession) {
    self.hub = hub
    self.session = session
  }

  var isWatched: Bool { !watchers.isEmpty }

  func add(_ consumer: Consumer) {
    watchers.append(consumer)
    if let told {
      consumer.tell(told)
      // This stream, too, is told once in an interval.
      mayTellAt = max(mayTellAt, .now + hub.countsInterval)
    }
    plan()
  }

  func remove(_ consumer: Consumer) {
    watchers.removeAll { $0 === consumer }
    guard watchers.isEmpty else { return }
    timer?.cancel()
    timer = nil
  }

  // MARK: Events around it

  /// Something arrived in a space of the account.
  func notify(of follower: SpaceFollower) {
    add(from: follower)
    plan()
  }

  /// The account's spaces or memberships changed, or live messages were missed.
  func lostTrack() {
    needsCount = true
    plan()
  }

  /// Adds what has arrived in a ring since it was last looked at.
  private func add(from follower: SpaceFollower) {
    guard isWatched, !needsCount, !isCounting, let reader = session.reader(on: nil) else { return }
    let space = follower.active.space
    guard let items = places.take(from: follower) else { return needsCount = true }
    for item in items {
      switch item.kind {
      case .entry(let step):
        guard step.id > countedThrough[step.id.partition] ?? .zero,
          reader.sees(item, in: space, by: follower.membership)
        else { continue }
        counts.add(item.type, in: space, countsInBadge: item.countsInBadge)
        if let time = item.audience.expiresAt { firstExpiry = min(time, firstExpiry ?? time) }
      case .read, .recall: needsCount = true
      case .update, .ephemeral, .device: continue
      }
    }
  }

  // MARK: Counting and telling

  /// Has what is to be done next done when it may be.
  private func plan() {
    guard isWatched, !isCounting else { return }
    timer?.cancel()
    timer = nil
    if needsCount {
      wait(until: mayCountAt) { $0.beginCount() }
    } else if counts != told {
      wait(until: mayTellAt) { $0.tell() }
    } else if let expiry = firstExpiry {
      let rest = expiry - (hub.store.estimatedMilliseconds ?? expiry)
      wait(until: max(mayCountAt, .now + .milliseconds(max(rest, 0) + 1))) { $0.beginCount() }
    }
  }

  private func wait(until due: ContinuousClock.Instant, _ work: @escaping (UnreadTally) -> Void) {
    timer = hub.loop.schedule(after: max(due - .now, .zero)) { [weak self] in
      guard let self else { return }
      timer = nil
      work(self)
    }
  }

  private func beginCount() {
    guard isWatched, !isCounting else { return }
    isCounting = true
    // The work begins in a later job. The account's last stream may have gone since, and its session with it, so the
    // work keeps the session.
    let hasStarted = hub.scope.start { [self, session] in
      do throws(StoreError) {
        try await count(for: session)
      } catch {
        needsCount = true
        mayCountAt = .now + Self.pauseAfterFailure
      }
      isCounting = false
      plan()
    }
    if !hasStarted { isCounting = false }
  }

  /// A store that did not answer is asked again after so long.
  private static let pauseAfterFailure = Duration.seconds(1)

  private func count(for session: AccountSession) async throws(StoreError) {
    guard isWatched else { return }
    needsCount = false
    let sequence = hub.lastSequence
    let snapshot = try await session.snapshot(for: nil)
    let count = try await hub.feed.count(in: snapshot)
    guard isWatched else { return }
    (counts, firstExpiry) = (count.counts, count.firstExpiry)
    countedThrough = snapshot.lastIDs
    places = RingPlaces(after: sequence)
    let pause = max(Self.pausePerEntry * count.entriesRead, hub.countsInterval)
    mayCountAt = .now + pause
    isCounting = false
    for follower in session.followers { add(from: follower) }
  }

  private func tell() {
    guard counts != told else { return }
    // A notification that was counted may have expired while this waited.
    if hasExpired, mayCountAt <= .now {
      needsCount = true
      return plan()
    }
    told = counts
    mayTellAt = .now + hub.countsInterval
    for consumer in watchers { consumer.tell(counts) }
    plan()
  }

  private var hasExpired: Bool {
    guard let firstExpiry, let now = hub.store.estimatedMilliseconds else { return false }
    return firstExpiry <= now
  }
}
