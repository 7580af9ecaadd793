package import BelfryModel
package import BelfryStore

/// An account's view together with how far the logs may be read by it.
///
/// The order of the reads matters. Each bound is the last id allotted in a partition, and is taken *before* the
/// records by which entries up to it are judged: the index is read after the bound of the account's own partition,
/// the memberships after the bounds of all others. So every change of index or membership that was committed up to
/// the bounds is in the view. In the other order a subscription made in between would be missing from the view, while
/// the entry sent right after it lies within the bounds: a reader would pass that entry as not for its account, for
/// good.
package struct FeedSnapshot: Sendable {
  /// The last id that was allotted in a partition when it was asked, and which ids before it were lost.
  package struct Bound: Sendable {
    let last: MessageID
    private let rewinds: [Rewind]
    private let history: String
    private let present: String

    package init(_ end: LogEnd) {
      (last, rewinds, history, present) = (end.allotted, end.rewinds, end.history, end.present)
    }

    var era: LogEra { LogEra(history: history, present: present, lastRewind: rewinds.last) }

    /// For an id that was allotted and then lost: the last id before it that was kept. Nil for all others.
    ///
    /// Say Redis loses its last second, and its machine starts with a clock ten minutes behind. The ids allotted now
    /// are smaller than ids that a reader has passed, so by the ids alone the reader would seem to have passed the
    /// new ones.
    /// - Parameter known: the history in which the reader passed the id.
    package func lastKept(before id: MessageID, of known: String) -> MessageID? {
      if let rewind = rewinds.first(where: { $0.ended == known && !known.isEmpty }) {
        return rewind.kept < id ? rewind.kept : nil
      }
      if !known.isEmpty, known == history || known == present {
        return id > last ? last : rewind(around: id)?.kept
      }
      // Nothing is known of this history: its rewind was lost, too, or is forgotten. Everything allotted since the
      // latest loss may then be new to the reader.
      if !known.isEmpty, let kept = rewinds.last?.kept, kept < id { return kept }
      if let rewind = rewind(around: id) { return rewind.kept }
      if id <= last { return nil }
      // If nothing was allotted since the loss, nothing before the last id is new. The same is true if no loss is known:
      // the first rewind of a partition is that of its first id.
      guard history == present, let rewind = rewinds.last, rewind.kept > .zero else { return last }
      return rewind.kept
    }

    /// The rewind that lost the id: no other id lies between what it kept and what came next. The process of the present history
    /// may have given such an id, too: it was demoted and promoted again, or an older state was restored into it.
    private func rewind(around id: MessageID) -> Rewind? {
      rewinds.last { $0.kept < id && id < $0.first }
    }
  }

  package let view: AccountView
  let partitions: Partitions
  let bounds: [Partition: Bound]
  /// How far the log of each space in the view is to be read: to its last entry or to the bound of its partition. And
  /// up to which id entries were trimmed that not all of their readers may have read.
  package let ends: [(space: SpaceID, last: MessageID, lostThrough: MessageID)]
  /// The time of the store's clock before anything was read.
  package let takenAtMilliseconds: Int64
  /// The store's history before anything was read. A reader that passes an entry by this snapshot passes it in this history
  /// or in a later one.
  package let history: String
  /// True if the store may lose what it has acknowledged.
  let mayForget: Bool

  /// The account's own partition.
  var home: Partition { partitions.holding(.personal(view.account)) }
  package var lastIDs: [Partition: MessageID] { bounds.mapValues { $0.last } }
  package func lastID(in partition: Partition) -> MessageID { bounds[partition]?.last ?? .zero }
  package func partition(of space: SpaceID) -> Partition { partitions.holding(space) }

  /// An index that still differs after so many reads is damaged, and not just changing.
  private static let indexReadsMax = 64

  /// `follow` is called with the account's spaces before their logs and memberships are read. A live reader
  /// subscribes to them there, so that what comes after the bounds arrives as messages.
  ///
  /// - Parameter cursor: the position of a reader that goes no further than the bounds. The view then has only the
  ///   spaces that hold something after it, since such a reader has no use for the others.
  package static func take(
    of account: AccountID, from store: any Store, after cursor: FeedCursor? = nil,
    follow: (([SpaceID]) async throws(StoreError) -> Void)? = nil
  ) async throws(StoreError) -> FeedSnapshot {
    for _ in 0..<historiesMax {
      let snapshot = try await takeOnce(of: account, from: store, after: cursor, follow: follow)
      // Redis began a new history in between, so a part of this snapshot is of a later history than it says. Its
      // reader would be taken for one that had passed the ids that were lost.
      if snapshot.history == store.history { return snapshot }
    }
    throw StoreError(
      .unavailable, "Redis was restarted or failed over \(historiesMax) times during the read",
      at: "snapshot of \(account)")
  }

  /// A store that begins a new history so often while one snapshot is taken is as good as away.
  private static let historiesMax = 8

  private static func takeOnce(
    of account: AccountID, from store: any Store, after cursor: FeedCursor?,
    follow: (([SpaceID]) async throws(StoreError) -> Void)?
  ) async throws(StoreError) -> FeedSnapshot {
    let personal = SpaceID.personal(account)
    let partitions = store.partitions
    let home = partitions.holding(personal)
    let takenAt = try await store.nowMilliseconds()
    let history = store.history
    let (own, index) = try await indexInBound(of: account, from: store, follow: follow)
    let (read, preferences) = try await store.readStateAndPreferences(of: account)
    let spaces = index.map { $0.space }
    // The bound of the account's own partition stays the one from before the index.
    var bounds = [home: Bound(own)]
    // Redis may have lost what the index had learned up to `cursor.indexed`. The index learns it again with other
    // ids, so the cursor counts as having taken the index into account up to the last id that was kept.
    let indexed =
      cursor.map { bounds[home]?.lastKept(before: $0.indexed, of: $0.history) ?? $0.indexed } ?? .zero
    var ends = [(space: personal, last: min(own.allotted, own.appended), lostThrough: own.lostThrough)]
    for (entry, end) in zip(index, try await store.ends(of: spaces)) {
      let partition = partitions.holding(entry.space)
      let bound = bounds[partition] ?? Bound(end)
      bounds[partition] = bound
      if let cursor, entry.addedAt <= indexed,
        bound.lastKept(before: cursor.position(in: partition, partitions), of: cursor.history) == nil,
        end.appended
          <= max(
            cursor.position(in: entry.space, partitions), read.watermark(of: entry.space, partitions))
      {
        continue
      }
      ends.append((space: entry.space, last: min(bound.last, end.appended), lostThrough: end.lostThrough))
    }
    var memberships = try await memberships(of: account, in: ends.dropFirst().map { $0.space }, from: store)
    // A membership interval that the index has yet to learn of is left out. Its entries come when the index has
    // learned of it, and the space then has a position of its own in the cursor. Shown now, they would be shown again
    // then.
    for entry in index { memberships[entry.space]?.keep(knownTo: entry.version, in: entry.space) }
    let view = AccountView(
      account: account, index: index, memberships: memberships, read: read, preferences: preferences)
    return FeedSnapshot(
      view: view, partitions: partitions, bounds: bounds, ends: ends, takenAtMilliseconds: takenAt,
      history: history, mayForget: !store.keepsWhatIsAcknowledged)
  }

  /// The index, and a bound of the account's own partition that was taken before it and belongs to it.
  private static func indexInBound(
    of account: AccountID, from store: any Store, follow: (([SpaceID]) async throws(StoreError) -> Void)?
  ) async throws(StoreError) -> (own: LogEnd, index: [IndexEntry]) {
    let personal = SpaceID.personal(account)
    let partitions = store.partitions
    let home = partitions.holding(personal)
    var neighbours: Set<SpaceID> = []
    for _ in 0..<indexReadsMax {
      let own = try await store.ends(of: [personal])[0]
      let index = try await store.index(of: account)
      // If the index has learned of a space since the bound was taken, the bound does not belong to this index.
      if index.contains(where: { $0.addedAt > own.allotted }) { continue }
      guard let follow else { return (own, index) }
      // Spaces that the account has left are followed, too, since notifications that it was shown there may be
      // updated or recalled.
      let spaces = index.map { $0.space }
      try await follow(spaces)
      // Spaces in the account's own partition share its bound, and were followed only after the bound was taken. Entries
      // that were appended in between would neither lie within the bound nor arrive as messages. So once the spaces are
      // followed, a new bound is taken.
      let found = Set(spaces.filter { partitions.holding($0) == home })
      if found.isSubset(of: neighbours) { return (own, index) }
      neighbours.formUnion(found)
    }
    throw StoreError(.corrupt, "it names ids that were never assigned", at: "index of \(account)")
  }

  /// The account's memberships in these spaces and in its personal space.
  static func memberships(
    of account: AccountID, in spaces: [SpaceID], from store: any Store
  ) async throws(StoreError) -> [SpaceID: Membership] {
    var memberships: [SpaceID: Membership] = [.personal(account): .always]
    memberships.reserveCapacity(spaces.count + 1)
    var kept: [SpaceID] = []
    for space in spaces {
      switch space.kind {
      case .direct, .account: memberships[space] = .always
      case .server, .group, .room: kept.append(space)
      }
    }
    if kept.isEmpty { return memberships }
    for (space, record) in zip(kept, try await store.memberRecords(of: account, in: kept)) {
      if let record { memberships[space] = record.membership }
    }
    return memberships
  }
}

extension Membership {
  /// Keeps what an index of this version knows of the space. Zero means that it knows nothing.
  mutating func keep(knownTo version: MessageID, in space: SpaceID) {
    intervals.keep(begunBefore: version)
    // A direct message may have been written to again since.
    guard space.kind == .direct, !intervals.isEmpty else { return }
    intervals = Intervals([Interval(after: .zero, through: version)])
  }
}
