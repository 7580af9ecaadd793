package import BelfryModel

/// The store of spaces, logs, rosters and read state.
///
/// There are two implementations: Redis, which is the product, and one in memory, which tests compare Redis
/// against. A store carries out decisions and makes none: preconditions, changes and audiences come from the
/// model. An instance belongs to one event loop.
package protocol Store: AnyObject {
  /// The partitions of the keyspace.
  var partitions: Partitions { get }
  /// The name of the data's history as of the latest connection; empty if unknown. It changes when the store comes
  /// back, perhaps without its last writes.
  var history: String { get }

  // MARK: Records

  /// The texts of the records, those of one space as of one moment.
  func records(_ addresses: [RecordAddress]) async throws(StoreError) -> Records
  /// How many records each table holds.
  func counts(_ tables: [TableAddress]) async throws(StoreError) -> [Int]
  /// One page of a table, in a stable order that has no meaning. A record that is there throughout is on
  /// exactly one page; one that is added or removed meanwhile may be on one.
  /// - Throws: `badCursor` if the store was started again since the cursor was given: the order has changed.
  func page(of table: TableAddress, after cursor: PageCursor?, limit: Int) async throws(StoreError)
    -> RecordPage

  // MARK: Writing

  /// Commits each transaction entirely or not at all, and publishes its echo if it was committed. Transactions of one
  /// partition are committed in their order; the outcome of one does not affect the others.
  /// - Returns: the result of each.
  func commit(_ transactions: [Transaction]) async -> [CommitResult]
  /// The earlier send, if any, that a commit of each send would find: by the same sender in the same space.
  /// Reads only.
  func firstSends(of sends: [RepeatedSend]) async throws(StoreError) -> [FirstSend]
  /// Carries the items of a partition's outbox to other partitions: index changes and deliveries to those of
  /// the accounts, listings to those of the directories. Idempotent, and safe from several brokers at once.
  func relayOutbox(of partition: Partition) async throws(StoreError)
  /// Tells the indexes of these accounts that they belong to the space, if the indexes have forgotten it.
  /// Idempotent.
  /// - Parameter version: an id of the space's partition at which all of them were members.
  func restoreIndexes(
    _ memberships: [StandingMembership], in space: SpaceID, asOf version: MessageID
  ) async throws(StoreError)
  /// The partitions whose outboxes hold items.
  func partitionsToRelay() async throws(StoreError) -> [Partition]
  /// True if the caller is to sweep the partition now. It is true once per interval, over all brokers, even
  /// if that sweep is never finished.
  func beginSweep(of partition: Partition, everyMilliseconds interval: Int64) async throws(StoreError) -> Bool
  /// The clock by which the partition would be swept now.
  func sweepReading(of partition: Partition) async throws(StoreError) -> SweepReading
  /// Trims the logs of a partition to retention, and removes data that nobody can see or needs any more.
  func sweep(_ partition: Partition) async throws(StoreError)
  /// Does the same, at this time of a clock that the caller has judged.
  func sweep(_ partition: Partition, nowMilliseconds: Int64) async throws(StoreError)

  // MARK: Reading logs

  /// For each request the entries of its log, oldest first, with their updates applied.
  func entries(_ requests: [LogRequest]) async throws(StoreError) -> [[LogEntry]]
  /// The last id allotted in each partition; zero if none. Each entry that is appended later, to any log of
  /// the partition, has a larger id.
  func lastIDs(of partitions: [Partition]) async throws(StoreError) -> [MessageID]

  /// The number of spaces in all partitions, accurate to some hundreds.
  func spaceCount() async throws(StoreError) -> Int
  /// The same, and the ends of the logs of these spaces, as of one moment per partition.
  func ends(of spaces: [SpaceID]) async throws(StoreError) -> [LogEnd]
  /// Searches for the space whose log holds this entry. Looks at no more than ``Limits/spacesPerLocating`` spaces that had
  /// an entry at about the same time, so among more of them it may find none.
  func search(for id: MessageID) async throws(StoreError) -> EntrySearch

  /// The room that the store has for writes at present.
  func readRoom() async throws(StoreError) -> RedisRoom

  // MARK: Directories

  /// The spaces of a directory, the latest created first. A space that was just removed may still be listed.
  func page(of directory: ListingChange.Directory, after cursor: PageCursor?, limit: Int)
    async throws(StoreError) -> DirectoryPage

  // MARK: Due spaces

  /// The spaces that are due by `nowMilliseconds`. Each partition gives those that have been due for longest,
  /// at most ``DueSpace/perPartition``. The caller postpones each and asks again.
  func dueSpaces(nowMilliseconds: Int64) async throws(StoreError) -> DueSpaces
  /// Sets the time at which the space is due next; nil: not until a commit says so. Does nothing if a commit
  /// has changed the time since `due` was read, since the caller has not seen the change of that commit.
  func postpone(_ due: DueSpace, toMilliseconds time: Int64?) async throws(StoreError)

  // MARK: Accounts

  /// The spaces an account belongs or belonged to, in no order. Its personal space, which every account has, is not
  /// listed.
  func index(of account: AccountID) async throws(StoreError) -> [IndexEntry]
  /// The places that the account was invited to, the latest first, at most ``Limits/invitationsPerAccount``.
  /// Some invitations may have been answered, or have expired.
  func invitations(to account: AccountID) async throws(StoreError) -> [InvitationPlace]
  /// The account's record in each space, from the roster or else from the former members; nil if it has none.
  func memberRecords(of account: AccountID, in spaces: [SpaceID]) async throws(StoreError) -> [MemberRecord?]
  /// The number of spaces of a kind that each account is in. Never too low.
  func spaceCounts(of accounts: [AccountID], in kind: SpaceKind) async throws(StoreError) -> [SpaceCount]
  /// How full the mailboxes of the accounts are.
  func mailboxes(
    of accounts: [AccountID], writtenToBy sender: AccountID?
  ) async throws(StoreError) -> [MailboxLevel]
  /// True for each account that is a member of any of the spaces, by its index.
  func areMembers(_ accounts: [AccountID], in spaces: [SpaceID]) async throws(StoreError) -> [Bool]
  /// The account's watermarks, whether it has marked single entries, and its preferences, in one round trip. The single
  /// marks themselves are not read, so the size of the reply does not depend on them.
  func readStateAndPreferences(
    of account: AccountID
  ) async throws(StoreError) -> (read: ReadState, preferences: Preferences)
  /// A part of the single entries that the account has marked and no watermark covers, in no order. An id that is there
  /// throughout is in at least one part, unless the store begins a new history meanwhile. A mark of everything may move ids
  /// under a watermark meanwhile, so a reader of all parts reads the watermarks after the last one.
  /// - Parameter place: the start of the part, as the part before it says. Nil begins at the first part.
  /// - Returns: the ids, and the start of the next part. Nil after the last part.
  func singleMarks(
    of account: AccountID, after place: String?
  ) async throws(StoreError) -> (ids: [MessageID], next: String?)
  /// The read state as far as it concerns these entries. Its size does not depend on other entries that are
  /// read.
  func readState(of account: AccountID, among ids: [MessageID]) async throws(StoreError) -> ReadState
  /// The same, the account's index and its preferences, in one round trip. The index is not older than the
  /// read state: when the index learns of a space later, that raises the version of the read state.
  func accountState(
    of account: AccountID, among ids: [MessageID]
  ) async throws(StoreError) -> (index: [IndexEntry], read: ReadState, preferences: Preferences)
  /// Marks entries read for good and publishes the echo, or does nothing. If several marks are made at the
  /// same time, only one of them counts an entry.
  func markRead(_ mark: ReadMark, by account: AccountID) async throws(StoreError) -> MarkOutcome

  /// Milliseconds since 1970 by the store's clock, from which ids are made.
  func nowMilliseconds() async throws(StoreError) -> Int64
  /// The same without waiting, as its last reading says; nil before the first one.
  var estimatedMilliseconds: Int64? { get }

  /// True if everything that a caller was told is done stays done, even if a node of the store is lost.
  var keepsWhatIsAcknowledged: Bool { get }
}

extension Store {
  package var keepsWhatIsAcknowledged: Bool { false }

  /// A store in this process's memory has a clock that only its owner sets.
  package func sweepReading(of partition: Partition) async throws(StoreError) -> SweepReading {
    SweepReading(timeMilliseconds: try await nowMilliseconds(), sweptAtMilliseconds: nil)
  }

  package func sweep(_ partition: Partition, nowMilliseconds: Int64) async throws(StoreError) {
    try await sweep(partition)
  }

  /// A store in this process's memory has no limit of its own.
  package func readRoom() async throws(StoreError) -> RedisRoom { RedisRoom() }

  package func commit(_ transaction: Transaction) async throws(StoreError) -> CommitOutcome {
    try await commit([transaction])[0].get()
  }

  /// All records of a table that is never large. Begins again if the store was started again meanwhile.
  package func everyRecord(
    of table: TableAddress, perPage limit: Int
  ) async throws(StoreError) -> [(field: String, text: String)] {
    var records: [(field: String, text: String)] = []
    var cursor: PageCursor?
    while true {
      do throws(StoreError) {
        let page = try await page(of: table, after: cursor, limit: limit)
        records += page.records
        cursor = page.next
        if cursor == nil { return records }
      } catch {
        guard error.code == .badCursor else { throw error }
        (records, cursor) = ([], nil)
      }
    }
  }
}

/// A space with an event at a certain time that no request causes, such as a room whose attendees may have
/// gone.
package struct DueSpace: Sendable, Hashable {
  /// The number of a partition's due spaces in one answer: about a second's work for the caller.
  static let perPartition = 16

  package var space: SpaceID
  /// Milliseconds since 1970.
  package var atMilliseconds: Int64

  package init(space: SpaceID, atMilliseconds: Int64) {
    self.space = space
    self.atMilliseconds = atMilliseconds
  }
}

package struct DueSpaces: Sendable, Hashable {
  package var spaces: [DueSpace]
  /// False if a partition could not be asked, because its node is away.
  package var isComplete = true
}

extension Preferences {
  /// The preferences as the store keeps them; the default if it has none.
  init(stored text: String?, of account: AccountID) throws(StoreError) {
    guard let text else {
      self.init()
      return
    }
    guard let preferences = Preferences(text: text) else {
      throw StoreError(.corrupt, "they cannot be read", at: "preferences of \(account)")
    }
    self = preferences
  }
}
