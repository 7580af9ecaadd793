import BelfryFeed
import BelfryModel
import BelfryStore

// From the cursor to now, by the store.
extension Consumer {
  /// Ids of read notifications that a returning client is told in one event.
  private static let readIDsPerEvent = 500

  /// Returns when the consumer is live or gone. While the store is away the catch-up waits, and the stream stays
  /// open. The catch-up has a place among the loop's scans, which it gives up whenever it waits for anything but the
  /// store.
  func catchUp() async {
    var failures = 0
    while state == .catchingUp, !Task.isCancelled {
      let comebacks = hub.comebacks
      do throws(StoreError) {
        if try await catchUpOnce() { return }
        failures = 0
        // Nothing of a scan that was given up is kept while the client takes its time.
        if isSlow { await waitUntilDrained() }
      } catch {
        failures += 1
        await hub.feed.scans.stepOut(as: session.account) {
          await hub.pause(afterFailures: failures, since: comebacks)
        }
      }
    }
  }

  /// - Returns: true if the consumer went live; false if something changed meanwhile and the catch-up has to begin
  ///   again.
  private func catchUpOnce() async throws(StoreError) -> Bool {
    let hub = hub
    let session = session
    // Taken before the snapshot: an entry that arrives later is within the snapshot's bounds or in the rings.
    let sequence = hub.lastSequence
    sendOwnRing(through: sequence)
    let (generation, setbacks) = (session.generation, setbacks)
    let snapshot = try await session.snapshot(for: self)
    let basis = CatchUpBasis(generation: generation, setbacks: setbacks, history: snapshot.history)
    guard isCurrent(basis) else { return false }
    // A mark may have arrived meanwhile. Told after the scan, it would have the client drop what the scan has shown.
    sendOwnRing(through: hub.lastSequence)
    // Before anything is shown again: that goes by the cursor, and leaves to the scan what the scan will show.
    noteReach(of: snapshot)
    let floor = hub.feed.limits.retentionFloor(nowMilliseconds: snapshot.takenAtMilliseconds)
    let promised = promisedFrom ?? floor
    promisedFrom = promised
    var gap = snapshot.gap(behind: output.cursor, promisedFrom: promised)
    let change = snapshot.view.preferences.lastChange(nowMilliseconds: snapshot.takenAtMilliseconds)
    let hasOthers = hasBeenShown(before: change, snapshot)
    var cursor = output.cursor
    gap.extend(by: cursor.takeIntoAccount(snapshot))
    send(gap)
    var last: LiveEvent?
    if hasOthers {
      // Shown to its end. If each change had it begin again, a client of an account that changes often would never see the end.
      last = try await startOver(snapshot, at: cursor, floor, on: basis)
      // The cursor may have been set back meanwhile, which must not be undone below.
      guard last != nil, mayFinish(basis) else { return false }
      // Nothing that was read is left with the client.
      (isResuming, mustStartOver) = (false, false)
    }
    cursor.takeIntoAccount(preferencesSince: change)
    output.cursor = cursor
    preferredSince = change
    if let last {
      var text: [UInt8] = []
      output.framing.append(last, at: &output.cursor, to: &text)
      queue(text)
    }
    if isResuming {
      guard try await welcomeBack(snapshot, floor, on: basis) else { return false }
    }
    let scan = FeedScan(
      snapshot, at: output.cursor.withRoom(for: furtherLagging, hub.store.partitions), retentionFloor: floor,
      promisedFrom: promised, wanted: isSlow ? Self.slowAtOnce : nil, in: hub.store,
      passing: hub.feed.hidden)
    hub.feed.countScan()
    // The first entries are served in any case. Otherwise an account that changes often would be shown nothing new.
    while let found = try await scan.next() {
      send(scan.takeGap())
      guard await serve(found, of: scan, floor, on: basis) else { return false }
      guard scan.isComplete || isCurrent(basis) else { return false }
    }
    guard mayFinish(basis) else { return false }
    send(scan.takeGap())
    output.cursor.finish(scan)
    servedThrough = output.cursor.places.withoutLagging
    (furtherLagging, scanBounds) = ([:], [:])
    promisedFrom = .zero
    if scan.isPartial || hasMissedMarks || !isCurrent(basis) { return false }
    goLive(recovered: sequence)
    return true
  }

  /// Queues what the ring of the personal space has and no log: marks and echoes of other devices. This comes before
  /// the scan, since a client drops everything up to the id of a mark, and the scan may show some of that again. If
  /// the ring has forgotten items, they may have been marks; then the client is told everything that is read.
  private func sendOwnRing(through sequence: UInt64) {
    if hasMissedMarks { isResuming = true }
    guard let own = ownRing else { return }
    for item in output.takeUnsent(from: own, through: sequence, for: device) { queue(item.event) }
  }

  private var hasMissedMarks: Bool { ownRing.map { output.hasMissed(in: $0) } ?? false }

  private var ownRing: SpaceFollower? { session.follower(in: .personal(session.account)) }

  /// Notes up to which ids the scan is about to read. Should a ring break off later, the consumer does not have to read these
  /// again (``missed(in:since:)``).
  ///
  /// The cursor may have passed ids of a space that came neither through the ring nor from the store, by an entry of another
  /// space of the partition. Entries there were missed, so the scan begins before them. A later begin would repeat what the
  /// scan shows: the consumer would go back to the missed entries as soon as the ring breaks off. A ring without an end has
  /// broken off, and the cursor was set back then, unless the channels of the whole partition were lost. Then a message that
  /// was missed before, in silence, stays missed.
  private func noteReach(of snapshot: FeedSnapshot) {
    let partitions = hub.store.partitions
    for (space, end, _) in snapshot.ends {
      guard let follower = session.follower(in: space) else { continue }
      let heard = follower.active.ring.end ?? output.cursor.position(in: space, partitions)
      guard heard < end || furtherLagging[space] != nil else { continue }
      let since = furtherLagging[space] ?? max(heard, servedByStore(in: space))
      furtherLagging[space] = output.cursor.addLagging(space, since: since, partitions) ? nil : since
    }
    // All spaces, not only those that are ahead of their rings now: an account that read the log earlier may yet join a ring,
    // which then ends where that account has read.
    scanBounds = snapshot.lastIDs
  }

  /// Bytes of text that are handed to the socket before more is rendered. This is what a reader that has stopped
  /// reading costs in memory, and the most that one reader is sent in a turn of the loop.
  private static let textBytes = 64 * 1_024
  /// How long fetched entries, which may be megabytes, are kept for a reader whose socket is full. For a reader that
  /// takes longer they are fetched again once its socket has taken what it was given.
  private static let patience = Duration.milliseconds(250)
  /// Entries fetched at a time for a reader that was that slow. These few are kept for as long as the reader takes:
  /// fetching many and using few of them, over and over, would cost Redis more than the reader costs here.
  private static let slowAtOnce = 8

  /// - Returns: true if what was fetched is to be kept.
  private func handOver() async -> Bool {
    if isSlow {
      await waitUntilDrained()
      return true
    }
    return await drains(within: Self.patience)
  }

  private func serve(
    _ found: [FeedScan.Found], of scan: FeedScan, _ floor: MessageID, on basis: CatchUpBasis
  ) async -> Bool {
    var text: [UInt8] = []
    for one in found {
      guard mayShow(one, basis), let read = session.read else {
        // The cursor has passed those before it.
        if !text.isEmpty { queue(text) }
        return false
      }
      output.cursor.pass(one, of: scan)
      if !furtherLagging.isEmpty { passFurtherLagging(one, of: scan) }
      // The session's read state has what was marked since the entries were fetched.
      if read.contains(one.entry.notificationID, in: scan.space(of: one)) { continue }
      if scan.isLost(one) { send(FeedGap(from: one.entry.id.predecessor, to: floor)) }
      let isVisible = scan.isVisible(one)
      if isVisible || scan.isUpdate(one) {
        output.framing.append(.entry(one.entry), at: &output.cursor, to: &text)
      }
      if isVisible { hub.countDeliveries(1) }
      guard text.count >= Self.textBytes else { continue }
      queue(text)
      text.removeAll()
      guard await handOver() else { return false }
    }
    if !text.isEmpty { queue(text) }
    return await handOver() && mayFinish(basis)
  }

  private func passFurtherLagging(_ found: FeedScan.Found, of scan: FeedScan) {
    let space = scan.space(of: found)
    if let place = furtherLagging[space] { furtherLagging[space] = max(place, found.entry.id) }
  }

  /// Sends a gap once, even if the catch-up starts again several times before it has passed the gap.
  private func send(_ gap: FeedGap?) {
    guard let gap, sentGap?.contains(gap) != true else { return }
    sentGap = gap
    queue(.gap(gap))
  }

  /// Tells a client that was away what its account has read, before it is shown anything new.
  /// - Returns: false if something changed meanwhile and the catch-up has to begin again.
  private func welcomeBack(
    _ snapshot: FeedSnapshot, _ floor: MessageID, on basis: CatchUpBasis
  ) async throws(StoreError) -> Bool {
    var read = snapshot.view.read
    if read.hasUnknownMarks {
      guard try await tellMarks(on: basis) else { return false }
      // Read after the set. A mark of everything may have moved ids from the set under a watermark before they were told. The
      // event of that mark does not name them. Its `upTo` is not beyond the time of the mark, but an id can be, if the
      // clock was set back.
      read = try await hub.store.readStateAndPreferences(of: session.account).read
      // The set and the watermarks have to be of the same history. Another Redis may have left marks out.
      guard mayFinish(basis) else { return false }
    }
    if let upTo = read.watermarks.max() {
      queue(.read(upTo: upTo))
      let cursor = output.cursor
      var none: LiveEvent?
      guard try await showAgain(snapshot, upTo, from: cursor, floor, holdingBack: &none, on: basis) else {
        return false
      }
    }
    isResuming = false
    return true
  }

  /// Tells of the entries that were marked one by one, which may be tens of thousands. So they are read and told in parts, the
  /// next when the client has taken the last.
  private func tellMarks(on basis: CatchUpBasis) async throws(StoreError) -> Bool {
    var place: String?
    repeat {
      let part = try await hub.store.singleMarks(of: session.account, after: place)
      for start in stride(from: 0, to: part.ids.count, by: Self.readIDsPerEvent) {
        queue(.read(part.ids[start...].prefix(Self.readIDsPerEvent)))
      }
      await waitUntilDrained()
      guard mayFinish(basis) else { return false }
      place = part.next
    } while place != nil
    return true
  }

  /// True if the client was shown something by other preferences than the present ones. A store that lost its last writes
  /// may have gone back to earlier ones.
  private func hasBeenShown(before change: MessageID, _ snapshot: FeedSnapshot) -> Bool {
    if mustStartOver || output.cursor.isStartingOver || snapshot.hasForgotten(output.cursor) { return true }
    if let preferredSince { return change != preferredSince }
    // The cursor of a client that returns may be from before the account's partition had any id.
    return isResuming && change > output.cursor.indexed && change != output.cursor.preferred
  }

  /// Tells a client that its account wants to hear something else than before: it drops all that it holds, and what is
  /// left of it is shown again. Until all of that is shown, events have a cursor that says so: a client that is cut off is
  /// told once more.
  /// - Parameter cursor: the consumer's, the snapshot taken into account.
  /// - Returns: the last event, which is to be sent with the cursor of a client that was shown all. Without it a client that is
  ///   cut off before anything else happens would be shown everything each time that it comes back. Nil if something changed
  ///   meanwhile and the catch-up has to begin again.
  private func startOver(
    _ snapshot: FeedSnapshot, at cursor: FeedCursor, _ floor: MessageID, on basis: CatchUpBasis
  ) async throws(StoreError) -> LiveEvent? {
    output.cursor.startOver()
    let current = snapshot.view.preferences.current(nowMilliseconds: snapshot.takenAtMilliseconds)
    var last: LiveEvent? = .preferences(current)
    let isShown = try await showAgain(snapshot, .last, from: cursor, floor, holdingBack: &last, on: basis)
    return isShown ? last : nil
  }

  /// No cursor says how far showing again has come, so it cannot start again for a slow reader. Entries are therefore kept
  /// while the reader takes its time, and few are fetched at a time.
  private static let shownAgainAtOnce = 32

  /// The client drops everything it holds up to `last`, in all spaces. Entries among that which are not read are
  /// shown again: an index may have learned of a space after the mark, or a clock was behind. Mostly there are none.
  /// Nothing is shown here that the scans that follow will show.
  /// - Parameter heldBack: an event that goes before these. Each event waits for the next one, and the last is left here. Nil:
  ///   none waits.
  private func showAgain(
    _ snapshot: FeedSnapshot, _ last: MessageID, from cursor: FeedCursor, _ floor: MessageID,
    holdingBack heldBack: inout LiveEvent?, on basis: CatchUpBasis
  ) async throws(StoreError) -> Bool {
    let passed = cursor.withRoomForAll(in: snapshot).withRoom(for: furtherLagging, hub.store.partitions)
    let scan = FeedScan(
      snapshot, at: nil, through: last, retentionFloor: floor, wanted: Self.shownAgainAtOnce, in: hub.store,
      passing: hub.feed.hidden)
    while let found = try await scan.next() {
      var text: [UInt8] = []
      for one in found where scan.isVisible(one) {
        let space = scan.space(of: one)
        let place = passed.position(in: space, hub.store.partitions)
        guard one.entry.id <= place else { continue }
        guard mayShow(one, basis), let read = session.read else { return false }
        // It may have been marked since the snapshot, and the client told of that before it was told to drop all.
        if read.contains(one.entry.notificationID, in: space) { continue }
        var event = LiveEvent.entry(one.entry)
        if let before = heldBack { (event, heldBack) = (before, event) }
        output.framing.append(event, at: &output.cursor, to: &text)
      }
      if !text.isEmpty { queue(text) }
      await waitUntilDrained()
      guard mayFinish(basis) else { return false }
    }
    return mayFinish(basis)
  }
}

/// The state of the account, of the cursor and of the store on which a catch-up began.
private struct CatchUpBasis {
  let generation: Int
  let setbacks: Int
  let history: String
}

extension Consumer {
  /// True if nothing has changed since.
  private func isCurrent(_ basis: CatchUpBasis) -> Bool {
    mayFinish(basis) && session.generation == basis.generation
  }

  /// True also if the account has changed since. The snapshot is right up to its bounds, so what has begun by it may be
  /// finished.
  private func mayFinish(_ basis: CatchUpBasis) -> Bool {
    state == .catchingUp && setbacks == basis.setbacks && hub.store.history == basis.history
  }

  /// An entry that is shown only while its account is inside goes by what the account is in now, and not by what it was in at
  /// the time of the snapshot.
  private func mayShow(_ found: FeedScan.Found, _ basis: CatchUpBasis) -> Bool {
    found.entry.audience.isMomentary ? isCurrent(basis) : mayFinish(basis)
  }
}
