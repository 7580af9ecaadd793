package import BelfryModel
import BelfryStore

// Marking read counts what was there, visible and unread; an id that names nothing of the kind is no
// error and no change, so nobody can fill the read state with ids that never were.
extension Hub {
  /// Each time somebody else has marked something of the account's in between.
  private static let markTriesMax = 16
  /// Entries that become read in one step of a mark of many: half a millisecond of Redis's time.
  private static let entriesPerMark = 2_000

  /// Gives how many became read.
  package func markRead(
    account: AccountID, device: DeviceID?, items: [MessageID]
  ) async throws(Refusal) -> Int {
    let ids = Set(items).sorted()
    for _ in 0..<Self.markTriesMax {
      do throws(StoreError) {
        let (view, floor) = try await view(of: account, on: ids)
        let spaces = Dictionary(grouping: view.memberships.keys) { store.partitions.holding($0) }
        let unread = try await locate(ids, in: spaces)
          .filter { view.visibility(of: $0.entry, in: $0.space, retentionFloor: floor).isVisible }
        guard !unread.isEmpty else { return 0 }
        let mark = ReadMark(
          items: unread.map { $0.entry.id },
          directMessages: unread.map { $0.space }.filter { $0.kind == .direct },
          device: device, version: view.read.version)
        if case .marked(let count, _) = try await store.markRead(mark, by: account) { return count }
      } catch {
        throw error.refusal
      }
    }
    throw .markedMeanwhile
  }

  /// As much of the account as these entries are judged by, and the retention floor. Whoever names an entry
  /// has been shown it, so what the account was then has long been committed: no bounds have to be taken first.
  private func view(
    of account: AccountID, on ids: [MessageID]
  ) async throws(StoreError) -> (AccountView, floor: MessageID) {
    let floor = limits.retentionFloor(nowMilliseconds: try await store.nowMilliseconds())
    let index = try await store.index(of: account)
    let partitions = Set(ids.map { $0.partition })
    let spaces = index.map { $0.space }.filter { partitions.contains(store.partitions.holding($0)) }
    let memberships = try await FeedSnapshot.memberships(of: account, in: spaces, from: store)
    let read = try await store.readState(of: account, among: ids)
    return (AccountView(account: account, index: index, memberships: memberships, read: read), floor)
  }

  /// Everything the account can see up to and including `upTo`.
  package func markRead(
    account: AccountID, device: DeviceID?, upTo: MessageID
  ) async throws(Refusal) -> Int {
    var count = 0
    for _ in 0..<Self.markTriesMax {
      do throws(StoreError) {
        try await waitUntilPast(upTo)
        // Before the index is read: what the index learns after that must make the mark be judged anew, also where the
        // snapshot's own read state has it already. It would cover a space that was not looked into.
        let version = try await store.readState(of: account, among: [upTo]).version
        let snapshot = try await FeedSnapshot.take(of: account, from: store)
        guard snapshot.view.read.version == version else { continue }
        if try await markRead(through: upTo, device, snapshot, &count) { return count }
      } catch {
        throw error.refusal
      }
    }
    throw .markedMeanwhile
  }

  /// What is appended from now on shall have larger ids in every partition, also where a reader marks what has come
  /// in this very millisecond: then all devices can be told by that one id.
  private func waitUntilPast(_ id: MessageID) async throws(StoreError) {
    let ahead = id.unixMilliseconds - (try await store.nowMilliseconds())
    guard (0..<Self.waitMillisecondsMax).contains(ahead) else { return }
    try? await loop.sleep(for: .milliseconds(ahead + 1))
  }

  private static let waitMillisecondsMax: Int64 = 10

  /// Step by step, each marking what it covers.
  /// - Returns: false if somebody else has marked something in between: what is left is to be looked at anew.
  private func markRead(
    through upTo: MessageID, _ device: DeviceID?, _ snapshot: FeedSnapshot, _ count: inout Int
  ) async throws(StoreError) -> Bool {
    let floor = limits.retentionFloor(nowMilliseconds: snapshot.takenAtMilliseconds)
    let scan = FeedScan(snapshot, at: nil, through: upTo, retentionFloor: floor, in: store)
    var marking = Marking(snapshot, device)
    let next = { () async throws(StoreError) in try await scan.next() }
    while let found = try await scans.pass(as: snapshot.view.account, next) {
      for one in found where scan.isVisible(one, read: snapshot.view.read) {
        marking.add(one.entry.id, in: scan.space(of: one))
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
    // Otherwise many that mark the same at once would each make all others look again.
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
    Refusal(.conflict, "others keep marking for this account; try again", retryAfterSeconds: 1)
  }
}
