package import BelfryModel
package import BelfryStore

/// What an account is, as far as its feed goes: its spaces with its standing in each, and what it read.
package struct AccountView: Sendable {
  package let account: AccountID
  package var index: [IndexEntry]
  package var standings: [SpaceID: Standing]
  package var read: ReadState

  package init(account: AccountID, index: [IndexEntry], standings: [SpaceID: Standing], read: ReadState) {
    self.account = account
    self.index = index
    self.standings = standings
    self.read = read
  }

  package func visibility(of entry: LogEntry, in space: SpaceID, retentionFloor: MessageID) -> Visibility {
    Visibility.of(
      entry.id, entry.audience, in: space, for: account, standing: standings[space] ?? .stranger, read: read,
      retentionFloor: retentionFloor)
  }
}
