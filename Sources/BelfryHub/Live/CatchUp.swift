import BelfryModel
import BelfryStore

// From the cursor to now, by the store.
extension Consumer {
  /// Ids of read notifications that a returning client is told in one event.
  private static let readIDsPerEvent = 500

  /// Ends when the consumer is live or gone. While the store is away it waits; the stream stays open. It has a
  /// place in the hub's turnstile, which it leaves whenever it waits for anything but the store's answers.
  func catchUp() async {
    var failures = 0
    while state == .catchingUp, !Task.isCancelled {
      do throws(StoreError) {
        if try await catchUpOnce() { return }
        failures = 0
      } catch {
        failures += 1
        await hub.turnstile.stepOut { await hub.pause(afterFailures: failures) }
      }
    }
  }

  /// True when it went live; false when something changed on the way and it is to begin again.
  private func catchUpOnce() async throws(StoreError) -> Bool {
    let hub = hub
    let session = session
    // Taken before the snapshot: what arrives from here on, and is not in the logs it bounds, is in the rings.
    let arrival = hub.arrivals
    let generation = session.generation
    let mayGoOn = { [self] in state == .catchingUp && session.generation == generation }
    let snapshot = try await session.snapshot()
    guard mayGoOn() else { return false }
    outflow.cursor.takeIntoAccount(snapshot)
    let floor = hub.limits.retentionFloor(nowMilliseconds: snapshot.takenAtMilliseconds)
    let scan = FeedScan(snapshot, at: outflow.cursor, retentionFloor: floor, in: hub.store)
    hub.count { $0.scans += 1 }
    if isResuming { welcomeBack(snapshot.view, floor) }
    while let found = try await scan.next() {
      guard await serve(found, of: scan, while: mayGoOn) else { return false }
    }
    guard mayGoOn() else { return false }
    outflow.cursor.finish(scan)
    goLive(from: arrival)
    return true
  }

  /// Text handed to the socket before more is rendered: what a reader that has stopped reading costs, and as much as
  /// one is sent in a turn of the loop.
  private static let textBytes = 64 * 1_024

  private func serve(
    _ found: [FeedScan.Found], of scan: FeedScan, while mayGoOn: () -> Bool
  ) async -> Bool {
    var text: [UInt8] = []
    for one in found {
      guard mayGoOn(), let read = session.read else { return false }
      outflow.cursor.pass(one, of: scan)
      // The session knows what was read since the scan began.
      if scan.isVisible(one, read: read) {
        EventText.appendNotificationUpToID(one.entry, to: &text)
        EventText.appendID(outflow.cursor, to: &text)
        hub.count { $0.deliveries += 1 }
      }
      guard text.count >= Self.textBytes else { continue }
      queue(text)
      text.removeAll()
      await waitUntilDrained()
    }
    if !text.isEmpty { queue(text) }
    await waitUntilDrained()
    return mayGoOn()
  }

  /// What a client that was away must hear before anything new: what of its own is read, what is lost.
  private func welcomeBack(_ view: AccountView, _ floor: MessageID) {
    isResuming = false
    if let gap = outflow.cursor.gap(retentionFloor: floor) { queue(EventText.gap(gap)) }
    if view.read.watermark > .zero { queue(EventText.read(upTo: view.read.watermark)) }
    let ids = view.read.above.sorted()
    var start = 0
    while start < ids.count {
      let end = min(start + Self.readIDsPerEvent, ids.count)
      queue(EventText.read(ids[start..<end]))
      start = end
    }
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
