package import BelfryModel
package import BelfryStore

/// What the feed of an account depends on: its spaces with its membership in each, and what it has read.
package struct AccountView: Sendable {
  package let account: AccountID
  package var index: [IndexEntry]
  package var memberships: [SpaceID: Membership]
  package var read: ReadState

  package init(account: AccountID, index: [IndexEntry], memberships: [SpaceID: Membership], read: ReadState) {
    self.account = account
    self.index = index
    self.memberships = memberships
    self.read = read
  }

  package func visibility(
    of located: LocatedEntry, _ limits: Limits, nowMilliseconds: Int64
  ) -> Visibility {
    let (entry, space) = (located.entry, located.space)
    return Visibility.of(
      entry.id, entry.audience, isRecalled: entry.isRecalled, in: space, for: account,
      membership: memberships[space] ?? .never, read: read,
      retentionFloor: limits.retentionFloor(nowMilliseconds: nowMilliseconds),
      nowMilliseconds: nowMilliseconds)
  }
}
