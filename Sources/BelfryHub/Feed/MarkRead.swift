package import BelfryModel
import BelfryStore

// Marking read counts what was there, visible and unread; an id that names nothing of the kind is no
// error and no change, so nobody can fill the read state with ids that never were.
extension Hub {
  /// Gives how many became read.
  package func markRead(
    account: AccountID, device: DeviceID?, items: [MessageID]
  ) async throws(Refusal) -> Int {
    do throws(StoreError) {
      let ids = Set(items).sorted()
      let (view, floor) = try await view(of: account, on: ids)
      let spaces = Dictionary(grouping: view.standings.keys) { $0.partition }
      let unread = try await locate(ids.filter { !view.read.contains($0) }, in: spaces)
        .filter { view.visibility(of: $0.entry, in: $0.space, retentionFloor: floor).isVisible }
      guard !unread.isEmpty else { return 0 }
      let mark = ReadMark(
        items: unread.map { $0.entry.id }, letters: unread.map { $0.space }.filter { $0.kind == .letter },
        device: device)
      return try await store.markRead(mark, by: account)
    } catch {
      throw error.refusal
    }
  }

  /// As much of the account as these entries are judged by, and the retention floor. Whoever names an entry
  /// has been shown it, so what the account was then has long been committed: no bounds have to be taken first.
  private func view(
    of account: AccountID, on ids: [MessageID]
  ) async throws(StoreError) -> (AccountView, floor: MessageID) {
    let floor = limits.retentionFloor(nowMilliseconds: try await store.nowMilliseconds())
    let index = try await store.index(of: account)
    let partitions = Set(ids.map { $0.partition })
    let spaces = index.map { $0.space }.filter { partitions.contains($0.partition) }
    let standings = try await FeedSnapshot.standings(of: account, in: spaces, from: store)
    let read = try await store.readState(of: account, among: ids)
    return (AccountView(account: account, index: index, standings: standings, read: read), floor)
  }

  /// Everything the account can see up to and including `upTo`.
  ///
  /// The watermark follows only to a safety window before now: another partition's Redis may have a
  /// slower clock and still append below what was seen. Entries between that line and `upTo` are marked
  /// one by one.
  package func markRead(
    account: AccountID, device: DeviceID?, upTo: MessageID
  ) async throws(Refusal) -> Int {
    do throws(StoreError) {
      let snapshot = try await FeedSnapshot.take(of: account, from: store)
      let view = snapshot.view
      let now = snapshot.takenAtMilliseconds
      let line = MessageID(firstAtUnixMilliseconds: now - FeedCursor.safetyWindowMilliseconds).predecessor
      let floor = limits.retentionFloor(nowMilliseconds: now)
      let scan = FeedScan(snapshot, at: FeedCursor(), through: upTo, retentionFloor: floor, in: store)
      var below = 0
      var items: [MessageID] = []
      var letters: [SpaceID] = []
      while let found = try await turnstile.pass({ () async throws(StoreError) in try await scan.next() }) {
        for one in found where scan.isVisible(one, read: view.read) {
          if one.entry.id <= line { below += 1 } else { items.append(one.entry.id) }
          let space = scan.space(of: one)
          if space.kind == .letter { letters.append(space) }
        }
      }
      let mark = ReadMark(
        items: items, watermark: min(upTo, line), upTo: upTo, letters: letters, device: device)
      return below + (try await store.markRead(mark, by: account))
    } catch {
      throw error.refusal
    }
  }
}
