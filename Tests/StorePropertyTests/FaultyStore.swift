import BelfryModel

@testable import BelfryStore

/// A store with one thing wrong with it, to see that the random walk finds out.
final class FaultyStore: ForwardingStore {
  enum Fault: CaseIterable {
    case ignoresThreshold, thresholdOffByOne, forgetsDedupe, ignoresPreconditions, ignoresCeilings
    case losesAnIndexChange, keepsChannelRosters, staleUpdates, countsReadTwice, keepsReadDirectMessages
    case dropsTheOldestEntry, joinsTooEarly, leavesTooEarly, publishesNoMemberships, publishesNoUpdates
    case losesADelivery, deliversTwice, unlistsNothing, wakesNobody, postponesUnseen, tellsNoDevice
    case countsAllKindsAlike, sweepsWhatWaits, fillsMailboxesWithoutEnd, chargesNobody, findsCompanyEverywhere
    // The faults of brokers that die, see ``MortalMemory``.
    case forgetsTheUnanswered, leavesNothingToRelay, strikesOffWhatIsHalfTold, deliversAgain
  }

  private let store: MemoryStore
  private let fault: Fault

  init(_ store: MemoryStore, _ fault: Fault) {
    self.store = store
    self.fault = fault
    super.init(store)
  }

  override func commit(_ transactions: [Transaction]) async -> [CommitResult] {
    transactions.map { .success(store.commit(faulty($0))) }
  }

  private func faulty(_ transaction: Transaction) -> Transaction {
    var transaction = transaction
    switch fault {
    case .ignoresThreshold: stamp(&transaction) { _ in .all }
    case .thresholdOffByOne:
      let members = store.counts([TableAddress(transaction.space, .roster)])[0]
      stamp(&transaction) { $0 && members == Cast.limits.subscriptionThreshold ? .subscribed : nil }
    case .forgetsDedupe: transaction.dedupe = nil
    case .ignoresPreconditions: transaction.preconditions = [:]
    case .ignoresCeilings: transaction.ceilings = [:]
    case .losesAnIndexChange: transaction.indexChanges.removeAll { $0.kind == .left }
    case .keepsChannelRosters: transaction.removedTables = []
    case .publishesNoMemberships: transaction.changedMemberships = []
    case .publishesNoUpdates: transaction.updates = []
    case .losesADelivery: transaction.deliveries = transaction.deliveries.dropLast()
    case .deliversTwice: transaction.deliveries += transaction.deliveries
    case .unlistsNothing: if transaction.listing?.isListed == false { transaction.listing = nil }
    case .wakesNobody: transaction.wakeAtMilliseconds = nil
    case .tellsNoDevice: transaction.echo = nil
    case .fillsMailboxesWithoutEnd: transaction.mailboxCapacity = nil
    case .chargesNobody: transaction.charged = nil
    case .joinsTooEarly: replace(MessageID.beforeThisCommitMark, by: MessageID.zero, in: &transaction)
    case .leavesTooEarly:
      let last = store.lastIDs(of: [transaction.space.partition])[0]
      replace(MessageID.endOfThisCommitMark, by: last, in: &transaction)
    default: break
    }
    return transaction
  }

  private func stamp(_ transaction: inout Transaction, _ rule: (_ onlyIfUnchanged: Bool) -> Audience.Rule?) {
    let isUnchanged = transaction.changes.keys.allSatisfy { $0.table != .roster }
    for index in transaction.announcements.indices
    where transaction.announcements[index].audience.rule == .byThreshold {
      if let rule = rule(isUnchanged) { transaction.announcements[index].audience.rule = rule }
    }
  }

  private func replace(_ mark: String, by id: MessageID, in transaction: inout Transaction) {
    transaction.changes = transaction.changes.mapValues { text in
      text.map {
        $0.split(separator: mark, omittingEmptySubsequences: false).joined(separator: id.streamForm)
      }
    }
  }

  override func entries(_ requests: [LogRequest]) async throws(StoreError) -> [[LogEntry]] {
    var answers = try store.entries(requests)
    for index in answers.indices {
      if fault == .dropsTheOldestEntry, answers[index].count > 5 { answers[index].removeFirst() }
      if fault == .staleUpdates {
        for entry in answers[index].indices { answers[index][entry].updateTime = nil }
      }
    }
    return answers
  }

  override func markRead(_ mark: ReadMark, by account: AccountID) async throws(StoreError) -> MarkOutcome {
    var mark = mark
    if fault == .keepsReadDirectMessages { mark.directMessages = [:] }
    let outcome = store.markRead(mark, by: account)
    guard fault == .countsReadTwice, case .marked(_, let version) = outcome else { return outcome }
    return .marked(mark.items.count + mark.covered.count, version: version)
  }

  override func sweep(_ partition: Partition) async throws(StoreError) {
    store.sweep(partition)
    if fault == .sweepsWhatWaits { store.outboxes[partition] = nil }
  }

  override func spaceCounts(of accounts: [AccountID], in kind: SpaceKind) async throws(StoreError)
    -> [SpaceCount]
  {
    guard fault == .countsAllKindsAlike else { return store.spaceCounts(of: accounts, in: kind) }
    return accounts.map { account in
      let index = store.index(of: account)
      return SpaceCount(current: index.count(where: \.isMember), known: index.count)
    }
  }

  override func areMembers(
    _ accounts: [AccountID], in spaces: [SpaceID]
  ) async throws(StoreError) -> [Bool] {
    if fault == .findsCompanyEverywhere { return accounts.map { _ in true } }
    return store.areMembers(accounts, in: spaces)
  }

  override func postpone(_ due: DueSpace, toMilliseconds time: Int64?) async throws(StoreError) {
    var due = due
    if fault == .postponesUnseen {
      due = store.dueSpaces(nowMilliseconds: .max).spaces.first { $0.space == due.space } ?? due
    }
    store.postpone(due, toMilliseconds: time)
  }
}
