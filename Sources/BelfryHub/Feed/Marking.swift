import BelfryModel
import BelfryStore

/// Everything up to an id becomes read: what has been found, and what is to be written for it.
///
/// In each partition the watermark follows to the id, but not beyond the last one that had been allotted there when
/// the snapshot was taken. So whatever is appended later lies above it, whatever clocks do.
struct Marking {
  private let snapshot: FeedSnapshot
  private let device: DeviceID?
  private var found: [(id: MessageID, space: SpaceID)] = []
  /// Of the account's read state; each mark raises it.
  var version: Int64
  private var caughtUp: Set<SpaceID> = []

  init(_ snapshot: FeedSnapshot, _ device: DeviceID?) {
    self.snapshot = snapshot
    self.device = device
    version = snapshot.view.read.version
  }

  var account: AccountID { snapshot.view.account }
  var count: Int { found.count }

  mutating func add(_ id: MessageID, in space: SpaceID) { found.append((id, space)) }

  /// All that was found, none of it beyond `id`.
  mutating func take(through id: MessageID) -> ReadMark {
    let watermarks = snapshot.lastIDs.values.map { min($0, id.last(in: $0.partition)) }.filter { $0 > .zero }
    let newlyCaughtUp = snapshot.view.read.lagging.keys.filter { space in
      guard !caughtUp.contains(space) else { return false }
      let partition = snapshot.partition(of: space)
      let through = min(snapshot.lastID(in: partition), id.last(in: partition))
      return through >= snapshot.view.read.watermark(in: partition)
    }
    caughtUp.formUnion(newlyCaughtUp)
    // Where the watermark had passed a space that was not known yet, and this mark does not come so far, single
    // marks say it.
    let single = Set(snapshot.view.read.lagging.keys).subtracting(caughtUp)
    // What lies in the millisecond of the snapshot or after it is told one by one: beside it something may be
    // appended meanwhile, with an id that is smaller in another partition.
    let line = MessageID(firstAtUnixMilliseconds: snapshot.takenAtMilliseconds).predecessor
    let mark = ReadMark(
      items: found.filter { single.contains($0.space) }.map(\.id),
      covered: found.filter { !single.contains($0.space) }.map(\.id), watermarks: watermarks,
      caughtUp: newlyCaughtUp, upTo: min(id, line), echoed: found.map(\.id).filter { $0 > line },
      directMessages: found.map(\.space).filter { $0.kind == .direct }, device: device, version: version)
    found = []
    return mark
  }

  /// Whether the mark says nothing but what was so when the snapshot was taken.
  func isNoNews(_ mark: ReadMark) -> Bool {
    mark.items.isEmpty && mark.covered.isEmpty && mark.caughtUp.isEmpty
      && mark.watermarks.allSatisfy { $0 <= snapshot.view.read.watermark(in: $0.partition) }
  }
}
