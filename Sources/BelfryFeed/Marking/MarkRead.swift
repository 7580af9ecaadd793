package import BelfryModel
import BelfryStore

// Only entries that exist, are visible and unread are marked and counted, so nobody can fill the read state with ids
// that were never allotted.
//
// A mark is decided like an operation on a space: it is committed only if the account's read state is still the one
// that the mark was decided on. Otherwise everything is read and decided again.
extension FeedReader {
  /// A try fails when another mark of the account was committed in between.
  private static let markTriesMax = 16
  /// Entries that become read in one step of a mark of many: half a millisecond of Redis's time.
  private static let entriesPerMark = 2_000

  /// Marks single notifications. An id that names nothing visible and unread is no error and no change.
  /// - Returns: how many became read.
  package func markRead(
    account: AccountID, device: DeviceID?, items: [MessageID]
  ) async throws(Refusal) -> Int {
    let operation = MarkItems(account: account, device: device, ids: Set(items).sorted())
    for _ in 0..<Self.markTriesMax {
      do throws(StoreError) {
        guard let mark = operation.decide(on: try await read(for: operation)) else { return 0 }
        if case .marked(let count, _) = try await store.markRead(mark, by: account) { return count }
      } catch {
        throw error.refusal
      }
    }
    throw .markedMeanwhile
  }

  /// Reads the facts on which the operation decides. A client names only entries that it was shown. The memberships by
  /// which they were shown were committed long ago, so no bounds have to be taken first.
  private func read(for operation: MarkItems) async throws(StoreError) -> MarkItems.Basis {
    let found = try await judged(operation.ids, for: operation.account)
    return MarkItems.Basis(
      view: found.view, located: found.located, limits: limits, nowMilliseconds: found.nowMilliseconds)
  }

  /// Everything the account can see up to and including `upTo`.
  package func markRead(
    account: AccountID, device: DeviceID?, upTo: MessageID
  ) async throws(Refusal) -> Int {
    var count = 0
    for _ in 0..<Self.markTriesMax {
      do throws(StoreError) {
        try await waitUntilPast(upTo)
        // The version is read before the index. If the index learns of a space after that, the mark has to be decided
        // again, even if the snapshot's read state is already the later one: the mark would cover a space that it was
        // not decided on.
        let version = try await store.readState(of: account, among: [upTo]).version
        let snapshot = try await FeedSnapshot.take(of: account, from: store)
        guard snapshot.view.read.version == version else { continue }
        let mark = { [self] () async throws(StoreError) in
          var marked = 0
          let isDone = try await markRead(through: upTo, device, snapshot, &marked)
          return (marked, isDone)
        }
        let (marked, isDone) = try await readings.pass(as: account, mark)
        count += marked
        if isDone { return count }
      } catch {
        throw error.refusal
      }
    }
    throw .markedMeanwhile
  }

  /// Waits until every partition allots larger ids than this one, also if a reader marks an entry of this very
  /// millisecond. Then that one id tells all devices what was marked.
  private func waitUntilPast(_ id: MessageID) async throws(StoreError) {
    let ahead = id.unixMilliseconds - (try await store.nowMilliseconds())
    guard (0..<Self.waitMillisecondsMax).contains(ahead) else { return }
    try? await loop.sleep(for: .milliseconds(ahead + 1))
  }

  private static let waitMillisecondsMax: Int64 = 10

  /// Marks in steps of bounded size.
  /// - Returns: false if another mark of the account was committed in between, so that the rest has to be decided
  ///   again.
  private func markRead(
    through upTo: MessageID, _ device: DeviceID?, _ snapshot: FeedSnapshot, _ count: inout Int
  ) async throws(StoreError) -> Bool {
    let floor = limits.retentionFloor(nowMilliseconds: snapshot.takenAtMilliseconds)
    let scan = FeedScan(
      snapshot, at: nil, through: upTo, retentionFloor: floor, in: store, passing: hidden)
    var marking = Marking(snapshot, device, retentionFloor: floor)
    let next = { () async throws(StoreError) in try await scan.next() }
    while let found = try await scans.pass(as: snapshot.view.account, next) {
      try checkIsWanted { true }
      for one in found {
        if scan.isVisible(one) {
          marking.add(one.entry.id, in: scan.space(of: one))
        } else if scan.isPerhapsShown(one) {
          marking.addCovered(one.entry.id)
        }
      }
      guard marking.count >= Self.entriesPerMark, let last = found.last?.entry.id else { continue }
      guard try await carryOut(&marking, through: last, &count) else { return false }
    }
    return try await carryOut(&marking, through: upTo, &count)
  }

  private func carryOut(
    _ marking: inout Marking, through id: MessageID, _ count: inout Int
  ) async throws(StoreError) -> Bool {
    let mark = marking.take(through: id)
    // A mark that changes nothing is not committed. It would raise the version of the read state, and of many devices
    // that mark the same at once each would make all others decide again.
    if marking.isNoNews(mark) { return true }
    guard case .marked(let marked, let version) = try await store.markRead(mark, by: marking.account) else {
      return false
    }
    count += marked
    marking.version = version
    return true
  }
}

extension Refusal {
  fileprivate static var markedMeanwhile: Refusal {
    Refusal(.conflict, "too many marks for this account at the same time; try again", retryAfterSeconds: 1)
  }
}
