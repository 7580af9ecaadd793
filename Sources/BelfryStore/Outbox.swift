import BelfryModel

/// The changes that one commit makes in other partitions, as one element of the outbox.
struct OutboxItem {
  var space: SpaceID
  /// The last id that the commit was given for its own space. Later commits have later versions, and no two commits of
  /// the keyspace have the same.
  var version: MessageID
  /// The last id of the partition before the commit. Accounts that joined by the commit see entries after
  /// this id.
  var before: MessageID
  var relays: Relays
}

/// The changes that a commit makes for accounts and a directory. Those of its own partition are made in the
/// commit itself, all others by the outbox.
struct Relays: Codable {
  var index: [IndexChange]
  var deliveries: [Delivery]
  var listing: ListingChange?
  /// The account whose share of mailboxes the deliveries and direct messages use; nil: nobody's.
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

  /// The relays of all parts, in their order.
  init(joining parts: [Relays]) {
    self.init(
      index: parts.flatMap(\.index), deliveries: parts.flatMap(\.deliveries),
      listing: parts.compactMap(\.listing).last, charged: parts.compactMap(\.charged).last)
  }

  /// The changes in `partition`, and the changes in other partitions.
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
  /// The change for the accounts for which `isConcerned` is true; nil if there are none.
  fileprivate func concerning(_ isConcerned: (AccountID) -> Bool) -> IndexChange? {
    let concerned = accounts.filter(isConcerned)
    return concerned.isEmpty ? nil : IndexChange(kind, to: channel, concerned)
  }
}

extension Partitions {
  func holding(_ directory: ListingChange.Directory) -> Partition { holding(key: directory.name) }

  /// True if the transaction makes changes in other partitions.
  func reachBeyondTheirOwn(_ transaction: Transaction) -> Bool {
    guard transaction.hasRelays else { return false }
    return !Relays(transaction).divided(by: holding(transaction.space), of: self).far.isEmpty
  }
}

/// Identifies a delivery: the version of its commit, and its position among the commit's deliveries. The receiving
/// partition remembers the keys, since the entries themselves are deleted when read.
struct DeliveryKey: Hashable {
  var version: MessageID
  var position: Int

  var text: String { "\(version.streamForm)/\(position)" }
}

extension Delivery {
  /// The audience within the account's personal space.
  var audience: Audience { Audience(.named, named: [account]) }
}
