import BelfryModel

// A store that comes back without its last writes, as a Redis does whose append-only file has lost its end.
extension MemoryStore {
  /// All that it held at a moment.
  package struct Checkpoint {
    fileprivate let tables: [TableAddress: [String: String]]
    fileprivate let logs: [SpaceID: MemoryLog]
    fileprivate let lastIDs: [Partition: MessageID]
    fileprivate let rewinds: [Partition: [Rewind]]
    fileprivate let leaping: Set<Partition>
    fileprivate let sends: [MemorySendKey: MemorySend]
    fileprivate let outboxes: [Partition: [OutboxItem]]
    fileprivate let arrived: [AccountID: Set<Arrival>]
    fileprivate let directories: [ListingChange.Directory: Set<DirectoryPlace>]
    fileprivate let wakes: [SpaceID: Int64]
    fileprivate let indexes: [AccountID: [SpaceID: IndexEntry]]
    fileprivate let readStates: [AccountID: ReadState]
  }

  package func checkpoint() -> Checkpoint {
    Checkpoint(
      tables: tables, logs: logs, lastIDs: lastIDs, rewinds: rewinds, leaping: leaping, sends: sends,
      outboxes: outboxes, arrived: arrived, directories: directories, wakes: wakes, indexes: indexes,
      readStates: readStates)
  }

  /// As of then. Nobody is told: whoever listens has lost the connection. Ids leap past all that were given since, in
  /// a partition that had none, too. Of those Redis does not know; that its clock has moved on, and leaps, sees to it.
  /// This clock may stand still, or have been set back meanwhile, and no reader could tell an id that is given again.
  package func restore(_ checkpoint: Checkpoint) {
    lostIDs.merge(lastIDs) { max($0, $1) }
    (tables, logs, lastIDs) = (checkpoint.tables, checkpoint.logs, checkpoint.lastIDs)
    (rewinds, sends, outboxes) = (checkpoint.rewinds, checkpoint.sends, checkpoint.outboxes)
    (arrived, directories, wakes) = (checkpoint.arrived, checkpoint.directories, checkpoint.wakes)
    (indexes, readStates) = (checkpoint.indexes, checkpoint.readStates)
    leaping = Set(partitions.all)
  }

  static let leapMilliseconds: Int64 = 5_000
  private static let rewindsMax = 16

  /// Of the oldest, two become one.
  func noteRewind(_ rewind: Rewind) {
    var noted = rewinds[rewind.first.partition] ?? []
    noted.append(rewind)
    if noted.count > Self.rewindsMax {
      let second = noted.remove(at: 1)
      // Who stands before the first id that was ever kept has no entry to go back to.
      if noted[0].kept == .zero { noted[0] = second } else { noted[0].first = second.first }
    }
    rewinds[rewind.first.partition] = noted
  }
}
