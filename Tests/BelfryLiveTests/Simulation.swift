import BelfryLive
import BelfryLoop
import BelfryModel
import BelfryStore
import TestKit
import Testing

/// Chance that several parts of a simulation share, so that one seed repeats all of them.
final class Chance {
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  func next() -> UInt64 { generator.next() }
  func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
  func happens(percent: Int) -> Bool { below(100) < percent }
  func pick<Element>(_ from: [Element]) -> Element { from[below(from.count)] }
}

/// The store in memory, with every answer on its way for a while: others get to run in between, as they
/// do while a real store is asked. Relays can fail, as when a broker dies after its commit.
class SlowStore: Store {
  let memory: MemoryStore
  let loop: EventLoop
  private let chance: Chance
  var relayFailurePercent = 0
  /// How often logs were read.
  private(set) var readings = 0
  /// How often it was asked anything that takes a while.
  private(set) var questions = 0

  init(_ memory: MemoryStore, _ chance: Chance, on loop: EventLoop) {
    self.memory = memory
    self.chance = chance
    self.loop = loop
  }

  var partitions: Partitions { memory.partitions }
  var history: String { memory.history }
  var estimatedMilliseconds: Int64? { memory.clockMilliseconds }

  private func delay() async {
    for _ in 0..<chance.below(4) { await loop.letOthersRun() }
  }

  private func slowly<Value>(_ work: () throws(StoreError) -> Value) async throws(StoreError) -> Value {
    questions += 1
    await delay()
    let value = try work()
    await delay()
    return value
  }

  func records(_ addresses: [RecordAddress]) async throws(StoreError) -> Records {
    try await slowly { () throws(StoreError) in memory.records(addresses) }
  }
  func counts(_ tables: [TableAddress]) async throws(StoreError) -> [Int] {
    try await slowly { () throws(StoreError) in memory.counts(tables) }
  }
  func page(of table: TableAddress, after cursor: PageCursor?, limit: Int) async throws(StoreError)
    -> RecordPage
  {
    try await slowly { () throws(StoreError) in try memory.page(of: table, after: cursor, limit: limit) }
  }
  func commit(_ transactions: [Transaction]) async -> [CommitResult] {
    await delay()
    let results = memory.commit(transactions)
    await delay()
    return results
  }
  func firstSends(of sends: [RepeatedSend]) async throws(StoreError) -> [FirstSend] {
    try await slowly { () throws(StoreError) in memory.firstSends(of: sends) }
  }
  func relayOutbox(of partition: Partition) async throws(StoreError) {
    if chance.happens(percent: relayFailurePercent) { return }
    try await slowly { () throws(StoreError) in memory.relayOutbox(of: partition) }
  }
  func restoreIndexes(
    _ memberships: [StandingMembership], in space: SpaceID, asOf version: MessageID
  ) async throws(StoreError) {
    try await slowly { () throws(StoreError) in memory.restoreIndexes(memberships, in: space, asOf: version) }
  }
  func partitionsToRelay() async throws(StoreError) -> [Partition] { memory.partitionsToRelay() }
  func beginSweep(
    of partition: Partition, everyMilliseconds interval: Int64
  ) async throws(StoreError) -> Bool {
    memory.beginSweep(of: partition, everyMilliseconds: interval)
  }
  func sweep(_ partition: Partition) async throws(StoreError) { memory.sweep(partition) }
  func entries(_ requests: [LogRequest]) async throws(StoreError) -> [[LogEntry]] {
    readings += 1
    return try await slowly { () throws(StoreError) in try memory.entries(requests) }
  }
  func lastIDs(of partitions: [Partition]) async throws(StoreError) -> [MessageID] {
    try await slowly { () throws(StoreError) in memory.lastIDs(of: partitions) }
  }
  func spaceCount() async throws(StoreError) -> Int { memory.spaceCount() }
  func ends(of spaces: [SpaceID]) async throws(StoreError) -> [LogEnd] {
    try await slowly { () throws(StoreError) in memory.ends(of: spaces) }
  }
  func search(for id: MessageID) async throws(StoreError) -> EntrySearch { memory.search(for: id) }
  func index(of account: AccountID) async throws(StoreError) -> [IndexEntry] {
    try await slowly { () throws(StoreError) in memory.index(of: account) }
  }
  func invitations(to account: AccountID) async throws(StoreError) -> [InvitationPlace] {
    try await slowly { () throws(StoreError) in memory.invitations(to: account) }
  }
  func memberRecords(
    of account: AccountID, in spaces: [SpaceID]
  ) async throws(StoreError) -> [MemberRecord?] {
    try await slowly { () throws(StoreError) in memory.memberRecords(of: account, in: spaces) }
  }
  func spaceCounts(of accounts: [AccountID], in kind: SpaceKind) async throws(StoreError) -> [SpaceCount] {
    memory.spaceCounts(of: accounts, in: kind)
  }
  func mailboxes(
    of accounts: [AccountID], writtenToBy sender: AccountID?
  ) async throws(StoreError) -> [MailboxLevel] { memory.mailboxes(of: accounts, writtenToBy: sender) }
  func areMembers(_ accounts: [AccountID], in spaces: [SpaceID]) async throws(StoreError) -> [Bool] {
    memory.areMembers(accounts, in: spaces)
  }
  func page(
    of directory: ListingChange.Directory, after cursor: PageCursor?, limit: Int
  ) async throws(StoreError) -> DirectoryPage { try memory.page(of: directory, after: cursor, limit: limit) }
  func dueSpaces(nowMilliseconds: Int64) async throws(StoreError) -> DueSpaces {
    memory.dueSpaces(nowMilliseconds: nowMilliseconds)
  }
  func postpone(_ due: DueSpace, toMilliseconds time: Int64?) async throws(StoreError) {
    memory.postpone(due, toMilliseconds: time)
  }
  func singleMarks(
    of account: AccountID, after place: String?
  ) async throws(StoreError) -> (ids: [MessageID], next: String?) {
    try await slowly { () throws(StoreError) in memory.singleMarks(of: account, after: place) }
  }
  func readState(of account: AccountID, among ids: [MessageID]) async throws(StoreError) -> ReadState {
    try await slowly { () throws(StoreError) in memory.readState(of: account, among: ids) }
  }
  // One after the other: anything may happen in between.
  func readStateAndPreferences(
    of account: AccountID
  ) async throws(StoreError) -> (read: ReadState, preferences: Preferences) {
    let read = try await slowly { () throws(StoreError) in
      try memory.readStateAndPreferences(of: account).read
    }
    return (read, try await preferences(of: account))
  }
  func accountState(
    of account: AccountID, among ids: [MessageID]
  ) async throws(StoreError) -> (index: [IndexEntry], read: ReadState, preferences: Preferences) {
    let read = try await readState(of: account, among: ids)
    return (try await index(of: account), read, try await preferences(of: account))
  }
  private func preferences(of account: AccountID) async throws(StoreError) -> Preferences {
    try await slowly { () throws(StoreError) in try memory.readStateAndPreferences(of: account).preferences }
  }
  func markRead(_ mark: ReadMark, by account: AccountID) async throws(StoreError) -> MarkOutcome {
    try await slowly { () throws(StoreError) in memory.markRead(mark, by: account) }
  }
  func nowMilliseconds() async throws(StoreError) -> Int64 { memory.clockMilliseconds }
}
