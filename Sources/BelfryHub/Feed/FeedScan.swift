import BelfryModel
import BelfryStore

/// Reads a stretch of an account's feed from the logs: the merge of all its spaces, oldest first.
///
/// The stretch begins at a cursor and ends, in each partition, at the last id that had been allotted when
/// the scan began. That bound is what makes the merge complete: whatever is appended meanwhile, in
/// whichever space, has a larger id than anything the scan gives for that partition, so a cursor that
/// has passed the scan has skipped nothing.
final class FeedScan {
  struct Found {
    let space: SpaceID
    let entry: LogEntry
  }

  /// Entries fetched in one round trip over all spaces together; a few of each when there are many.
  private static let entriesPerRound = 512
  private static let entriesPerSpace = 8...128

  private struct Source {
    let space: SpaceID
    let through: MessageID
    var after: MessageID
    var buffered: ArraySlice<LogEntry> = []
    var isExhausted: Bool
  }

  private let store: any Store
  private var sources: [Source]
  private let batch: Int
  /// When it began, by the store's clock.
  let startedAtMilliseconds: Int64
  let lastIDs: [Partition: MessageID]

  private init(
    store: any Store, sources: [Source], startedAtMilliseconds: Int64, lastIDs: [Partition: MessageID]
  ) {
    self.store = store
    self.sources = sources
    self.startedAtMilliseconds = startedAtMilliseconds
    self.lastIDs = lastIDs
    batch = min(
      max(Self.entriesPerRound / max(sources.count, 1), Self.entriesPerSpace.lowerBound),
      Self.entriesPerSpace.upperBound)
  }

  static func begin(
    _ view: AccountView, at cursor: FeedCursor, through last: MessageID = .last, retentionFloor: MessageID,
    in store: any Store
  ) async throws(StoreError) -> FeedScan {
    let startedAt = try await store.nowMilliseconds()
    let partitions = Array(Set(view.standings.keys.map(\.partition)))
    let lastIDs = Dictionary(
      uniqueKeysWithValues: zip(partitions, try await store.lastIDs(of: partitions)))
    let sources = view.standings.map { space, standing in
      let through = min(lastIDs[space.partition] ?? .zero, last)
      let joined = standing.belonging.all.map(\.after).min() ?? .last
      let after = max(cursor.position(in: space), joined, view.read.watermark, retentionFloor.predecessor)
      return Source(space: space, through: through, after: after, isExhausted: after >= through)
    }
    return FeedScan(store: store, sources: sources, startedAtMilliseconds: startedAt, lastIDs: lastIDs)
  }

  /// The next entries in order, visible or not; nil when the scan is complete.
  func next() async throws(StoreError) -> [Found]? {
    try await refill()
    // Beyond the last buffered id of a log that has more, an entry of that log may still come first.
    let horizon = sources.filter { !$0.isExhausted }.compactMap(\.buffered.last?.id).min() ?? .last
    var found: [Found] = []
    for index in sources.indices {
      let buffered = sources[index].buffered
      let end = buffered.firstIndex { $0.id > horizon } ?? buffered.endIndex
      let space = sources[index].space
      found += buffered[..<end].map { Found(space: space, entry: $0) }
      sources[index].buffered = buffered[end...]
    }
    sources.removeAll { $0.isExhausted && $0.buffered.isEmpty }
    if found.isEmpty { return nil }
    found.sort { $0.entry.id < $1.entry.id }
    return found
  }

  private func refill() async throws(StoreError) {
    let dry = sources.indices.filter { sources[$0].buffered.isEmpty && !sources[$0].isExhausted }
    guard !dry.isEmpty else { return }
    let requests = dry.map {
      LogRequest(sources[$0].space, after: sources[$0].after, through: sources[$0].through, limit: batch)
    }
    for (index, entries) in zip(dry, try await store.entries(requests)) {
      sources[index].buffered = entries[...]
      sources[index].isExhausted = entries.count < batch
      if let last = entries.last { sources[index].after = last.id }
    }
  }
}
