package import BelfryModel
import BelfryRedis

extension RedisStore {
  /// Accounts told in one pipeline: some milliseconds of Redis's time, between which it serves others.
  static let relaysPerPipeline = 200
  /// Commits taken from an outbox in one step. Each may concern a thousand accounts.
  private static let outboxStep = 16

  package func relayOutbox(of partition: Partition) async throws(StoreError) {
    let outbox = RedisLayout.outbox(partition)
    let place = "outbox \(partition.number)"
    var unreadable: String?
    var cursor = "0"
    repeat {
      let scan = RedisCommand("HSCAN", outbox, cursor, "COUNT", Self.outboxStep)
      let reply = try await pipeline([scan], at: place)[0]
      let (next, fields) = try reading(at: place) { () throws(RedisError) in try reply.scanned() }
      cursor = next
      for (field, text) in fields {
        // One item that nobody can read must not hold up the others.
        guard let item = OutboxItem(text) else {
          unreadable = field
          continue
        }
        for change in item.changes { try await relay(change, of: item.space, version: item.version) }
        // Only now: had we died before, another broker would do all of it again, which does no harm.
        _ = try await pipeline([RedisCommand("HDEL", outbox, field)], at: place)
      }
    } while cursor != "0"
    if let unreadable { throw StoreError(.corrupt, "item \(unreadable)", at: place) }
  }

  package func partitionsToRelay() async throws(StoreError) -> [Partition] {
    let partitions = Partition.allCases
    let commands = partitions.map { RedisCommand("HLEN", RedisLayout.outbox($0)) }
    let replies = try await pipeline(commands, at: "outboxes")
    return try reading(at: "outboxes") { () throws(RedisError) in
      var waiting: [Partition] = []
      for (partition, reply) in zip(partitions, replies) where try reply.integer() > 0 {
        waiting.append(partition)
      }
      return waiting
    }
  }

  /// Tells the accounts' partitions. Idempotent, in any order.
  func relay(_ change: IndexChange, of space: SpaceID, version: MessageID) async throws(StoreError) {
    let place = "relay \(space)"
    var rest = change.accounts[...]
    while !rest.isEmpty {
      let calls = rest.prefix(Self.relaysPerPipeline).map { account in
        var call = RedisCommand(calling: .relay, in: SpaceID.personal(account).partition)
        call.append(account.text)
        call.append(space.key)
        call.append(change.kind.rawValue)
        call.append(version.streamForm)
        call.append(limits.serversPerAccount + Limits.lettersPerAccount)
        return call
      }
      rest = rest.dropFirst(Self.relaysPerPipeline)
      let replies = try await call(calls, at: place)
      try reading(at: place) { () throws(RedisError) in
        for reply in replies { _ = try reply.integer() }
      }
    }
  }
}

/// What one commit left in the outbox.
private struct OutboxItem {
  var space: SpaceID
  var version: MessageID
  var changes: [IndexChange]

  private struct Text: Decodable {
    var space: String
    var version: String
    var changes: [IndexChange]
  }

  init?(_ text: String) {
    guard let item = RecordJSON.value(Text.self, text), let space = SpaceID(key: item.space),
      let version = MessageID(streamForm: item.version)
    else { return nil }
    self.space = space
    self.version = version
    changes = item.changes
  }
}
