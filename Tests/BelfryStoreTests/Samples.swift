import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

// The server that most tests are about, and what is done to it.

let server: EntityID = 77
let space = SpaceID.server(server)
let channel: EntityID = 3
let app = Actor(account: nil, isTrusted: true)

extension Broker {
  var runner: OperationRunner { OperationRunner(store: store, limits: store.limits) }

  /// `alice` owns it; the accounts are members.
  func makeServer(_ accounts: [AccountID] = []) async throws {
    let create = CreateServer(
      id: server, defaultChannel: channel, owner: "alice", actor: Actor(account: "alice"), name: "Bells")
    _ = try await runner.run(create)
    if !accounts.isEmpty { try await add(accounts) }
  }

  func add(_ accounts: [AccountID]) async throws {
    _ = try await runner.run(AddMembers(server, actor: app, accounts: accounts, requestId: "1"))
  }

  func members(of server: SpaceID = space) async throws -> Int {
    try await store.counts([TableAddress(server, .roster)])[0]
  }

  @discardableResult
  func append(_ body: String, to audience: Audience = Audience(.byThreshold), in space: SpaceID = space)
    async throws -> MessageID
  {
    try await store.commit(.send(body, to: audience, in: space)).commit.ids[0]
  }

  func log(_ space: SpaceID = space, after: MessageID = .zero, limit: Int = 1_000) async throws -> [LogEntry]
  {
    try await store.entries([LogRequest(space, after: after, limit: limit)])[0]
  }

  /// Those that have a log, or had one.
  func spaces(in partition: Partition) async throws -> Set<SpaceID> {
    var spaces: Set<SpaceID> = []
    try await store.scanSpaces(of: partition) { (page: [PartitionSpace]) throws(StoreError) in
      for field in page where field.last != .zero { spaces.insert(field.space) }
    }
    return spaces
  }

  func text(_ address: RecordAddress) async throws -> String? {
    try await store.records([address]).text(address)
  }
}

extension Transaction {
  /// One notification and nothing else.
  static func send(
    _ body: String, to audience: Audience = Audience(.byThreshold), in space: SpaceID = .server(server),
    clientId: String? = nil
  ) -> Transaction {
    var content = NotificationContent(type: Catalogue.custom.code, toType: .server)
    content.body = body
    var transaction = Transaction(space)
    transaction.announcements = [Announcement(content, to: audience)]
    transaction.dedupe = clientId.map { Dedupe(sender: "alice", messageClientId: $0) }
    return transaction
  }
}

extension CommitOutcome {
  struct NotCommitted: Error {
    let outcome: CommitOutcome
  }

  var commit: Commit {
    get throws {
      guard case .committed(let commit) = self else { throw NotCommitted(outcome: self) }
      return commit
    }
  }
}

extension LogEntry {
  var body: String? { RecordJSON.value(NotificationContent.self, contentJSON)?.body }
}

extension LiveMessage {
  /// The entry it brings, if any.
  var entry: LogEntry? {
    switch self {
    case .appended(let entry, _), .ephemeral(let entry): entry
    case .memberships, .read, .index, .device, .ended: nil
    }
  }
}

extension CommitOutcome {
  /// The id of the send that this one repeats. An outcome also has the time of that send if its id is ahead of the clock.
  var firstID: MessageID? {
    if case .duplicate(let id, _) = self { id } else { nil }
  }
}

extension RedisServer {
  /// The time of its clock.
  func milliseconds() throws -> Int64 {
    let parts = try command("TIME").split(whereSeparator: \.isNewline).compactMap { Int64($0) }
    try #require(parts.count == 2)
    return parts[0] * 1_000 + parts[1] / 1_000
  }
}
