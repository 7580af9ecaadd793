import BelfryModel

/// What one commit leaves for other partitions to learn.
struct OutboxItem {
  var space: SpaceID
  /// The last id of the space's partition once the commit was made: a later commit's is later, and no two
  /// commits anywhere have the same.
  var version: MessageID
  /// The last id of the partition before the commit: what can be seen for it comes after that.
  var before: MessageID
  var relays: Relays
}

struct Relays: Codable {
  var index: [IndexChange]
  var deliveries: [Delivery]
  var listing: ListingChange?

  init(index: [IndexChange], deliveries: [Delivery] = [], listing: ListingChange? = nil) {
    self.index = index
    self.deliveries = deliveries
    self.listing = listing
  }

  init(_ transaction: Transaction) {
    self.init(
      index: transaction.indexChanges, deliveries: transaction.deliveries, listing: transaction.listing)
  }
}

/// What tells one delivery from all others: the commit it comes from, and its place among those of it. An
/// account remembers it, because its log does not: what was read is deleted from there.
struct Arrival: Hashable {
  var version: MessageID
  var position: Int

  var text: String { "\(version.streamForm)/\(position)" }
}

extension Delivery {
  /// In the account's own space.
  var audience: Audience { Audience(.named, named: [account]) }
}

extension DueSpace {
  /// How many of a partition are given at once: a second's work for whoever looks at them.
  static let perPartition = 16
}
