/// The read state of an account: in each partition everything up to a watermark is read, and single entries
/// above it.
///
/// Each partition has a watermark, because only within a partition a later id is always a larger one, whether
/// or not clocks step. So no entry is ever appended below the watermark, where it would count as read at
/// once.
///
/// A lagging space is one that the account's index learned of after a watermark had passed its beginning.
/// Entries that were sent there meanwhile were never shown, so the space has a watermark of its own until
/// everything in it is marked.
package struct ReadState: Sendable, Hashable {
  /// The watermarks by the number of the partition. Zero, or beyond the end, if nothing was marked.
  private var marks: [MessageID] = []
  package private(set) var lagging: [SpaceID: MessageID] = [:]
  package var above: Set<MessageID> = []
  /// Counts the changes of `watermarks` and `lagging`. A mark names the version that it was made from.
  package var version: Int64 = 0
  /// True if the account may have marked single entries that `above` lacks. An account can have marked tens of thousands,
  /// so the store is asked about those that are looked at, and never for all.
  package var hasUnknownMarks = false

  package init(
    watermarks: some Sequence<MessageID> = [], lagging: [SpaceID: MessageID] = [:],
    above: Set<MessageID> = [],
    version: Int64 = 0
  ) {
    self.lagging = lagging
    self.above = above
    self.version = version
    for id in watermarks { raise(to: id) }
  }

  /// The watermarks that are set; each id names its partition.
  package var watermarks: [MessageID] { marks.filter { $0 > .zero } }

  /// The watermark of the ids that name the partition.
  package func watermark(in partition: Partition) -> MessageID { watermark(at: partition.number) }

  private func watermark(at number: Int) -> MessageID { number < marks.count ? marks[number] : .zero }

  /// Up to this id everything in the space is read.
  package func watermark(of space: SpaceID, _ partitions: Partitions) -> MessageID {
    if !lagging.isEmpty, let place = lagging[space] { return place }
    return watermark(throughout: partitions.holding(space), partitions)
  }

  /// Up to this id everything in the partition's spaces is read, except in lagging ones.
  package func watermark(throughout partition: Partition, _ partitions: Partitions) -> MessageID {
    partitions.place(in: partition) { watermark(at: $0.number) }
  }

  package func contains(_ id: MessageID, in space: SpaceID) -> Bool {
    if id <= watermark(at: id.partitionNumber) {
      guard !lagging.isEmpty, let place = lagging[space] else { return true }
      if id <= place { return true }
    }
    return above.contains(id)
  }

  package mutating func mark(_ ids: some Sequence<MessageID>) {
    for id in ids where id > lowestPlace(in: id.partitionNumber) { above.insert(id) }
  }

  /// Takes in what the store has answered since, when it was asked about some entries. From now on `above` has those of
  /// these entries that are marked, and no others, so it does not grow with each question.
  package mutating func applyAnswer(_ later: ReadState) {
    above = []
    lagging = later.lagging
    version = later.version
    for id in later.watermarks { raise(to: id) }
    mark(later.above)
  }

  /// Raises the watermark of the id's partition. It never goes back, so a mark that comes late makes nothing unread.
  package mutating func raise(to id: MessageID) {
    let number = id.partitionNumber
    guard id > watermark(at: number) else { return }
    while marks.count <= number { marks.append(.zero) }
    marks[number] = id
    prune(number)
  }

  /// Notes that the account's index learned of a space with entries to see after `before`. If the watermark
  /// has passed that id, the entries in between were never shown and must not count as read: the space
  /// becomes a lagging one.
  package mutating func learn(of space: SpaceID, in partition: Partition, since before: MessageID) {
    // Without a version there is no watermark yet.
    guard version > 0 else { return }
    version += 1
    if before < lagging[space] ?? watermark(in: partition) { lagging[space] = before }
  }

  /// From now on the watermark of the partition holds in these spaces, too.
  package mutating func catchUp(_ spaces: some Sequence<SpaceID>, _ partitions: Partitions) {
    for space in spaces {
      guard lagging.removeValue(forKey: space) != nil else { continue }
      prune(partitions.holding(space).number)
    }
  }

  package mutating func removeMarks(before floor: MessageID) { above = above.filter { $0 >= floor } }

  /// At most this id, a watermark covers every single id of the partition.
  private func lowestPlace(in number: Int) -> MessageID {
    var place = watermark(at: number)
    for id in lagging.values where id.mayName(spaceIn: number) { place = min(place, id) }
    return place
  }

  private mutating func prune(_ number: Int) {
    guard !above.isEmpty else { return }
    let place = lowestPlace(in: number)
    above = above.filter { $0.partitionNumber != number || $0 > place }
  }
}

extension MessageID {
  /// True if this may be the id of a lagging space in the partition of that number. An id names its space's
  /// partition, with two exceptions. Zero may be of any partition. An id from before the keyspace grew names
  /// an earlier partition, which this one was a part of. The smallest number of partitions is not known here,
  /// so an id of partition 3 is taken for one of any partition that is 3 modulo 4. A match too many only
  /// keeps single marks for longer.
  fileprivate func mayName(spaceIn number: Int) -> Bool {
    if self == .zero { return true }
    var fewest = 1
    while fewest <= partitionNumber { fewest *= 2 }
    return number & (fewest - 1) == partitionNumber
  }
}
