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
      let snapshot = try await FeedSnapshot.take(of: account, from: store)
      let view = snapshot.view
      let floor = limits.retentionFloor(nowMilliseconds: snapshot.takenAtMilliseconds)
      let ids = Set(items).filter { !view.read.contains($0) }.sorted()
      let spaces = Dictionary(grouping: view.standings.keys, by: \.partition)
      let unread = try await locate(ids, in: spaces)
        .filter { view.visibility(of: $0.entry, in: $0.space, retentionFloor: floor).isVisible }
      guard !unread.isEmpty else { return 0 }
      let mark = ReadMark(
        items: unread.map(\.entry.id), letters: unread.map(\.space).filter { $0.kind == .letter },
        device: device)
      return try await store.markRead(mark, by: account)
    } catch {
      throw error.refusal
    }
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
        for one in found where view.visibility(of: one.entry, in: one.space, retentionFloor: floor).isVisible
        {
          if one.entry.id <= line { below += 1 } else { items.append(one.entry.id) }
          if one.space.kind == .letter { letters.append(one.space) }
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
