import BelfryModel
import BelfryStore

/// An account's view together with how far the logs may be read by it.
///
/// The order of the reads is the point. Each bound is the last id allotted in a partition, taken *before*
/// what it is judged by was read: the index after the bound of the account's own partition, the standings
/// after the bounds of all others. So every change of index or standing that was committed up to the
/// bounds is in the view. Taken the other way round, a subscription made in between would be missing from
/// the view while the entry sent right after it lies within the bounds: it would be passed over as not
/// for this account, for good.
struct FeedSnapshot: Sendable {
  let view: AccountView
  let lastIDs: [Partition: MessageID]
  /// By the store's clock, before anything was read.
  let takenAtMilliseconds: Int64

  /// `follow` gets the spaces the account belongs to before their logs and standings are looked at: a live
  /// reader subscribes to them there, so that what comes after the bounds arrives as messages.
  static func take(
    of account: AccountID, from store: any Store,
    follow: ([SpaceID]) async throws(StoreError) -> Void = { (_) throws(StoreError) in }
  ) async throws(StoreError) -> FeedSnapshot {
    let personal = SpaceID.personal(account)
    let takenAt = try await store.nowMilliseconds()
    var lastIDs: [Partition: MessageID] = [:]
    var index: [IndexEntry] = []
    repeat {
      lastIDs = try await Self.lastIDs(of: [personal.partition], from: store)
      index = try await store.index(of: account)
      // The index has learned of a space since: then that bound is not this index's.
    } while index.contains { $0.addedAt > lastIDs[personal.partition] ?? .zero }
    try await follow(index.filter(\.isMember).map(\.space))
    let others = Set(index.map(\.space.partition)).subtracting([personal.partition])
    lastIDs.merge(try await Self.lastIDs(of: Array(others), from: store)) { first, _ in first }
    let standings = try await standings(of: account, index, from: store)
    let read = try await store.readState(of: account)
    let view = AccountView(account: account, index: index, standings: standings, read: read)
    return FeedSnapshot(view: view, lastIDs: lastIDs, takenAtMilliseconds: takenAt)
  }

  private static func lastIDs(
    of partitions: [Partition], from store: any Store
  ) async throws(StoreError) -> [Partition: MessageID] {
    guard !partitions.isEmpty else { return [:] }
    return Dictionary(uniqueKeysWithValues: zip(partitions, try await store.lastIDs(of: partitions)))
  }

  private static func standings(
    of account: AccountID, _ index: [IndexEntry], from store: any Store
  ) async throws(StoreError) -> [SpaceID: Standing] {
    var standings: [SpaceID: Standing] = [.personal(account): .owner]
    var addresses: [RecordAddress] = []
    for entry in index {
      switch entry.space.kind {
      case .letter, .account: standings[entry.space] = .owner
      case .server, .group, .room:
        addresses += [.member(account, of: entry.space), .former(account, of: entry.space)]
      }
    }
    let records = addresses.isEmpty ? Records() : try await store.records(addresses)
    for address in addresses where standings[address.space] == nil {
      if let record = records.text(address).flatMap({ MemberRecord(text: $0) }) {
        standings[address.space] = record.standing
      }
    }
    return standings
  }
}
