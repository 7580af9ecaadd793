public import BelfryModel

// The partitions of a keyspace that says nothing else, as nearly all tests have it.
extension SpaceID {
  public var partition: Partition { Partitions.standard.holding(self) }
}

extension Partition {
  public static var allCases: [Partition] { Partitions.standard.all }
}
