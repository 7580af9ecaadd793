import BelfryBytes
package import BelfryModel

/// Where spaces, logs, rosters and read state are kept.
///
/// Two implementations: Redis, which is the product, and one in memory, which is the oracle that tests
/// compare Redis against. A store carries out decisions and makes none: preconditions, changes and
/// audiences come from the model. Each instance belongs to one event loop.
package protocol Store: AnyObject {
  /// Into which the keyspace is dealt.
  var partitions: Partitions { get }
  /// The name of the data's history as of the latest connection: another one once the store has come back, perhaps
  /// without its last writes. Empty: unknown.
  var history: String { get }

  // MARK: Records

  /// The texts of the records, all as of one moment per space.
  func records(_ addresses: [RecordAddress]) async throws(StoreError) -> Records
  func counts(_ tables: [TableAddress]) async throws(StoreError) -> [Int]
  /// One page of a table, in no particular but a stable order. A record present throughout is on some
  /// page; one that comes or goes meanwhile may be. A cursor that cannot keep this promise is refused as
  /// `badCursor`: where the store was started again since, the order is another one.
  func page(of table: TableAddress, after cursor: PageCursor?, limit: Int) async throws(StoreError)
    -> RecordPage

  // MARK: Writing

  /// Everything in a transaction, or nothing; its echo is told if it is committed, and only then. Those of one
  /// partition are committed in their order, each by itself: what becomes of one does not concern the others.
  /// - Returns: the result of each.
  func commit(_ transactions: [Transaction]) async -> [CommitResult]
  /// Whether each was committed before, as a commit of it would find: by the same sender in the same space. Reads
  /// only.
  func firstSends(of sends: [RepeatedSend]) async throws(StoreError) -> [FirstSend]
  /// Carries what waits in a partition's outbox to other partitions: index changes and deliveries to those
  /// of the accounts, listings to those of the directories. Doing it twice, or from several brokers at
  /// once, is doing it once.
  func relayOutbox(of partition: Partition) async throws(StoreError)
  /// The partitions whose outboxes hold something.
  func partitionsToRelay() async throws(StoreError) -> [Partition]
  /// Whether the partition is to be swept now: true once in so many milliseconds, whoever asks. The next is as long
  /// after it even if the sweep is never finished.
  func beginSweep(of partition: Partition, everyMilliseconds interval: Int64) async throws(StoreError) -> Bool
  /// Trims a partition to retention, and drops what nobody can see or needs any more.
  func sweep(_ partition: Partition) async throws(StoreError)

  // MARK: Reading logs

  /// For each request the entries of its log, oldest first, as they are now (updates applied).
  func entries(_ requests: [LogRequest]) async throws(StoreError) -> [[LogEntry]]
  /// The last id allotted in each partition; zero if none. Whatever is appended later has a larger one,
  /// in every log of the partition, so a reader that stops at this id has missed nothing before it.
  func lastIDs(of partitions: [Partition]) async throws(StoreError) -> [MessageID]
  /// The same, together with where the logs of these spaces end: both as of one moment per partition.
  func ends(of spaces: [SpaceID]) async throws(StoreError) -> [LogEnd]
  /// The space whose log has this entry; nil if none has. Of those that have had an entry at about the same time
  /// it looks at ``Limits/spacesPerLocating``; where more have, the entry may not be found.
  func locate(_ id: MessageID) async throws(StoreError) -> SpaceID?

  /// Whether what needs more memory is refused at present.
  func isMemoryFull() async throws(StoreError) -> Bool

  // MARK: Directories

  /// The spaces of a directory, those created last first. One whose removal is not known here yet may
  /// still be among them.
  func page(of directory: ListingChange.Directory, after cursor: PageCursor?, limit: Int)
    async throws(StoreError) -> DirectoryPage

  // MARK: Spaces to look at

  /// The spaces whose time has come, of each partition those that have waited longest; not more than can
  /// be looked at soon, so whoever looks at them postpones them and asks again.
  func dueSpaces(nowMilliseconds: Int64) async throws(StoreError) -> [DueSpace]
  /// Sets when to look at the space next; nil: not until a commit says so. Does nothing if that has changed
  /// since `due` was read. Any commit in between that wants the space looked at changes it, so what one
  /// has seen of the space before this call is all there is to see.
  func postpone(_ due: DueSpace, toMilliseconds time: Int64?) async throws(StoreError)

  // MARK: Accounts

  /// The spaces an account belongs or belonged to, in no order. Its personal space is not listed: it always has
  /// one.
  func index(of account: AccountID) async throws(StoreError) -> [IndexEntry]
  /// What the account is or was in each space, nil where it has never been: its record in the roster, or
  /// else among the former members.
  func memberRecords(of account: AccountID, in spaces: [SpaceID]) async throws(StoreError) -> [MemberRecord?]
  /// In how many spaces of a kind each account is. Never too low.
  func spaceCounts(of accounts: [AccountID], in kind: SpaceKind) async throws(StoreError) -> [SpaceCount]
  /// How full the mailboxes of the accounts are.
  func mailboxes(
    of accounts: [AccountID], writtenToBy sender: AccountID?
  ) async throws(StoreError) -> [MailboxLevel]
  /// Whether each account belongs to any of the spaces, by its index.
  func areMembers(_ accounts: [AccountID], in spaces: [SpaceID]) async throws(StoreError) -> [Bool]
  func readState(of account: AccountID) async throws(StoreError) -> ReadState
  /// The same as far as it says something of these entries: its size does not depend on what else is read.
  func readState(of account: AccountID, among ids: [MessageID]) async throws(StoreError) -> ReadState
  /// The same and the account's index, in one round trip. The index is not older than the read state: what the index
  /// learns later raises the version that the read state has.
  func accountState(
    of account: AccountID, among ids: [MessageID]
  ) async throws(StoreError) -> (index: [IndexEntry], read: ReadState)
  /// Marks entries read for good and tells the account's consumers, or does nothing. Each entry is counted by one
  /// mark only, whoever marks it at the same time.
  func markRead(_ mark: ReadMark, by account: AccountID) async throws(StoreError) -> MarkOutcome

  /// Milliseconds since 1970 by the store's own clock, which is the one that ids are made from.
  func nowMilliseconds() async throws(StoreError) -> Int64
}

extension Store {
  /// What is kept in this process's own memory has no limit of its own.
  package func isMemoryFull() async throws(StoreError) -> Bool { false }
}

extension Store {
  /// All of a table that is never large, however often the store is started again meanwhile.
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
        // What led to the cursor that is refused is void with it.
        guard error.code == .badCursor else { throw error }
        (records, cursor) = ([], nil)
      }
    }
  }

  package func commit(_ transaction: Transaction) async throws(StoreError) -> CommitOutcome {
    try await commit([transaction])[0].get()
  }
}

package typealias CommitResult = Result<CommitOutcome, StoreError>

/// What became of a transaction.
package enum CommitOutcome: Sendable, Hashable {
  case committed(Commit)
  /// The same was committed before, with this id. Nothing was done now.
  case duplicate(of: MessageID)
  /// The dedupe key was used before, for something else.
  case differentContent
  /// A record is no longer what was read: load and decide again.
  case conflict
  /// The table would have grown past its ceiling.
  case ceiling(RecordTable)
  /// The account's own space holds what it may hold of this sender, or of all.
  case mailboxFull
}

package struct Commit: Sendable, Hashable {
  /// The ids of the announcements, in their order.
  package var ids: [MessageID]
  /// The partition's last id before this commit.
  package var before: MessageID

  package init(ids: [MessageID], before: MessageID) {
    self.ids = ids
    self.before = before
  }
}

/// Where a log ends, and the ids of its partition.
package struct LogEnd: Sendable, Hashable {
  /// The last id allotted in the partition, for whatever purpose; zero if none.
  package var allotted: MessageID
  /// The last entry ever appended to the log, still there or not; zero if none. Nothing is to be found
  /// after it, so a reader that has come this far need not look.
  package var appended: MessageID
  /// Up to here entries were trimmed from the log, by its age or its length, which somebody may not have read; zero
  /// if none were.
  package var lostThrough: MessageID
  /// When ids of the partition were lost, oldest first.
  package var rewinds: [Rewind]
  /// In which history the partition's last id was given; empty if that is unknown.
  package var history: String

  package init(
    allotted: MessageID, appended: MessageID, lostThrough: MessageID = .zero, rewinds: [Rewind] = [],
    history: String = ""
  ) {
    self.allotted = allotted
    self.appended = appended
    self.lostThrough = lostThrough
    self.rewinds = rewinds
    self.history = history
  }
}

/// The store came back in an earlier state: what a partition was given after the last id that was kept is gone. Ids
/// between the two are not given again. Later ones may have been given before, too, where the clock was set back by more
/// than ids leap.
package struct Rewind: Sendable, Hashable {
  /// The name of the history that ended; empty where the partition had no id yet.
  package var ended: String
  /// The last that was kept.
  package var kept: MessageID
  /// The first that was given afterwards.
  package var first: MessageID

  package init(ended: String, kept: MessageID, first: MessageID) {
    self.ended = ended
    self.kept = kept
    self.first = first
  }
}

/// A stretch of one log to read.
package struct LogRequest: Sendable, Hashable {
  package var space: SpaceID
  package var after: MessageID
  package var through: MessageID
  package var limit: Int

  package init(_ space: SpaceID, after: MessageID, through: MessageID = .last, limit: Int) {
    self.space = space
    self.after = after
    self.through = through
    self.limit = limit
  }
}

/// One space in an account's index.
package struct IndexEntry: Sendable, Hashable {
  /// What the index knew of the space at a time.
  package struct State: Sendable, Hashable {
    /// The last id in the space's partition when that became so. Stays that began later were not known yet.
    package var version: MessageID
    /// An id of the account's own partition, allotted when the index learned that the latest of the stays had
    /// begun. A cursor whose place in the index is before it has not taken that stay into account.
    package var addedAt: MessageID

    package init(version: MessageID, addedAt: MessageID) {
      self.version = version
      self.addedAt = addedAt
    }
  }

  /// As many earlier states as an account has earlier stays in a space.
  package static func earlierMax(in space: SpaceID) -> Int { space.kind.intervalsMax - 1 }

  package var space: SpaceID
  /// False: the account has left; the space is in its feed until retention has passed what it may see.
  package var isMember: Bool
  package var state: State
  /// What was known before it learned of each of the account's returns, the latest first.
  package var earlier: [State]

  package init(space: SpaceID, isMember: Bool, state: State, earlier: [State] = []) {
    self.space = space
    self.isMember = isMember
    self.state = state
    self.earlier = earlier
  }

  package var version: MessageID { state.version }
  package var addedAt: MessageID { state.addedAt }

  /// Something the index learned, and what it knew of the space before that, if it is remembered.
  package struct Transition: Sendable, Hashable {
    package var state: State
    package var before: State?
  }

  /// What is news to a cursor that has come this far in the index, oldest first.
  package func transitions(after place: MessageID) -> [Transition] {
    var transitions: [Transition] = []
    let all = [state] + earlier
    for (index, state) in all.enumerated() where state.addedAt > place {
      transitions.append(Transition(state: state, before: index + 1 < all.count ? all[index + 1] : nil))
    }
    return transitions.reversed()
  }

  /// What the index knew when it had come this far; nil if nothing.
  package func state(through place: MessageID) -> State? {
    // Nearly always, for each of thousands of spaces: the latest was learned last.
    if addedAt <= place { return state }
    return earlier.first { $0.addedAt <= place }
  }
}

/// Entries to mark as read.
package struct ReadMark: Sendable, Hashable {
  /// Single entries, each of them visible and unread when it was looked at.
  package var items: [MessageID]
  /// Likewise, but the new watermarks cover them: they are counted and need not be remembered.
  package var covered: [MessageID]
  /// The watermarks to raise to, each in the partition it names. All that the account can see up to there is among
  /// `items`, `covered` or what was read before.
  package var watermarks: [MessageID]
  /// Spaces of which the index learned late, and in which the watermark holds from now on.
  package var caughtUp: [SpaceID]
  /// What to tell the other devices when they marked everything up to an id, beside what is among `echoed`.
  package var upTo: MessageID?
  /// The ids to tell the other devices.
  package var echoed: [MessageID]
  /// Direct messages that are read and can leave the index.
  package var directMessages: [SpaceID]
  /// The device that acted; it is not told.
  package var device: DeviceID?
  /// Of the read state that all this was judged by. If that has changed since, nothing is marked.
  package var version: Int64

  /// - Parameter told: nil: the items.
  package init(
    items: [MessageID], covered: [MessageID] = [], watermarks: [MessageID] = [], caughtUp: [SpaceID] = [],
    upTo: MessageID? = nil, echoed: [MessageID]? = nil, directMessages: [SpaceID] = [],
    device: DeviceID? = nil,
    version: Int64 = 0
  ) {
    self.items = items
    self.covered = covered
    self.watermarks = watermarks
    self.caughtUp = caughtUp
    self.upTo = upTo
    self.echoed = echoed ?? items
    self.directMessages = directMessages
    self.device = device
    self.version = version
  }

  package var echo: ReadEcho {
    ReadEcho(
      items: echoed, marked: items, watermarks: watermarks, caughtUp: caughtUp, upTo: upTo, device: device)
  }
}

/// What came of marking.
package enum MarkOutcome: Sendable, Hashable {
  /// So many of the mark's entries were unread until now; and the version of the read state since.
  case marked(Int, version: Int64)
  /// The read state is no longer the one that the mark was judged by: look again.
  case conflict
}

/// A space that is to be looked at, and since when, milliseconds since 1970.
package struct DueSpace: Sendable, Hashable {
  package var space: SpaceID
  package var atMilliseconds: Int64

  package init(space: SpaceID, atMilliseconds: Int64) {
    self.space = space
    self.atMilliseconds = atMilliseconds
  }
}

/// One page of a directory.
package struct DirectoryPage: Sendable, Hashable {
  package var spaces: [SpaceID]
  /// Nil at the end.
  package var next: PageCursor?

  package init(spaces: [SpaceID], next: PageCursor?) {
    self.spaces = spaces
    self.next = next
  }
}

/// Where a listing goes on; opaque to callers.
package struct PageCursor: Sendable {
  /// More than any of them has.
  package static let textLimitBytes = 1_024

  package var text: String
  package init(text: String) { self.text = text }
}

extension PageCursor: Hashable {
  package static func == (left: Self, right: Self) -> Bool { UTF8Text(left.text) == UTF8Text(right.text) }
  package func hash(into hasher: inout Hasher) { hasher.combine(UTF8Text(text)) }
}

package struct RecordPage: Sendable, Hashable {
  package var records: [(field: String, text: String)]
  /// Nil at the end.
  package var next: PageCursor?

  package init(records: [(field: String, text: String)], next: PageCursor?) {
    self.records = records
    self.next = next
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.next == right.next && left.records.elementsEqual(right.records, by: ==)
  }
  package func hash(into hasher: inout Hasher) {
    hasher.combine(next)
    for record in records { hasher.combine(record.field) }
  }
}
