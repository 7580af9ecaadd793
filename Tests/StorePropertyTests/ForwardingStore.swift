import BelfryModel
import BelfryStore

/// Passes everything on to another store: what is not quite that store says only wherein.
class ForwardingStore: Store {
  let base: any Store

  init(_ base: any Store) { self.base = base }

  var partitions: Partitions { base.partitions }
  var history: String { base.history }
  var estimatedMilliseconds: Int64? { base.estimatedMilliseconds }

  func records(_ addresses: [RecordAddress]) async throws(StoreError) -> Records {
    try await base.records(addresses)
  }
  func counts(_ tables: [TableAddress]) async throws(StoreError) -> [Int] { try await base.counts(tables) }
  func page(of table: TableAddress, after cursor: PageCursor?, limit: Int) async throws(StoreError)
    -> RecordPage
  {
    try await base.page(of: table, after: cursor, limit: limit)
  }

  func commit(_ transactions: [Transaction]) async -> [CommitResult] { await base.commit(transactions) }
  func firstSends(of sends: [RepeatedSend]) async throws(StoreError) -> [FirstSend] {
    try await base.firstSends(of: sends)
  }
  func relayOutbox(of partition: Partition) async throws(StoreError) {
    try await base.relayOutbox(of: partition)
  }
  func restoreIndexes(
    _ memberships: [StandingMembership], in space: SpaceID, asOf version: MessageID
  ) async throws(StoreError) {
    try await base.restoreIndexes(memberships, in: space, asOf: version)
  }
  func partitionsToRelay() async throws(StoreError) -> [Partition] { try await base.partitionsToRelay() }
  func beginSweep(of partition: Partition, everyMilliseconds interval: Int64) async throws(StoreError) -> Bool
  {
    try await base.beginSweep(of: partition, everyMilliseconds: interval)
  }
  func sweep(_ partition: Partition) async throws(StoreError) { try await base.sweep(partition) }

  func entries(_ requests: [LogRequest]) async throws(StoreError) -> [[LogEntry]] {
    try await base.entries(requests)
  }
  func lastIDs(of partitions: [Partition]) async throws(StoreError) -> [MessageID] {
    try await base.lastIDs(of: partitions)
  }
  func spaceCount() async throws(StoreError) -> Int { try await base.spaceCount() }
  func ends(of spaces: [SpaceID]) async throws(StoreError) -> [LogEnd] { try await base.ends(of: spaces) }
  func search(for id: MessageID) async throws(StoreError) -> EntrySearch { try await base.search(for: id) }

  func page(of directory: ListingChange.Directory, after cursor: PageCursor?, limit: Int)
    async throws(StoreError) -> DirectoryPage
  {
    try await base.page(of: directory, after: cursor, limit: limit)
  }

  func dueSpaces(nowMilliseconds: Int64) async throws(StoreError) -> DueSpaces {
    try await base.dueSpaces(nowMilliseconds: nowMilliseconds)
  }
  func postpone(_ due: DueSpace, toMilliseconds time: Int64?) async throws(StoreError) {
    try await base.postpone(due, toMilliseconds: time)
  }

  func index(of account: AccountID) async throws(StoreError) -> [IndexEntry] {
    try await base.index(of: account)
  }
  func invitations(to account: AccountID) async throws(StoreError) -> [InvitationPlace] {
    try await base.invitations(to: account)
  }
  func memberRecords(
    of account: AccountID, in spaces: [SpaceID]
  ) async throws(StoreError) -> [MemberRecord?] {
    try await base.memberRecords(of: account, in: spaces)
  }
  func spaceCounts(of accounts: [AccountID], in kind: SpaceKind) async throws(StoreError) -> [SpaceCount] {
    try await base.spaceCounts(of: accounts, in: kind)
  }
  func mailboxes(
    of accounts: [AccountID], writtenToBy sender: AccountID?
  ) async throws(StoreError) -> [MailboxLevel] {
    try await base.mailboxes(of: accounts, writtenToBy: sender)
  }
  func areMembers(_ accounts: [AccountID], in spaces: [SpaceID]) async throws(StoreError) -> [Bool] {
    try await base.areMembers(accounts, in: spaces)
  }
  func singleMarks(
    of account: AccountID, after place: String?
  ) async throws(StoreError) -> (ids: [MessageID], next: String?) {
    try await base.singleMarks(of: account, after: place)
  }
  func readStateAndPreferences(
    of account: AccountID
  ) async throws(StoreError) -> (read: ReadState, preferences: Preferences) {
    try await base.readStateAndPreferences(of: account)
  }
  func readState(of account: AccountID, among ids: [MessageID]) async throws(StoreError) -> ReadState {
    try await base.readState(of: account, among: ids)
  }
  func accountState(
    of account: AccountID, among ids: [MessageID]
  ) async throws(StoreError) -> (index: [IndexEntry], read: ReadState, preferences: Preferences) {
    try await base.accountState(of: account, among: ids)
  }
  func markRead(_ mark: ReadMark, by account: AccountID) async throws(StoreError) -> MarkOutcome {
    try await base.markRead(mark, by: account)
  }
  func nowMilliseconds() async throws(StoreError) -> Int64 { try await base.nowMilliseconds() }
}
