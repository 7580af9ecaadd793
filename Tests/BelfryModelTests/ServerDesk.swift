import BelfryModel
import ModelSamples

/// A server's records, and operations decided on them one after the other: what one decides is what the
/// next one reads. Every commit gets ids ten apart, so that tests can name what lies before and after.
///
/// Server 1 has `olivia` for its owner, `adam` for an admin, `mia` and `max` for members; `sam` is a
/// stranger. Channel 10 is the default one, 11 a public one with a roster (mia in it), 12 a private one
/// (max in it), 13 another one of everyone's.
struct ServerDesk {
  static let server: EntityID = 1
  static let space = SpaceID.server(server)

  static let olivia = Actor(account: "olivia", device: "olivia-1")
  static let adam = Actor(account: "adam")
  static let mia = Actor(account: "mia", device: "mia-1")
  static let max = Actor(account: "max")
  static let sam = Actor(account: "sam")
  static let app = Actor(account: nil, isTrusted: true)

  private(set) var texts: [RecordAddress: String] = [:]
  /// The last id of the last commit.
  private(set) var lastID = Self.start
  var limits = Limits()
  var serversOfEachJoiner = 0
  var nowMilliseconds: Int64 = 1_763_700_000_000
  /// Before everything that happens here.
  static let start = MessageID(firstAtUnixMilliseconds: 1_763_700_000_000)

  init() throws {
    for step in Self.history { _ = try carryOut(step) }
    texts[.member("adam", of: Self.space)] = texts[.member("adam", of: Self.space)].map {
      "a" + $0.dropFirst()
    }
  }

  private static let history: [any Operation] = [
    CreateServer(id: server, defaultChannel: 10, owner: "olivia", actor: olivia, name: "Tower"),
    AddMembers(server, actor: app, accounts: ["adam", "mia", "max"], requestId: "r1"),
    CreateChannel(
      server, id: 11, actor: app, name: "ropes", type: .public, membership: .roster, members: ["mia"]),
    CreateChannel(
      server, id: 12, actor: app, name: "bells", type: .private, membership: .roster, members: ["max"]),
    CreateChannel(
      server, id: 13, actor: app, name: "stairs", type: .public, membership: .everyone, members: []),
  ]

  // MARK: Deciding

  func decide<Op: Operation>(_ operation: Op) throws(Refusal) -> Decision<Op.Output> {
    // Only what the operation asked for, so that one which reads more than it needs stops the test.
    var records: [RecordAddress: String?] = [:]
    for address in operation.needs { records[address] = .some(texts[address]) }
    let tables = operation.counts.map { table in
      (table, texts.keys.count { $0.space == operation.space && $0.table == table })
    }
    let context = DecisionContext(
      nowMilliseconds: nowMilliseconds, counts: Dictionary(tables) { first, _ in first },
      serversOfJoiners: Dictionary(operation.joiners.map { ($0, serversOfEachJoiner) }) { first, _ in first },
      limits: limits)
    return try operation.decide(Records(records), context: context)
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

  func member(_ account: AccountID) -> MemberRecord? {
    texts[.member(account, of: Self.space)].flatMap { MemberRecord(text: $0) }
  }

  func former(_ account: AccountID) -> MemberRecord? {
    texts[.former(account, of: Self.space)].flatMap { MemberRecord(text: $0) }
  }

  func isInRoster(_ account: AccountID, of channel: EntityID) -> Bool {
    texts[.channelMember(account, channel: channel, of: Self.space)] != nil
  }

  func settings() throws -> ServerRecord? {
    texts[.settings(Self.space)].flatMap { RecordJSON.value(ServerRecord.self, $0) }
  }
}

extension Transaction {
  /// What is announced, as `<type> to <audience>`.
  var announced: [String] { announcements.map { "\($0.content.type) to \($0.audience.text)" } }
}
