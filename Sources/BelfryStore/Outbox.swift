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

/// What accounts and a directory have to learn of a commit. Those of the same partition learn it in the commit itself,
/// others by the outbox.
struct Relays: Codable {
  var index: [IndexChange]
  var deliveries: [Delivery]
  var listing: ListingChange?
  /// Whose share of mailboxes the deliveries and direct messages use.
  var charged: AccountID?

  var isEmpty: Bool { index.isEmpty && deliveries.isEmpty && listing == nil }

  init(
    index: [IndexChange], deliveries: [Delivery] = [], listing: ListingChange? = nil,
    charged: AccountID? = nil
  ) {
    self.charged = charged
    self.index = index
    self.deliveries = deliveries
    self.listing = listing
  }

  init(_ transaction: Transaction) {
    self.init(
      index: transaction.indexChanges, deliveries: transaction.deliveries, listing: transaction.listing,
      charged: transaction.charged)
  }

  /// What all of them have, in their order.
  init(joining parts: [Relays]) {
    self.init(
      index: parts.flatMap(\.index), deliveries: parts.flatMap(\.deliveries),
      listing: parts.compactMap(\.listing).last, charged: parts.compactMap(\.charged).last)
  }

  /// What concerns one partition, and what concerns others.
  func divided(by partition: Partition, of partitions: Partitions) -> (near: Relays, far: Relays) {
    func isNear(_ account: AccountID) -> Bool { partitions.holding(.personal(account)) == partition }
    func isFar(_ account: AccountID) -> Bool { !isNear(account) }
    let isListedNear = listing.map { partitions.holding($0.directory) == partition } ?? false
    return (
      near: Relays(
        index: index.compactMap { $0.concerning(isNear) },
        deliveries: deliveries.filter { isNear($0.account) },
        listing: isListedNear ? listing : nil, charged: charged),
      far: Relays(
        index: index.compactMap { $0.concerning(isFar) }, deliveries: deliveries.filter { isFar($0.account) },
        listing: isListedNear ? nil : listing, charged: charged)
    )
  }
}

extension IndexChange {
  /// Nil when it concerns none of them.
  fileprivate func concerning(_ isConcerned: (AccountID) -> Bool) -> IndexChange? {
    let concerned = accounts.filter(isConcerned)
    return concerned.isEmpty ? nil : IndexChange(kind, concerned)
  }
}

extension Partitions {
  func holding(_ directory: ListingChange.Directory) -> Partition { holding(key: directory.name) }

  /// Whether another partition has to learn of it.
  func reachBeyondTheirOwn(_ transaction: Transaction) -> Bool {
    guard transaction.hasRelays else { return false }
    return !Relays(transaction).divided(by: holding(transaction.space), of: self).far.isEmpty
  }
}

/// What tells one delivery from all others: the commit it comes from, and its place among those of it. An
/// account remembers it, because its log does not: what was read is deleted from there.
struct DeliveryKey: Hashable {
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
