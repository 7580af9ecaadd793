import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// Changes of a commit for accounts and directories of its own partition are made in the commit, and only the
/// others wait for a relay.
@Suite struct NearRelayTests {
  /// Accounts whose own spaces are in the partition of the server, and one whose is not.
  private static let near = accounts { $0 == space.partition }
  private static let far = accounts { $0 != space.partition }

  private static func accounts(where isWanted: (Partition) -> Bool) -> [AccountID] {
    (0..<2_000).compactMap { AccountID("user\($0)") }
      .filter { isWanted(SpaceID.personal($0).partition) }.prefix(2).map(\.self)
  }

  private static func transaction(for accounts: [AccountID]) -> Transaction {
    var transaction = Transaction(space)
    transaction.indexChanges = [IndexChange(.joined, accounts)]
    var content = NotificationContent(type: 100, toType: .accounts)
    content.body = "welcome"
    transaction.deliveries = accounts.map { Delivery(content, to: $0) }
    return transaction
  }

  @Test func whatConcernsTheSamePartitionIsDoneInTheCommit() async throws {
    try await withBroker { broker, _ in
      let (near, far) = (Self.near[0], Self.far[0])
      for account in [near, far] { try await broker.feed.subscribe(.personal(account)) }
      let commit = try await broker.store.commit([Self.transaction(for: [near, far])])[0].get().commit

      let entry = try #require(try await broker.store.index(of: near).first)
      #expect(entry.space == space && entry.isMember)
      #expect(entry.version > commit.before)
      #expect(entry.addedAt > entry.version, "ids of what accounts are told come after the commit's own")
      #expect(try await broker.bodies(of: near) == ["welcome"])
      #expect(try await broker.store.index(of: far).isEmpty)
      #expect(try await broker.bodies(of: far).isEmpty)

      #expect(try await broker.store.partitionsToRelay() == [space.partition])
      try await broker.store.relayOutbox(of: space.partition)
      #expect(try await broker.store.index(of: far).map(\.space) == [space])
      #expect(try await broker.bodies(of: far) == ["welcome"])
      #expect(try await broker.bodies(of: near) == ["welcome"], "once")
      try await broker.eventually { $0.heard.count == 4 }
      for account in [near, far] {
        let heard = broker.heard.filter { $0.space == .personal(account) }.map(\.message)
        #expect(heard.first == .index)
      }
    }
  }

  @Test func nothingIsLeftToRelayWhereNobodyElseIsConcerned() async throws {
    try await withBroker { broker, redis in
      try redis.command("CONFIG", "RESETSTAT")
      _ = try await broker.store.commit([Self.transaction(for: Self.near)])[0].get().commit
      #expect(try await broker.store.partitionsToRelay() == [])
      #expect(try redis.calls()["xadd"] == 2, "an entry for each, no item of the outbox")
      for account in Self.near {
        #expect(try await broker.store.index(of: account).map(\.space) == [space])
        #expect(try await broker.bodies(of: account) == ["welcome"])
      }
    }
  }

  /// One of two has an index that is none: the other is told, and both once it is mended.
  @Test func whatCannotBeToldWaitsInTheOutbox() async throws {
    try await withBroker { broker, redis in
      let key = layout.spaces(of: Self.near[0])
      try redis.command("SET", key, "no index")
      let accounts = Self.near + [Self.far[0]]
      let committed = try await broker.store.commit([Self.transaction(for: accounts)])[0].get().commit
      #expect(committed.ids.isEmpty)
      #expect(try await broker.store.index(of: Self.near[1]).map(\.space) == [space])
      await #expect(throws: StoreError.self) { try await broker.store.relayOutbox(of: space.partition) }
      #expect(try await broker.store.partitionsToRelay() == [space.partition])

      try redis.command("DEL", key)
      try await broker.store.relayOutbox(of: space.partition)
      #expect(try await broker.store.partitionsToRelay() == [])
      for account in accounts {
        #expect(try await broker.store.index(of: account).map(\.space) == [space])
        #expect(try await broker.bodies(of: account) == ["welcome"], "once, however often it is tried")
      }
    }
  }

  /// In a keyspace of one partition, and more of them than Lua's stack holds.
  @Test func allMayBeNear() async throws {
    let accounts = (0..<5_000).compactMap { AccountID("user\($0)") }
    try await withBroker(partitions: try #require(Partitions(count: 1))) { broker, _ in
      _ = try await broker.store.commit([Self.transaction(for: accounts)])[0].get().commit
      #expect(try await broker.store.partitionsToRelay() == [])
      for account in [accounts[0], accounts[4_999]] {
        #expect(try await broker.store.index(of: account).map(\.space) == [space])
        #expect(try await broker.bodies(of: account) == ["welcome"])
      }
    }
  }
}

extension Broker {
  fileprivate func bodies(of account: AccountID) async throws -> [String?] {
    try await store.entries([LogRequest(.personal(account), after: .zero, limit: 100)])[0]
      .map { RecordJSON.value(NotificationContent.self, $0.contentJSON)?.body }
  }
}
