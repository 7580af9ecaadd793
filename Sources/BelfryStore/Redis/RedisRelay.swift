package import BelfryModel
import BelfryRedis

extension RedisStore {
  /// Accounts told in one pipeline: some milliseconds of Redis's time, between which it serves others.
  static let relaysPerPipeline = 200
  /// Commits taken from an outbox in one step. Each may concern a thousand accounts.
  private static let outboxStep = 16
  /// Commits that are relayed in their order. More of them wait only after nobody relayed for a while.
  private static let itemsInOrder = 100

  /// In the order of the commits, as long as not too many wait: what one account is told by two of them
  /// should arrive in that order.
  package func relayOutbox(of partition: Partition) async throws(StoreError) {
    let outbox = RedisLayout.outbox(partition)
    let place = "outbox \(partition.number)"
    var unreadable: String?
    var cursor = "0"
    repeat {
      var items: [(field: String, item: OutboxItem)] = []
      repeat {
        let scan = RedisCommand("HSCAN", outbox, cursor, "COUNT", Self.outboxStep)
        let reply = try await pipeline([scan], at: place)[0]
        let (next, fields) = try reading(at: place) { () throws(RedisError) in try reply.scanned() }
        cursor = next
        for (field, text) in fields {
          // One item that nobody can read must not hold up the others.
          if let item = OutboxItem(text) { items.append((field, item)) } else { unreadable = field }
        }
      } while cursor != "0" && items.count < Self.itemsInOrder
      for (field, item) in items.sorted(by: { $0.item.version < $1.item.version }) {
        try await relay(item)
        // Only now: had we died before, another broker would do all of it again, which does no harm.
        _ = try await pipeline([RedisCommand("HDEL", outbox, field)], at: place)
      }
    } while cursor != "0"
    if let unreadable { throw StoreError(.corrupt, "item \(unreadable)", at: place) }
  }

  package func partitionsToRelay() async throws(StoreError) -> [Partition] {
    try await partitions(where: Self.isThereAnOutbox, at: "outboxes")
  }

  private static let isThereAnOutbox = Partition.allCases.map {
    RedisCommand("EXISTS", RedisLayout.outbox($0))
  }

  /// The partitions that have a key.
  /// - Parameter questions: an `EXISTS` for each partition. They are asked so often, and mostly in vain, that it
  ///   would be most of what an idle broker does to make them anew each time.
  func partitions(
    where questions: [RedisCommand], at place: String
  ) async throws(StoreError) -> [Partition] {
    let replies = try await pipeline(questions, at: place)
    return try reading(at: place) { () throws(RedisError) in
      var found: [Partition] = []
      for (partition, reply) in zip(Partition.allCases, replies) where try reply.integer() > 0 {
        found.append(partition)
      }
      return found
    }
  }

  /// Tells the other partitions. Idempotent, in any order.
  func relay(_ item: OutboxItem) async throws(StoreError) {
    for change in item.relays.index { try await relay(change, of: item.space, version: item.version) }
    try await deliver(item.relays.deliveries, version: item.version, of: item.space)
    if let listing = item.relays.listing { try await list(item.space, listing) }
  }

  func relay(_ change: IndexChange, of space: SpaceID, version: MessageID) async throws(StoreError) {
    let indexMax = limits.spacesPerIndex
    try await callAll(change.accounts, at: "relay \(space)") { account in
      var call = RedisCommand(calling: .relay, in: SpaceID.personal(account).partition)
      call.append(account.text)
      call.append(space.key)
      call.append(change.kind.rawValue)
      call.append(version.streamForm)
      call.append(indexMax)
      call.append(IndexEntry.earlierMax)
      return call
    }
  }

  func deliver(_ deliveries: [Delivery], version: MessageID, of space: SpaceID) async throws(StoreError) {
    let limits = limits
    let place = "deliver \(space)"
    try await callAll(Array(deliveries.enumerated()), at: place) { position, delivery throws(StoreError) in
      var call = RedisCommand(calling: .deliver, in: SpaceID.personal(delivery.account).partition)
      call.append(delivery.account.text)
      call.append(version.streamForm)
      call.append(position)
      call.append(limits.retentionMilliseconds)
      call.append(limits.entriesPerSpace)
      call.append(delivery.audience.text)
      call.append(delivery.content.json)
      return call
    }
  }

  func list(_ space: SpaceID, _ listing: ListingChange) async throws(StoreError) {
    try await callAll([listing], at: "list \(space)") { listing in
      var call = RedisCommand(calling: .list, in: RedisLayout.partition(of: listing.directory))
      call.append(listing.directory.rawValue)
      call.append(DirectoryPlace(space, createdAtMilliseconds: listing.createdAt).text)
      call.append(listing.isListed ? "1" : "0")
      return call
    }
  }

  /// Calls a function for each of the values. None of the calls may fail.
  private func callAll<Value>(
    _ values: [Value], at place: String, _ call: (Value) throws(StoreError) -> RedisCommand
  ) async throws(StoreError) {
    for first in stride(from: 0, to: values.count, by: Self.relaysPerPipeline) {
      var calls: [RedisCommand] = []
      for value in values[first..<min(first + Self.relaysPerPipeline, values.count)] {
        calls.append(try call(value))
      }
      let replies = try await self.call(calls, at: place)
      try reading(at: place) { () throws(RedisError) in
        for reply in replies { _ = try reply.integer() }
      }
    }
  }
}

extension Limits {
  /// What an account's index holds at most. Where the account is, is limited when it joins; of the rest,
  /// the oldest gives way.
  var spacesPerIndex: Int {
    serversPerAccount + groupsPerAccount + roomsPerAccount + Limits.lettersPerAccount
  }
}

extension OutboxItem {
  private struct Text: Decodable {
    var space: String
    var version: String
    var relays: Relays?
    /// In the place of `relays`, in what version 1 of the functions wrote.
    var changes: [IndexChange]?
  }

  /// Nil when the text is not what `commit` writes.
  fileprivate init?(_ text: String) {
    guard let item = RecordJSON.value(Text.self, text), let space = SpaceID(key: item.space),
      let version = MessageID(streamForm: item.version),
      let relays = item.relays ?? item.changes.map({ Relays(index: $0) })
    else { return nil }
    self.init(space: space, version: version, relays: relays)
  }
}
