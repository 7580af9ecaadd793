package import BelfryModel
import BelfryStore

// Marking read counts what was there, visible and unread; nobody can fill the read state with ids that never were.
//
// Like an operation on a space, a mark is decided on what was read, and committed only if the account's read state is still
// the one that it was decided on; otherwise all is read and decided anew.
extension FeedReader {
  /// Each time somebody else has marked something of the account's in between.
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

  /// What the operation decides on, in two round trips: the account, then the entries and what the account is where they
  /// are. Whoever names an entry has been shown it, so what the account was then has long been committed: no bounds have
  /// to be taken first.
  private func read(for operation: MarkItems) async throws(StoreError) -> MarkItems.Basis {
    let account = operation.account
    let floor = limits.retentionFloor(nowMilliseconds: try await store.nowMilliseconds())
    let (index, read) = try await store.accountState(of: account, among: operation.ids)
    let wanted = Set(operation.ids.map { $0.partition })
    let spaces = index.map { $0.space }.filter { wanted.contains(store.partitions.holding($0)) }
    let own = spaces + [.personal(account)]
    let (memberships, located) = try await both(
      { () async throws(StoreError) in
        try await FeedSnapshot.memberships(of: account, in: spaces, from: self.store)
      },
      { () async throws(StoreError) in
        try await self.locate(
          operation.ids, in: Dictionary(grouping: own) { self.store.partitions.holding($0) })
      })
    return MarkItems.Basis(
      view: AccountView(account: account, index: index, memberships: memberships, read: read),
      located: located,
      retentionFloor: floor)
  }

  /// Asks the store for two things side by side: what both send in one turn of the loop is one round trip.
  private func both<First, Second>(
    _ first: @escaping () async throws(StoreError) -> First,
    _ second: @escaping () async throws(StoreError) -> Second
  ) async throws(StoreError) -> (First, Second) {
    var results: (first: Result<First, StoreError>?, second: Result<Second, StoreError>?)
    await scope.all([
      { results.first = await result(of: first) },
      { results.second = await result(of: second) },
    ])
    guard let first = results.first, let second = results.second else {
      throw StoreError(.unavailable, "the loop is ending", at: "read state")
    }
    return (try first.get(), try second.get())
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

private func result<Value>(of work: () async throws(StoreError) -> Value) async -> Result<Value, StoreError> {
  do throws(StoreError) {
    return .success(try await work())
  } catch {
    return .failure(error)
  }
}

extension Refusal {
  fileprivate static var markedMeanwhile: Refusal {
    Refusal(.conflict, "others keep marking for this account; try again", retryAfterSeconds: 1)
  }
}
