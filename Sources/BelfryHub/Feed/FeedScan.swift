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
  let snapshot: FeedSnapshot

  init(
    _ snapshot: FeedSnapshot, at cursor: FeedCursor, through last: MessageID = .last,
    retentionFloor: MessageID,
    in store: any Store
  ) {
    self.store = store
    self.snapshot = snapshot
    sources = snapshot.view.standings.map { space, standing in
      let through = min(snapshot.lastIDs[space.partition] ?? .zero, last)
      let joined = standing.belonging.all.map(\.after).min() ?? .last
      let after = max(
        cursor.position(in: space), joined, snapshot.view.read.watermark, retentionFloor.predecessor)
      return Source(space: space, through: through, after: after, isExhausted: after >= through)
    }
    batch = min(
      max(Self.entriesPerRound / max(sources.count, 1), Self.entriesPerSpace.lowerBound),
      Self.entriesPerSpace.upperBound)
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
