/// What an account has read: in each partition everything up to a watermark, and single entries above it.
///
/// A watermark for each partition and not one for all of them: an id that is allotted later is larger within its
/// partition, whatever clocks do, so nothing can ever be appended below a watermark there. Of another partition,
/// whose clock is behind or steps back, something can, and it would be born read.
///
/// `lagging` are spaces of which the account's index learned only after a watermark had passed them: what was sent in
/// them meanwhile was never shown, so in them the watermark is a place of their own, until everything in them is
/// marked, too.
package struct ReadState: Sendable, Hashable {
  /// By the partition's number; zero, or not there at all, where nothing was marked.
  private var marks: [MessageID] = []
  package private(set) var lagging: [SpaceID: MessageID] = [:]
  package var above: Set<MessageID> = []
  /// Counts the changes of `watermarks` and `lagging`: whoever marks says by which of them it was judged.
  package var version: Int64 = 0

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

  /// Each names its partition.
  package var watermarks: [MessageID] { marks.filter { $0 > .zero } }

  package func watermark(in partition: Partition) -> MessageID { watermark(at: partition.number) }

  private func watermark(at number: Int) -> MessageID { number < marks.count ? marks[number] : .zero }

  /// Everything up to here is read, in this space of the partition.
  package func watermark(of space: SpaceID, in partition: Partition) -> MessageID {
    if !lagging.isEmpty, let place = lagging[space] { return place }
    return watermark(at: partition.number)
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

  /// Never backwards: a mark-read that arrives late must not make anything unread.
  /// - Parameter id: names the partition.
  package mutating func raise(to id: MessageID) {
    let number = id.partitionNumber
    guard id > watermark(at: number) else { return }
    while marks.count <= number { marks.append(.zero) }
    marks[number] = id
    prune(number)
  }

  /// The account's index learned of a space in which there is something to see after `before`. Where the watermark
  /// has passed that already, what lies between was never shown, and is not to be taken for read.
  package mutating func learn(of space: SpaceID, in partition: Partition, since before: MessageID) {
    // Nothing was marked up to an id yet, so no watermark can have passed anything.
    guard version > 0 else { return }
    version += 1
    if before < watermark(of: space, in: partition) { lagging[space] = before }
  }

  /// The space is caught up with: what holds in its partition holds there, too.
  package mutating func catchUp(_ spaces: some Sequence<SpaceID>, _ partitions: Partitions) {
    for space in spaces {
      guard lagging.removeValue(forKey: space) != nil else { continue }
      prune(partitions.holding(space).number)
    }
  }

  package mutating func removeMarks(before floor: MessageID) { above = above.filter { $0 >= floor } }

  /// Below this a single mark says what the watermark says anyway.
  private func lowestPlace(in number: Int) -> MessageID {
    var place = watermark(at: number)
    // A late place names its partition as every id does; zero is before everything, in whichever it is.
    for id in lagging.values where id.partitionNumber == number || id == .zero { place = min(place, id) }
    return place
  }

  private mutating func prune(_ number: Int) {
    guard !above.isEmpty else { return }
    let place = lowestPlace(in: number)
    above = above.filter { $0.partitionNumber != number || $0 > place }
  }
}
