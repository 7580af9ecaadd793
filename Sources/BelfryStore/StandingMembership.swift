package import BelfryModel

/// An account that is in a space's roster, and since when.
///
/// The roster lies in the space's partition and the account's index in the account's. If Redis loses its last writes, the
/// index may forget what an outbox told it: a failover loses the index of one node, and another node's outbox holds the
/// item no more. The account is a member then, and receives nothing.
package struct StandingMembership: Sendable, Hashable {
  package var account: AccountID
  /// The beginning of the present membership interval. The account sees entries after this id.
  package var since: MessageID

  /// Nil if the record has no present interval.
  package init?(_ account: AccountID, _ record: MemberRecord) {
    guard let interval = record.membership.intervals.all.last, interval.through == nil else { return nil }
    (self.account, since) = (account, interval.after)
  }

  /// - Parameter entry: of the account's index, about the space; nil if there is none.
  package func isKnown(to entry: IndexEntry?) -> Bool {
    entry.map { $0.isMember && since < $0.version } ?? false
  }
}

extension Store {
  /// Has the indexes of those accounts that are in the space's roster learn of the space, where they have forgotten it.
  /// Changes nothing otherwise.
  package func repairIndexes(of accounts: [AccountID], in space: SpaceID) async throws(StoreError) {
    // Read before the records. An account whose interval began after this id has just joined, and the relay of that is
    // under way. All others have been members at this id and are still.
    let version = try await lastIDs(of: [partitions.holding(space)])[0]
    let records = try await self.records(accounts.map { .member($0, of: space) })
    let standing = accounts.compactMap { account in
      records.text(.member(account, of: space)).flatMap { MemberRecord(text: $0) }
        .flatMap { StandingMembership(account, $0) }
    }
    try await restoreIndexes(standing.filter { $0.since < version }, in: space, asOf: version)
  }
}
