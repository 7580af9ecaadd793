import BelfryModel
import BelfryStore

/// An account's view together with how far the logs may be read by it.
///
/// The order of the reads is the point. Each bound is the last id allotted in a partition, taken *before*
/// what it is judged by was read: the index after the bound of the account's own partition, the memberships
/// after the bounds of all others. So every change of index or membership that was committed up to the
/// bounds is in the view. Taken the other way round, a subscription made in between would be missing from
/// the view while the entry sent right after it lies within the bounds: it would be passed over as not
/// for this account, for good.
struct FeedSnapshot: Sendable {
  /// The last id of a partition when it was asked, and which before it were lost.
  struct Bound: Sendable {
    let last: MessageID
    private let rewinds: [Rewind]
    private let history: String
    /// That of the whole store.
    private let current: String

    init(_ end: LogEnd, now current: String) {
      (last, rewinds, history) = (end.allotted, end.rewinds, end.history)
      self.current = current
    }

    /// For an id that was given and then lost: the last before it that was not. Nil for all others.
    ///
    /// Say Redis loses its last second, and its machine starts with a clock ten minutes behind. What it gives now has
    /// smaller ids than a reader has passed: by these alone they would be taken for passed, too.
    /// - Parameter known: the history in which the reader passed the id.
    func lastKept(before id: MessageID, of known: String) -> MessageID? {
      if let rewind = rewinds.first(where: { $0.ended == known && !known.isEmpty }) {
        return rewind.kept < id ? rewind.kept : nil
      }
      if !known.isEmpty, known == history || known == current { return id > last ? last : nil }
      // Of a history that nothing is known of, since the note of it was lost, too, or is too long ago: what has been
      // given since the latest loss may be new.
      if !known.isEmpty, let kept = rewinds.last?.kept, kept < id { return kept }
      if let rewind = rewinds.last(where: { $0.kept < id && id < $0.first }) { return rewind.kept }
      return id > last ? rewinds.last?.kept ?? last : nil
    }
  }

  let view: AccountView
  let partitions: Partitions
  let bounds: [Partition: Bound]
  /// How far the log of each space in the view is to be read, to its last entry or to the bound of its partition;
  /// and up to where entries of it have been trimmed that not everybody need have read.
  let ends: [(space: SpaceID, last: MessageID, lostThrough: MessageID)]
  /// By the store's clock, before anything was read.
  let takenAtMilliseconds: Int64
  /// Before anything was read, too: what is passed by this snapshot is passed in this history, or in a later one.
  let history: String

  /// The account's own partition.
  var home: Partition { partitions.holding(.personal(view.account)) }
  var lastIDs: [Partition: MessageID] { bounds.mapValues { $0.last } }
  func lastID(in partition: Partition) -> MessageID { bounds[partition]?.last ?? .zero }
  func partition(of space: SpaceID) -> Partition { partitions.holding(space) }

  /// An index that has not come to rest after so many looks is damaged, not changing.
  private static let indexReadsMax = 64

  /// `follow` gets the spaces the account has something of before their logs and memberships are looked at: a live
  /// reader subscribes to them there, so that what comes after the bounds arrives as messages.
  ///
  /// - Parameter cursor: where a reader stands that goes no further than the bounds. Then the view has only
  ///   the spaces that hold something after it: of the others it would have no use.
  static func take(
    of account: AccountID, from store: any Store, after cursor: FeedCursor? = nil,
    follow: (([SpaceID]) async throws(StoreError) -> Void)? = nil
  ) async throws(StoreError) -> FeedSnapshot {
    for _ in 0..<historiesMax {
      let snapshot = try await takeOnce(of: account, from: store, after: cursor, follow: follow)
      // The store came back while it was asked: a part of this is of a later history than the snapshot says. Its reader
      // would be taken for one who had passed what is lost.
      if snapshot.history == store.history { return snapshot }
    }
    throw StoreError(.unavailable, "it keeps coming back", at: "snapshot of \(account)")
  }

  /// A store that comes back so often while a feed is looked at is as good as away.
  private static let historiesMax = 8

  private static func takeOnce(
    of account: AccountID, from store: any Store, after cursor: FeedCursor?,
    follow: (([SpaceID]) async throws(StoreError) -> Void)?
  ) async throws(StoreError) -> FeedSnapshot {
    let personal = SpaceID.personal(account)
    let partitions = store.partitions
    let home = partitions.holding(personal)
    let takenAt = try await store.nowMilliseconds()
    var own = LogEnd(allotted: .zero, appended: .zero)
    var reads = 0
    var index: [IndexEntry] = []
    var neighbours: Set<SpaceID> = []
    let history = store.history
    var isBound = false
    repeat {
      reads += 1
      guard reads <= Self.indexReadsMax else {
        throw StoreError(.corrupt, "it knows of ids that were never allotted", at: "index of \(account)")
      }
      own = try await store.ends(of: [personal])[0]
      index = try await store.index(of: account)
      // The index has learned of a space since: then that bound is not this index's.
      isBound = !index.contains { $0.addedAt > own.allotted }
      guard isBound, let follow else { continue }
      // Also those that the account has left: what it was shown there may be updated.
      // But for rooms, which most people leave within the hour: there they learn of it when they come back.
      let spaces = index.filter { $0.isMember || $0.space.kind != .room }.map { $0.space }
      try await follow(spaces)
      // Those of the account's own partition share its bound, and were followed only after it: what was appended in
      // between would neither be within it nor arrive. Once followed, they have a bound of after that.
      let found = Set(spaces.filter { partitions.holding($0) == home })
      isBound = found.isSubset(of: neighbours)
      neighbours.formUnion(found)
    } while !isBound
    let read = try await store.readState(of: account)
    let spaces = index.map { $0.space }
    // The bound of the account's own partition stays the one from before the index.
    var bounds = [home: Bound(own, now: history)]
    // What an index had learned, and lost, it learns again.
    let indexed =
      cursor.map { bounds[home]?.lastKept(before: $0.indexed, of: $0.history) ?? $0.indexed } ?? .zero
    var ends = [(space: personal, last: min(own.allotted, own.appended), lostThrough: own.lostThrough)]
    for (entry, end) in zip(index, try await store.ends(of: spaces)) {
      let partition = partitions.holding(entry.space)
      let bound = bounds[partition] ?? Bound(end, now: history)
      bounds[partition] = bound
      if let cursor, entry.addedAt <= indexed,
        bound.lastKept(before: cursor.position(in: partition), of: cursor.history) == nil,
        end.appended
          <= max(
            cursor.position(in: entry.space, of: partition), read.watermark(of: entry.space, in: partition))
      {
        continue
      }
      ends.append((space: entry.space, last: min(bound.last, end.appended), lostThrough: end.lostThrough))
    }
    var memberships = try await memberships(of: account, in: ends.dropFirst().map { $0.space }, from: store)
    // A stay that began later than what the index knows: its entries come when the index has learned of it,
    // with a place of their own in the cursor. Shown now, they would be shown again then.
    for entry in index {
      memberships[entry.space]?.intervals.keep(begunBefore: entry.version)
      // Likewise a direct message that was written to again.
      if entry.space.kind == .direct { memberships[entry.space]?.intervals.close(through: entry.version) }
    }
    let view = AccountView(account: account, index: index, memberships: memberships, read: read)
    return FeedSnapshot(
      view: view, partitions: partitions, bounds: bounds, ends: ends, takenAtMilliseconds: takenAt,
      history: history)
  }

  /// What the account is in these spaces, and in its own.
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
