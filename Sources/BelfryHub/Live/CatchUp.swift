import BelfryModel
import BelfryStore

// From the cursor to now, by the store.
extension Consumer {
  /// Ids of read notifications that a returning client is told in one event.
  private static let readIDsPerEvent = 500

  /// Ends when the consumer is live or gone. While the store is away it waits; the stream stays open. It has a
  /// place among the hub's scans, which it leaves whenever it waits for anything but the store's answers.
  func catchUp() async {
    var failures = 0
    while state == .catchingUp, !Task.isCancelled {
      do throws(StoreError) {
        if try await catchUpOnce() { return }
        failures = 0
        // Of the scan that was given up nothing is kept while the client takes its time.
        if isSlow { await waitUntilDrained() }
      } catch {
        failures += 1
        await hub.scans.stepOut(as: session.account) { await hub.pause(afterFailures: failures) }
      }
    }
  }

  /// True when it went live; false when something changed on the way and it is to begin again.
  private func catchUpOnce() async throws(StoreError) -> Bool {
    let hub = hub
    let session = session
    // Taken before the snapshot: an entry that arrives from here on, and is not in the logs it bounds, is in the rings.
    let sequence = hub.sequence
    sendOwnRing(through: sequence)
    let generation = session.generation
    let setbacks = setbacks
    let mayGoOn = { [self] in
      state == .catchingUp && session.generation == generation && self.setbacks == setbacks
    }
    let snapshot = try await session.snapshot()
    guard mayGoOn() else { return false }
    let floor = hub.limits.retentionFloor(nowMilliseconds: snapshot.takenAtMilliseconds)
    let promised = promisedFrom ?? floor
    promisedFrom = promised
    var gap = snapshot.gap(behind: output.cursor, promisedFrom: promised)
    gap.extend(by: output.cursor.takeIntoAccount(snapshot))
    sendGap(gap)
    if isResuming {
      guard try await welcomeBack(snapshot, floor, while: mayGoOn) else { return false }
    }
    noteReach(of: snapshot)
    let scan = FeedScan(
      snapshot, at: output.cursor, retentionFloor: floor, promisedFrom: promised,
      wanted: isSlow ? Self.slowAtOnce : nil, in: hub.store)
    hub.count { $0.scans += 1 }
    while let found = try await scan.next() {
      sendGap(scan.takeGap())
      guard await serve(found, of: scan, floor, while: mayGoOn) else { return false }
    }
    guard mayGoOn() else { return false }
    sendGap(scan.takeGap())
    output.cursor.finish(scan)
    promisedFrom = .zero
    if scan.isPartial || hasMissedMarks { return false }
    goLive(recovered: sequence)
    return true
  }

  /// What the account's own ring has and no log. Before the scan: a mark up to an id has a client drop what the scan may
  /// show again. What the ring has forgotten may have been marks, and then all that is read is told.
  private func sendOwnRing(through sequence: UInt64) {
    if hasMissedMarks { isResuming = true }
    guard let own = ownRing else { return }
    for item in output.takeUnsent(from: own, through: sequence, for: device) { queue(item.bytes) }
  }

  private var hasMissedMarks: Bool { ownRing.map { output.hasMissed(in: $0) } ?? false }

  private var ownRing: FollowedSpace? { session.followed(of: .personal(session.account)) }

  /// What the scan is about to have that has not come through the rings, which it may still do: the entry after it
  /// may be found to be missing then, and nothing up to here must be had again. Not so where something up to here is
  /// what is missing, as it is where the cursor has passed it without having had it.
  private func noteReach(of snapshot: FeedSnapshot) {
    var ahead: [SpaceID: MessageID] = [:]
    for (space, end, _) in snapshot.ends {
      guard let heard = session.followed(of: space)?.active.ring.end, heard < end else { continue }
      let had = max(heard, aheadOfRings[space] ?? .zero)
      let place = output.cursor.position(in: space, of: snapshot.partition(of: space))
      if place <= had { ahead[space] = end }
    }
    aheadOfRings = ahead
  }

  /// Text handed to the socket before more is rendered: what a reader that has stopped reading costs, and as much as
  /// one is sent in a turn of the loop.
  private static let textBytes = 64 * 1_024
  /// How long the entries that were fetched are kept for a reader whose socket is full. They may be megabytes; one that
  /// takes longer has them fetched again once its socket has taken what it was given.
  private static let patience = Duration.milliseconds(250)
  /// From then on it is given so few entries at a time, and they are kept for as long as it likes: to fetch much and
  /// use little of it, over and over, would cost Redis more than the reader costs here.
  private static let slowAtOnce = 8

  /// - Returns: whether what was fetched is to be kept.
  private func handOver() async -> Bool {
    if isSlow {
      await waitUntilDrained()
      return true
    }
    return await drains(within: Self.patience)
  }

  private func serve(
    _ found: [FeedScan.Found], of scan: FeedScan, _ floor: MessageID, while mayGoOn: () -> Bool
  ) async -> Bool {
    var text: [UInt8] = []
    for one in found {
      guard mayGoOn(), let read = session.read else { return false }
      output.cursor.pass(one, of: scan)
      if scan.isLost(one, read: read) { sendGap(FeedGap(from: one.entry.id.predecessor, to: floor)) }
      // The session knows what was read since the scan began.
      let isVisible = scan.isVisible(one, read: read)
      if isVisible || scan.isUpdate(one, read: read) {
        EventText.appendUpToID(one.entry, to: &text)
        EventText.appendID(&output.cursor, to: &text)
      }
      if isVisible { hub.count { $0.deliveries += 1 } }
      guard text.count >= Self.textBytes else { continue }
      queue(text)
      text.removeAll()
      guard await handOver() else { return false }
    }
    if !text.isEmpty { queue(text) }
    return await handOver() && mayGoOn()
  }

  /// Once, however often a catch-up begins anew before it has passed the gap.
  private func sendGap(_ gap: FeedGap?) {
    guard let gap, sentGap?.contains(gap) != true else { return }
    sentGap = gap
    queue(EventText.gap(gap))
  }

  /// What a client that was away must hear before anything new: what of its own is read.
  /// - Returns: false when something changed on the way.
  private func welcomeBack(
    _ snapshot: FeedSnapshot, _ floor: MessageID, while mayGoOn: () -> Bool
  ) async throws(StoreError) -> Bool {
    let read = snapshot.view.read
    if let upTo = read.watermarks.max() {
      queue(EventText.read(upTo: upTo))
      guard try await showAgain(snapshot, upTo, floor, while: mayGoOn) else { return false }
    }
    let ids = read.above.sorted()
    var start = 0
    while start < ids.count {
      let end = min(start + Self.readIDsPerEvent, ids.count)
      queue(EventText.read(ids[start..<end]))
      start = end
    }
    isResuming = false
    return true
  }

  /// No cursor says how far this came, so a slow reader is waited for with what was fetched: little.
  private static let shownAgainAtOnce = 32

  /// The client drops all it holds up to `last`, in whichever space. What of that is not read it is shown again: an
  /// index may have learned of a space after the mark, or a clock was behind. Mostly there is nothing.
  private func showAgain(
    _ snapshot: FeedSnapshot, _ last: MessageID, _ floor: MessageID, while mayGoOn: () -> Bool
  ) async throws(StoreError) -> Bool {
    let scan = FeedScan(
      snapshot, at: nil, through: last, retentionFloor: floor, wanted: Self.shownAgainAtOnce, in: hub.store)
    while let found = try await scan.next() {
      var text: [UInt8] = []
      for one in found where scan.isVisible(one, read: snapshot.view.read) {
        let space = scan.space(of: one)
        let place = output.cursor.position(in: space, of: snapshot.partition(of: space))
        guard one.entry.id <= place else { continue }
        EventText.appendUpToID(one.entry, to: &text)
        EventText.appendID(&output.cursor, to: &text)
      }
      if !text.isEmpty { queue(text) }
      await waitUntilDrained()
      guard mayGoOn() else { return false }
    }
    return true
  }
}

extension Hub {
  /// Before asking an unreachable store again: up to a second at first, up to four later, never all
  /// consumers at the same moment.
  func pause(afterFailures failures: Int) async {
    let limit = min(250 << min(failures, 4), 4_000)
    try? await loop.sleep(for: .milliseconds(Int.random(in: 50...limit)))
  }
}
