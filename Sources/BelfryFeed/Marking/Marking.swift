import BelfryModel
import BelfryStore

/// Marks everything up to an id as read: collects the entries that a scan has found, and makes the marks for them.
///
/// In each partition the watermark rises to the id, but not beyond the last id that had been allotted there when the
/// snapshot was taken. So every later entry lies above the watermark, even if clocks go wrong.
struct Marking {
  private let snapshot: FeedSnapshot
  private let device: DeviceID?
  private let retentionFloor: MessageID
  private var found: [(id: MessageID, space: SpaceID)] = []
  /// Entries that are no longer visible. Other devices may still show them, so they are read from now on as well.
  private var covered: [MessageID] = []
  /// The version of the account's read state, which each mark raises.
  var version: Int64
  private var caughtUp: Set<SpaceID> = []
  /// The direct messages that no mark has named yet, with the id of their latest entry.
  private var directMessages: [SpaceID: MessageID]

  init(_ snapshot: FeedSnapshot, _ device: DeviceID?, retentionFloor: MessageID) {
    self.snapshot = snapshot
    self.retentionFloor = retentionFloor
    self.device = device
    version = snapshot.view.read.version
    // One with a second, earlier entry stays in the index until the sweep.
    let kept = snapshot.view.index.filter { $0.space.kind == .direct && $0.earlier.isEmpty }
    directMessages = Dictionary(kept.map { ($0.space, $0.version) }) { first, _ in first }
  }

  var account: AccountID { snapshot.view.account }
  var count: Int { found.count }

  mutating func add(_ id: MessageID, in space: SpaceID) { found.append((id, space)) }

  /// Adds what was recalled or has expired. It is not counted, but the other devices are told: once it is read, nobody
  /// tells them that it was recalled.
  mutating func addCovered(_ id: MessageID) { covered.append(id) }

  /// The mark for all entries found so far. None of them lies beyond `id`.
  mutating func take(through id: MessageID) -> ReadMark {
    let watermarks = watermarks(through: id)
    let newlyCaughtUp = snapshot.view.read.lagging.keys.filter { space in
      guard !caughtUp.contains(space) else { return false }
      let partition = snapshot.partition(of: space)
      let through = min(snapshot.lastID(in: partition), id.last(in: partition))
      return through >= snapshot.view.read.watermark(throughout: partition, snapshot.partitions)
    }
    caughtUp.formUnion(newlyCaughtUp)
    // The watermark has passed entries of a lagging space that nobody has read, so it says nothing about that space.
    // Unless this mark catches up with the space, the space's entries are marked one by one.
    let single = Set(snapshot.view.read.lagging.keys).subtracting(caughtUp)
    let finished = takeDirectMessages(through: id, except: single)
    // The other devices are told one by one of entries of the snapshot's millisecond or later. In another partition
    // an entry may still be appended with a smaller id than theirs, and `upTo` would say that it was read.
    let line = MessageID(firstAtUnixMilliseconds: snapshot.takenAtMilliseconds).predecessor
    // Nothing that is read lies beyond the last watermark. A node whose clock is behind may yet allot an id between it and the
    // line. A device that is told to drop that entry is not shown it again: when it comes back, it is shown again what is not
    // read up to the last watermark.
    let last = min(id, line, watermarks.max() ?? .zero)
    let mark = ReadMark(
      items: found.filter { single.contains($0.space) }.map(\.id),
      covered: found.filter { !single.contains($0.space) }.map(\.id), watermarks: watermarks,
      caughtUp: newlyCaughtUp, upTo: last, echoed: (found.map(\.id) + covered).filter { $0 > line },
      directMessages: finished, device: device, version: version)
    (found, covered) = ([], [])
    return mark
  }

  /// The direct messages that have nothing to read after the mark: all up to the id is read, whether or not there still was
  /// anything. One that was recalled or has expired, or whose log is gone, would otherwise fill the mailbox until retention ends.
  /// - Parameter single: the spaces that the watermark does not cover. A direct message there must have been found.
  private mutating func takeDirectMessages(
    through id: MessageID, except single: Set<SpaceID>
  ) -> [SpaceID: MessageID] {
    let read = Set(found.map(\.space))
    let finished = directMessages.filter { space, last in
      let partition = snapshot.partition(of: space)
      let through = min(snapshot.lastID(in: partition), id.last(in: last.partition))
      return last <= through && (!single.contains(space) || read.contains(space))
    }
    for space in finished.keys { directMessages[space] = nil }
    return finished
  }

  private func watermarks(through id: MessageID) -> [MessageID] {
    var last = snapshot.lastIDs
    // Entries from before the keyspace grew have ids that name the partition from which the account's space came.
    for partition in snapshot.lastIDs.keys {
      for origin in snapshot.partitions.origins(of: partition) where origin.last >= retentionFloor {
        last[origin.partition] = max(last[origin.partition] ?? .zero, origin.last)
      }
    }
    return last.map { min($0.value, id.last(in: $0.key)) }.filter { $0 > .zero }
  }

  /// True if everything that the mark says was so already when the snapshot was taken.
  func isNoNews(_ mark: ReadMark) -> Bool {
    mark.items.isEmpty && mark.covered.isEmpty && mark.caughtUp.isEmpty && mark.directMessages.isEmpty
      && mark.watermarks.allSatisfy { $0 <= snapshot.view.read.watermark(in: $0.partition) }
  }
}
