/// Up to which ids a consumer was served: in every partition, and in each lagging space. It is the part of a ``FeedCursor``
/// that says what a client has.
package struct FeedPlaces: Sendable, Hashable {
  /// The position in each partition that has one, ascending. An id names its partition, so a sorted list serves as a map.
  /// Mostly the last one advances: a cursor moves and is written for every notification, and has mostly one or two ids.
  package private(set) var positions: [MessageID] = []
  package internal(set) var lagging: [SpaceID: MessageID] = [:]

  package init() {}

  /// The same place in each partition, without lagging spaces. The two share their memory until one of them moves.
  package var withoutLagging: FeedPlaces {
    var places = self
    places.lagging = [:]
    return places
  }

  /// Up to this id everything in the space was served.
  package func position(in space: SpaceID, _ partitions: Partitions) -> MessageID {
    if !lagging.isEmpty, let place = lagging[space] { return place }
    return position(in: partitions.holding(space), partitions)
  }

  /// Up to this id everything in the partition was served, except for lagging spaces; zero if nothing was.
  package func position(in partition: Partition, _ partitions: Partitions) -> MessageID {
    partitions.place(in: partition) { position(at: $0.number) }
  }

  /// Among the ids that name the partition.
  private func position(at number: Int) -> MessageID {
    positions.last { $0.partitionNumber == number } ?? .zero
  }

  /// True if an entry that came live was served before.
  func hasPassed(_ step: CursorStep, in space: SpaceID) -> Bool {
    // A live entry is later than any growth of the keyspace, so its id names the partition that the space is in.
    let place = lagging.isEmpty ? nil : lagging[space]
    return step.id <= place ?? position(at: step.id.partitionNumber)
  }

  /// Advances the position in the id's partition, unless it is already further.
  /// - Returns: true if any position but the last one is another now.
  mutating func reach(_ id: MessageID) -> Bool {
    guard id > .zero else { return false }
    if let last = positions.lastIndex(where: { $0.partitionNumber == id.partitionNumber }) {
      guard id > positions[last] else { return false }
      // Nearly always the last position advances, and none has to move.
      if last == positions.count - 1 {
        positions[last] = id
        return false
      }
      positions.remove(at: last)
    }
    let place = positions.lastIndex { $0 < id }.map { $0 + 1 } ?? 0
    positions.insert(id, at: place)
    return true
  }

  mutating func removePositions(where isLeftOut: (MessageID) -> Bool) {
    positions.removeAll(where: isLeftOut)
  }
}
