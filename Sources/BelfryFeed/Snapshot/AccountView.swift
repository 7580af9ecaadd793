package import BelfryModel
package import BelfryStore

/// The facts on which the feed of an account depends: its spaces with its membership in each, its marks, and its
/// preferences.
package struct AccountView: Sendable {
  package let account: AccountID
  package var index: [IndexEntry]
  package var memberships: [SpaceID: Membership]
  /// In a snapshot it lacks the entries that the account has marked one by one. A reader that fetches entries asks which of
  /// these are marked.
  package var read: ReadState
  package var preferences: Preferences

  package init(
    account: AccountID, index: [IndexEntry], memberships: [SpaceID: Membership], read: ReadState,
    preferences: Preferences
  ) {
    self.account = account
    self.index = index
    self.memberships = memberships
    self.read = read
    self.preferences = preferences
  }

  /// The receivers of a direct message are those that it names, also when their indexes have forgotten it since they have
  /// read it.
  package func membership(in space: SpaceID) -> Membership {
    memberships[space] ?? (space.kind == .direct ? .always : .never)
  }

  package func visibility(
    of located: LocatedEntry, _ limits: Limits, nowMilliseconds: Int64
  ) -> Visibility {
    let (entry, space) = (located.entry, located.space)
    return Visibility.of(
      entry.id, entry.audience, type: entry.type, isRecalled: entry.isRecalled, in: space, for: account,
      membership: membership(in: space), read: read, preferences: preferences,
      retentionFloor: limits.retentionFloor(nowMilliseconds: nowMilliseconds),
      nowMilliseconds: nowMilliseconds)
  }
}
