package import BelfryModel

// MARK: - Indexes of spaces

extension MemoryStore {
  package func index(of account: AccountID) -> [IndexEntry] {
    Array((indexes[account] ?? [:]).values)
  }

  package func memberRecords(of account: AccountID, in spaces: [SpaceID]) -> [MemberRecord?] {
    spaces.map { space in
      [RecordAddress.member(account, of: space), .former(account, of: space)].lazy
        .compactMap(self.text).compactMap { MemberRecord(text: $0) }.first
    }
  }

  package func spaceCounts(of accounts: [AccountID], in kind: SpaceKind) -> [SpaceCount] {
    accounts.map { SpaceCount(of: kind, in: index(of: $0)) }
  }
}

// MARK: - Mailboxes

/// The entries that each user has written to an account since it last marked an entry read, as far as
/// retention reaches.
struct MemoryShares {
  var entries: [AccountID: Int] = [:]
  var expiresAtMilliseconds: Int64
}

extension MemoryStore {
  package func mailboxes(of accounts: [AccountID], writtenToBy sender: AccountID?) -> [MailboxLevel] {
    accounts.map { mailbox(of: $0, writtenToBy: sender) }
  }

  func mailbox(of account: AccountID, writtenToBy sender: AccountID?) -> MailboxLevel {
    MailboxLevel(
      entries: logs[.personal(account)]?.entries.count ?? 0,
      directMessages: index(of: account).count { $0.space.kind == .direct },
      fromSender: sender.flatMap { lastingShares(at: account)?.entries[$0] } ?? 0)
  }

  func charge(_ sender: AccountID?, _ count: Int = 1, at account: AccountID) {
    guard let sender else { return }
    var lasting =
      lastingShares(at: account)
      ?? MemoryShares(expiresAtMilliseconds: clockMilliseconds + limits.retentionMilliseconds)
    lasting.entries[sender, default: 0] += count
    shares[account] = lasting
  }

  private func lastingShares(at account: AccountID) -> MemoryShares? {
    shares[account].flatMap { clockMilliseconds < $0.expiresAtMilliseconds ? $0 : nil }
  }

  package func areMembers(_ accounts: [AccountID], in spaces: [SpaceID]) -> [Bool] {
    accounts.map { account in spaces.contains { indexes[account]?[$0]?.isMember == true } }
  }
}

// MARK: - Invitations

extension MemoryStore {
  package func invitations(to account: AccountID) -> [InvitationPlace] { invitations[account]?.places ?? [] }
}

// MARK: - Read state

extension MemoryStore {
  package func readState(of account: AccountID) -> ReadState { readStates[account] ?? ReadState() }

  package func readStateAndPreferences(
    of account: AccountID
  ) throws(StoreError) -> (read: ReadState, preferences: Preferences) {
    var state = readState(of: account)
    state.hasUnknownMarks = !state.above.isEmpty
    state.above = []
    return (state, try preferences(of: account))
  }

  package func singleMarks(
    of account: AccountID, after place: String?
  ) -> (ids: [MessageID], next: String?) {
    // In parts of a few, so that tests come to know several parts.
    let ids = readState(of: account).above.sorted()
    let rest = ids.drop { id in place.flatMap { MessageID($0) }.map { id <= $0 } ?? false }
    let part = Array(rest.prefix(Self.marksPerPart))
    return (part, part.count < rest.count ? part.last?.text : nil)
  }

  private static let marksPerPart = 2

  private func preferences(of account: AccountID) throws(StoreError) -> Preferences {
    let text = text(.preferences(of: account))
    return try Preferences(stored: text, of: account)
  }

  package func readState(of account: AccountID, among ids: [MessageID]) -> ReadState {
    if ids.isEmpty { return ReadState() }
    var state = readState(of: account)
    state.above.formIntersection(ids)
    return state
  }

  package func accountState(
    of account: AccountID, among ids: [MessageID]
  ) throws(StoreError) -> (index: [IndexEntry], read: ReadState, preferences: Preferences) {
    (index(of: account), readState(of: account, among: ids), try preferences(of: account))
  }

  package func markRead(_ mark: ReadMark, by account: AccountID) -> MarkOutcome {
    var state = readState(of: account)
    guard state.version == mark.version else { return .conflict }
    if !mark.watermarks.isEmpty {
      state.version += 1
      // From the first watermark on, the index raises the version when it learns of a space. It may have
      // learned of one since the mark was judged, without raising the version.
      readStates[account] = state
      if mark.version == 0 { return .conflict }
    }
    let unread = Set(mark.items + mark.covered).filter { !state.above.contains($0) }
    state.apply(mark.echo, partitions)
    readStates[account] = state

    // A personal space has one reader, so nobody else needs the entries that were read.
    let personal = SpaceID.personal(account)
    let marked = Set(mark.items + mark.covered)
    remove(from: personal) { state.contains($0.id, in: personal) || marked.contains($0.notificationID) }
    // A direct message's space has one entry unless a second one was sent to it. So once its entry is read,
    // it leaves the index.
    for (directMessage, through) in mark.directMessages {
      guard let entry = indexes[account]?[directMessage], entry.earlier.isEmpty, entry.version <= through
      else { continue }
      indexes[account]?[directMessage] = nil
    }
    shares[account] = nil
    publish(.read(mark.echo), in: personal)
    return .marked(unread.count, version: state.version)
  }
}
