package import BelfryModel

/// The format record of an open keyspace: the version of its data, and its partitions.
///
/// `3 64`; and of one that had 64 partitions and has 256 since its move, `3 256/64@1795238998540`, with the last millisecond
/// of ids that were given by 64. A release that knows of no growth refuses that.
package struct KeyspaceFormat: Sendable, Hashable {
  package var version = Keyspace.dataVersion
  package var partitions: Partitions

  package init(_ partitions: Partitions) { self.partitions = partitions }

  /// Nil of what no broker writes, and of a keyspace that is being moved.
  package init?(_ text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 2, let version = Int(words[0]) else { return nil }
    let numbers = words[1].split(separator: "/", omittingEmptySubsequences: false)
    guard let count = Int(numbers[0]) else { return nil }
    var growths: [Partitions.Growth] = []
    for number in numbers.dropFirst() {
      let parts = number.split(separator: "@", omittingEmptySubsequences: false)
      guard parts.count == 2, let count = Int(parts[0]), let through = Int64(parts[1]),
        through >= MessageID.epochMilliseconds
      else { return nil }
      growths.append(Partitions.Growth(count: count, throughMilliseconds: through))
    }
    guard let partitions = Partitions(count: count, growths: growths) else { return nil }
    (self.version, self.partitions) = (version, partitions)
  }

  package var text: String {
    "\(version) \(partitions.count)"
      + partitions.growths.map { "/\($0.count)@\($0.throughMilliseconds)" }.joined()
  }
}
