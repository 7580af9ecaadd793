import BelfryModel
import ModelSamples

/// Records, and operations decided on them one after the other: what one decides is what the next one
/// reads. Every commit gets ids ten apart, so that tests can name what lies before and after.
struct Desk {
  var texts: [RecordAddress: String] = [:]
  /// The last id of the last commit.
  private(set) var lastID = Self.start
  var limits = Limits()
  var spacesOfEachJoiner = 0
  var spacesLeftByEachJoiner = 0
  /// How full each mailbox is.
  var mailboxLevel = MailboxLevel()
  /// The accounts that share a space with everybody.
  var company: Set<AccountID> = []
  var nowMilliseconds: Int64 = 1_763_700_000_000
  /// Before everything that happens here.
  static let start = MessageID(firstAtUnixMilliseconds: 1_763_700_000_000)

  init(_ history: [any Operation] = []) throws {
    for step in history { _ = try carryOut(step) }
  }

  // MARK: Deciding

  func decide<Op: Operation>(_ operation: Op) throws(Refusal) -> Decision<Op.Output> {
    let records = read(for: operation)
    let tables = operation.counts.map { table in
      (table, texts.keys.count { $0.space == operation.space && $0.table == table })
    }
    let context = DecisionContext(
      nowMilliseconds: nowMilliseconds, counts: Dictionary(tables) { first, _ in first },
      spacesOfJoiners: Dictionary(
        operation.joiners(records).map {
          ($0, SpaceCount(current: spacesOfEachJoiner, known: spacesOfEachJoiner + spacesLeftByEachJoiner))
        }
      ) { first, _ in
        first
      },
      mailboxes: Dictionary(
        (operation.mailboxes?.accounts ?? []).map { ($0, mailboxLevel) }
      ) { first, _ in first },
      company: company.intersection(operation.company(records)?.others ?? []), limits: limits)
    return try operation.decide(records, context: context)
  }

  /// Only what the operation asks for, so that one which reads more than it needs stops the test.
  func read(for operation: some Operation) -> Records {
    var read: [RecordAddress: String?] = [:]
    for address in operation.needs { read[address] = .some(texts[address]) }
    for address in operation.further(Records(read)) { read[address] = .some(texts[address]) }
    return Records(read)
  }

  func refusal<Op: Operation>(of operation: Op) -> Refusal? {
    do {
      _ = try decide(operation)
      return nil
    } catch {
      return error
    }
  }

  @discardableResult
  mutating func carryOut<Op: Operation>(_ operation: Op) throws(Refusal) -> Transaction? {
    guard let transaction = try decide(operation).transaction else { return nil }
    let before = lastID
    lastID = MessageID(before.raw + 10 * Int64(Swift.max(1, transaction.announcements.count))) ?? .last
    for (address, text) in transaction.changes {
      texts[address] = text.map { text in
        text.split(separator: "\u{1}", omittingEmptySubsequences: false).joined(separator: before.streamForm)
          .split(separator: "\u{2}", omittingEmptySubsequences: false).joined(separator: lastID.streamForm)
      }
    }
    for table in transaction.removedTables {
      texts = texts.filter { $0.key.tableAddress != TableAddress(transaction.space, table) }
    }
    return transaction
  }

  // MARK: Reading

  func member(_ account: AccountID, of space: SpaceID) -> MemberRecord? {
    texts[.member(account, of: space)].flatMap { MemberRecord(text: $0) }
  }

  func former(_ account: AccountID, of space: SpaceID) -> MemberRecord? {
    texts[.former(account, of: space)].flatMap { MemberRecord(text: $0) }
  }

  func settings<Record: SpaceRecord>(_: Record.Type, _ space: SpaceID) -> Record? {
    texts[.settings(space)].flatMap { RecordJSON.value(Record.self, $0) }
  }
}

extension Transaction {
  /// The announcements, as `<type> to <audience>`, and then the deliveries, as `<type> for <account>`.
  var announced: [String] {
    announcements.map { "\($0.content.type) to \($0.audience.text)" }
      + deliveries.map { "\($0.content.type) for \($0.account)" }
  }
}
