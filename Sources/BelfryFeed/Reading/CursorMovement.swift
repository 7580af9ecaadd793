package import BelfryModel
import BelfryStore

// How a cursor moves while a scan is served. One place, so that a stream and a page mean the same.
extension FeedCursor {
  /// Before a scan: spaces that the account's index learned of after the cursor was made get a place of
  /// their own, if the partition's place has already passed them.
  ///
  /// What there is no room for waits for the next scan; ``indexed`` says how far this one came, and the scan leaves
  /// out what the index learned after that.
  /// - Returns: what is lost, when the cursor stood at ids that the store has lost since it gave them.
  package mutating func takeIntoAccount(_ snapshot: FeedSnapshot) -> FeedGap? {
    let gap = goBackFromLost(snapshot)
    var transitions: [(space: SpaceID, what: IndexEntry.Transition)] = []
    for entry in snapshot.view.index where entry.addedAt > indexed {
      for what in entry.transitions(after: indexed) { transitions.append((entry.space, what)) }
    }
    transitions.sort { $0.what.state.addedAt < $1.what.state.addedAt }
    var reached = snapshot.lastID(in: snapshot.home)
    for (space, what) in transitions {
      guard let since = snapshot.view.beginning(of: what, in: space) else { continue }
      guard addLagging(space, of: snapshot.partition(of: space), since: since) else {
        reached = what.state.addedAt.predecessor
        break
      }
    }
    takeIntoAccount(indexThrough: reached)
    takeIntoAccount(history: snapshot.history)
    return gap
  }

  /// An entry of the scan has been dealt with, shown or not.
  package mutating func pass(_ found: FeedScan.Found, of scan: FeedScan) {
    advance(scan.space(of: found), to: found.entry.id)
  }

  /// The same for many at once: what comes of it is seen only after the last of them, so of each log its last
  /// entry will do.
  mutating func pass(_ found: ArraySlice<FeedScan.Found>, of scan: FeedScan) {
    var reached = [MessageID](repeating: .zero, count: scan.logs.count)
    for index in found.indices { reached[found[index].log] = found[index].entry.id }
    for (log, id) in zip(scan.logs, reached) where id > .zero { advance(log.space, to: id) }
  }

  /// The scan is complete: all of its spaces have been served up to their partitions' bounds.
  package mutating func finish(_ scan: FeedScan) { reachAll(scan.snapshot.lastIDs, scan.snapshot.partitions) }

  /// Redis came back without its last writes, or a replica that had yet to receive them took over. Ids that the
  /// cursor has passed were given to nothing that is still there. It goes back to the last id that was kept: what is
  /// appended since may lie before its place.
  private mutating func goBackFromLost(_ snapshot: FeedSnapshot) -> FeedGap? {
    var gap: FeedGap?
    for (partition, bound) in snapshot.bounds {
      let place = position(in: partition)
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

extension AccountView {
  /// Where in the space's log begins what an index learned; nil if it is nothing that can be seen.
  fileprivate func beginning(of transition: IndexEntry.Transition, in space: SpaceID) -> MessageID? {
    if space.kind == .direct { return transition.before?.version ?? transition.state.version.predecessor }
    return memberships[space]?.intervals.firstInterval(of: transition)?.after
  }
}

extension Intervals {
  /// The first stay that was transitions to an index.
  fileprivate func firstInterval(of transition: IndexEntry.Transition) -> Interval? {
    if let before = transition.before, let next = all.first(where: { $0.after >= before.version }),
      next.after < transition.state.version
    {
      return next
    }
    // What was before is forgotten: the latest it may have been about. A record may have forgotten that, too.
    return all.last { $0.after < transition.state.version } ?? all.first
  }
}
