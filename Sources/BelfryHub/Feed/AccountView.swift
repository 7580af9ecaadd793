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
      entry.id, entry.audience, for: account, standing: standings[space] ?? .stranger, read: read,
      retentionFloor: retentionFloor)
  }

  /// The account's spaces that live in one partition, where an id of that partition can be.
  package func spaces(in partition: Partition) -> [SpaceID] {
    standings.keys.filter { $0.partition == partition }
  }
}

extension AccountView {
  /// Reads an account's index, then its standings and read state. `between` runs in the middle: a live
  /// reader subscribes to the spaces there, so that no change of standing falls between the two reads.
  package static func load(
    _ account: AccountID, from store: any Store,
    between: ([IndexEntry]) async throws(StoreError) -> Void = { (_) throws(StoreError) in }
  ) async throws(StoreError) -> AccountView {
    let index = try await store.index(of: account)
    try await between(index)
    let read = try await store.readState(of: account)
    var standings: [SpaceID: Standing] = [.personal(account): .owner]
    var addresses: [RecordAddress] = []
    for entry in index {
      switch entry.space.kind {
      case .letter, .account: standings[entry.space] = .owner
      case .server, .group, .room:
        addresses += [.member(account, of: entry.space), .former(account, of: entry.space)]
      }
    }
    let records = addresses.isEmpty ? Records() : try await store.records(addresses)
    for address in addresses where standings[address.space] == nil {
      if let record = records.text(address).flatMap({ MemberRecord(text: $0) }) {
        standings[address.space] = record.standing
      }
    }
    return AccountView(account: account, index: index, standings: standings, read: read)
  }
}
