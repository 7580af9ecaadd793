import BelfryModel

// A store that comes back without its last writes, as a Redis does if its append-only file has lost its end.
extension MemoryStore {
  /// The store's contents at a moment.
  package struct Checkpoint {
    fileprivate let tables: [TableAddress: [String: String]]
    fileprivate let logs: [SpaceID: MemoryLog]
    fileprivate let lastIDs: [Partition: MessageID]
    fileprivate let rewinds: [Partition: [Rewind]]
    fileprivate let histories: [Partition: String]
    fileprivate let sends: [MemorySendKey: MemorySend]
    fileprivate let outboxes: [Partition: [OutboxItem]]
    fileprivate let delivered: [AccountID: Set<DeliveryKey>]
    fileprivate let directories: [ListingChange.Directory: Set<DirectoryPlace>]
    fileprivate let wakes: [SpaceID: Int64]
    fileprivate let indexes: [AccountID: [SpaceID: IndexEntry]]
    fileprivate let readStates: [AccountID: ReadState]
    fileprivate let shares: [AccountID: MemoryShares]
    fileprivate let invitations: [AccountID: InvitationList]
  }

  package func checkpoint() -> Checkpoint {
    Checkpoint(
      tables: tables, logs: logs, lastIDs: lastIDs, rewinds: rewinds, histories: histories, sends: sends,
      outboxes: outboxes, delivered: delivered, directories: directories, wakes: wakes, indexes: indexes,
      readStates: readStates, shares: shares, invitations: invitations)
  }

  /// Takes the store back to the checkpoint. Nobody is notified, since every listener has lost the
  /// connection. New ids leap past all ids that were allotted after the checkpoint, also in a partition that
  /// had none at the checkpoint. Redis knows nothing of such a partition, and relies on the time for later
  /// ids there.
  package func restore(_ checkpoint: Checkpoint) {
    (tables, logs, lastIDs) = (checkpoint.tables, checkpoint.logs, checkpoint.lastIDs)
    (rewinds, sends, outboxes) = (checkpoint.rewinds, checkpoint.sends, checkpoint.outboxes)
    (delivered, directories, wakes) = (checkpoint.delivered, checkpoint.directories, checkpoint.wakes)
    (indexes, readStates, shares) = (checkpoint.indexes, checkpoint.readStates, checkpoint.shares)
    (histories, invitations) = (checkpoint.histories, checkpoint.invitations)
    restores += 1
    history = "\(restores)"
    for (partition, last) in lastIDs where last > .zero { begin(history, of: partition, after: last) }
  }

  private func begin(_ history: String, of partition: Partition, after last: MessageID) {
    // Each leap goes a little further: with a clock that is behind, the last leap may have been from that
    // same id.
    let time = max(clockMilliseconds, last.unixMilliseconds) + Self.leapMilliseconds + Int64(restores)
    let first = MessageID(unixMilliseconds: time, partition: partition, sequence: 0)
    noteRewind(Rewind(ended: histories[partition] ?? "", kept: last, first: first))
    histories[partition] = history
    lastIDs[partition] = first
  }

  private static let leapMilliseconds: Int64 = 5_000
  private static let rewindsMax = 16

  /// Notes a rewind. If there are too many, the oldest two become one.
  func noteRewind(_ rewind: Rewind) {
    var noted = rewinds[rewind.first.partition] ?? []
    noted.append(rewind)
    if noted.count > Self.rewindsMax {
      let second = noted.remove(at: 1)
      // A reader who stands before the first id that was ever kept has no entry to go back to.
      if noted[0].kept == .zero {
        noted[0] = second
      } else {
        (noted[0].ended, noted[0].first) = (second.ended, second.first)
      }
    }
    rewinds[rewind.first.partition] = noted
  }
}
