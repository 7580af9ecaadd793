package import BelfryModel
import BelfryStore

// How a cursor moves while a scan is served. One place, so that a stream and a page mean the same.
extension FeedCursor {
  /// Called before a scan. Spaces that the account's index learned of after the cursor was made get a position of
  /// their own, if the partition's position has already passed them.
  ///
  /// Spaces for which the cursor has no room wait for the next scan. ``indexed`` then says how much of the index this
  /// scan takes into account, and the scan leaves out what the index learned after that. If very many would wait, their
  /// partitions go back instead: some entries are served again. Each scan goes through all spaces of the account, so thousands
  /// that wait would take hundreds of scans. An index hardly learns of so many late, but a cursor that starts over knows none of
  /// the spaces, and a client may send any text as a cursor.
  /// - Returns: what is lost, if the cursor stood at ids that the store has lost since it gave them.
  package mutating func takeIntoAccount(_ snapshot: FeedSnapshot) -> FeedGap? {
    forgetPlaces(outside: snapshot.partitions)
    forgetLagging(outside: snapshot.lastIDs, snapshot.partitions)
    let gap = goBackFromLost(snapshot)
    var reached = snapshot.lastID(in: snapshot.home)
    let beginnings = beginnings(in: snapshot)
    let lateCount = beginnings.count { $0.since < position(in: $0.space, snapshot.partitions) }
    for (space, since, addedAt) in beginnings where !addLagging(space, since: since, snapshot.partitions) {
      guard lateCount > Self.waitingMax else {
        reached = addedAt.predecessor
        break
      }
      goBack(to: since, in: snapshot.partition(of: space), snapshot.partitions)
    }
    takeIntoAccount(indexThrough: reached)
    takeIntoAccount(history: snapshot.history)
    return gap
  }

  /// So many lagging spaces are taken into account by places of their own, a dozen in each scan.
  package static let waitingMax = 96

  /// This cursor with room for all spaces, also for those that wait for a later scan. No client is given such a cursor. All
  /// after its positions is shown by this scan and by those that follow it, and nothing before them.
  package func withRoomForAll(in snapshot: FeedSnapshot) -> FeedCursor {
    withRoom(for: beginnings(in: snapshot).map { (key: $0.space, value: $0.since) }, snapshot.partitions)
  }

  /// This cursor with a place of its own for each of these lagging spaces. No client is given such a cursor.
  package func withRoom(
    for lagging: some Sequence<(key: SpaceID, value: MessageID)>, _ partitions: Partitions
  ) -> FeedCursor {
    var cursor = self
    for (space, since) in lagging { _ = cursor.addLagging(space, since: since, partitions, atMost: .max) }
    return cursor
  }

  /// The index has learned of these spaces since the cursor took it into account, in this order. Each begins after an id of
  /// its log.
  private func beginnings(
    in snapshot: FeedSnapshot
  ) -> [(space: SpaceID, since: MessageID, addedAt: MessageID)] {
    var beginnings: [(space: SpaceID, since: MessageID, addedAt: MessageID)] = []
    for entry in snapshot.view.index where entry.addedAt > indexed {
      for what in entry.transitions(after: indexed) {
        guard let since = snapshot.view.beginning(of: what, in: entry.space) else { continue }
        beginnings.append((entry.space, since, what.state.addedAt))
      }
    }
    return beginnings.sorted { $0.addedAt < $1.addedAt }
  }

  /// An entry of the scan has been dealt with, shown or not.
  package mutating func pass(_ found: FeedScan.Found, of scan: FeedScan) {
    advance(scan.space(of: found), to: found.entry.id)
  }

  /// Passes many entries at once. Nobody looks at the cursor in between, so the last entry of each log is enough.
  mutating func pass(_ found: ArraySlice<FeedScan.Found>, of scan: FeedScan) {
    var reached = [MessageID](repeating: .zero, count: scan.logs.count)
    for index in found.indices { reached[found[index].log] = found[index].entry.id }
    for (log, id) in zip(scan.logs, reached) where id > .zero { advance(log.space, to: id) }
  }

  /// The scan is complete: all of its spaces have been served up to their partitions' bounds.
  package mutating func finish(_ scan: FeedScan) { reachAll(scan.snapshot.lastIDs, scan.snapshot.partitions) }

  /// For a Redis that came back without its last writes, or a replica that took over before it had received them. The
  /// cursor may have passed ids of entries that are gone. It goes back to the last id that was kept, since entries
  /// that were appended afterwards may have smaller ids than the cursor's position.
  private mutating func goBackFromLost(_ snapshot: FeedSnapshot) -> FeedGap? {
    var gap: FeedGap?
    for (partition, bound) in snapshot.bounds {
      let place = position(in: partition, snapshot.partitions)
      if let kept = bound.lastKept(before: place, of: history) {
        goBack(to: kept, in: partition, snapshot.partitions)
        gap.extend(from: kept, to: place)
      }
      guard partition == snapshot.home, let kept = bound.lastKept(before: indexed, of: history) else {
        continue
      }
      goBack(indexedTo: kept)
    }
    return gap
  }
}

extension FeedSnapshot {
  /// True if the store has lost something that the account's partition had when the cursor was moved, such as the account's
  /// preferences. If nothing acknowledged is lost, only entries are lost that were shown before their sender had an answer.
  /// Nobody was promised those.
  package func hasForgotten(_ cursor: FeedCursor) -> Bool {
    mayForget && bounds[home]?.lastKept(before: cursor.indexed, of: cursor.history) != nil
  }
}

extension AccountView {
  /// The id in the space's log after which the account may see what its index learned of; nil if it may see nothing.
  fileprivate func beginning(of transition: IndexEntry.Transition, in space: SpaceID) -> MessageID? {
    if space.kind == .direct { return transition.before?.version ?? transition.state.version.predecessor }
    return memberships[space]?.intervals.firstInterval(of: transition)?.after
  }
}

extension Intervals {
  /// The first membership interval that the transition told an index of.
  fileprivate func firstInterval(of transition: IndexEntry.Transition) -> Interval? {
    if let before = transition.before, let next = all.first(where: { $0.after >= before.version }),
      next.after < transition.state.version
    {
      return next
    }
    // The index does not know its state before the transition any more. Then it is the latest interval that the
    // transition may have been about, or the first one of all, if the record has forgotten that interval.
    return all.last { $0.after < transition.state.version } ?? all.first
  }
}
