public import BelfryModel

// The partitions of a keyspace that says nothing else, as nearly all tests have it.
extension SpaceID {
  public var partition: Partition { Partitions.standard.holding(self) }
}

extension Partition {
  public static var allCases: [Partition] { Partitions.standard.all }

  /// The servers whose logs lie in it, by ascending ids: of two that share one, ids are allotted from one sequence
  /// and a cursor has one place. One server in a thousand or so.
  public var servers: some Sequence<EntityID> {
    let number = number
    return (1...Int64.max).lazy.compactMap { EntityID($0) }.filter {
      SpaceID.server($0).partition.number == number
    }
  }
}
