import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// The deliveries of a commit to accounts that do not belong to its space: each account has them once.
@Suite struct DeliveryTests {
  private static func invitation(_ accounts: [AccountID], _ body: String = "come") -> Transaction {
    var transaction = Transaction(space)
    transaction.deliveries = accounts.map { Delivery(.custom(body), to: $0) }
    return transaction
  }

  @Test func anEntryOfTheAccountsOwnSpaceWakesItsConsumers() async throws {
    try await withBroker { broker, _ in
      let own = SpaceID.personal("bob")
      try await broker.feed.subscribe(own)
      let first = try await broker.append("own", to: Audience(.all), in: own)
      _ = try await broker.store.commit(Self.invitation(["bob", "carol"])).commit
      #expect(try await broker.store.partitionsToRelay() == [space.partition])
      try await broker.store.relayOutbox(of: space.partition)
      #expect(try await broker.store.partitionsToRelay() == [])

      let delivered = try #require(try await broker.log(own).last)
      #expect(delivered.body == "come" && delivered.audience == Audience(.named, named: ["bob"]))
      #expect(delivered.id > first && delivered.id.partition == own.partition)
      #expect(try await broker.log(.personal("carol")).map(\.body) == ["come"])
      try await broker.eventually { $0.heard.count == 2 }
      #expect(broker.messages[1] == .appended(delivered, predecessor: first))
    }
  }

  @Test func allThatACommitHasForOthersIsOneItem() async throws {
    try await withBroker { broker, redis in
      var transaction = Self.invitation(["bob"])
      transaction.indexChanges = [IndexChange(.joined, ["carol"])]
      transaction.listing = ListingChange(.groups, isListed: true, createdAt: 5)
      _ = try await broker.store.commit(transaction).commit
      #expect(try redis.command("XLEN", layout.outbox(space.partition)) == "1")
      try await broker.store.relayOutbox(of: space.partition)
      #expect(try await broker.log(.personal("bob")).count == 1)
      #expect(try await broker.store.index(of: "carol").map(\.space) == [space])
      #expect(try await broker.store.page(of: .groups, after: nil, limit: 9).spaces == [space])
    }
  }

  /// A relay that dies before it removes the item from the outbox is repeated, any number of times.
  @Test func whatIsRelayedAgainArrivesOnce() async throws {
    try await withBroker { broker, redis in
      _ = try await broker.store.commit(Self.invitation(["bob", "bob", "carol"])).commit
      let outbox = layout.outbox(space.partition)
      let entry = try redis.command("XRANGE", outbox, "-", "+").split(separator: "\n").map(String.init)
      try await broker.store.relayOutbox(of: space.partition)
      let ids = try await broker.log(.personal("bob")).map(\.id)
      #expect(ids.count == 2, "two deliveries to one account are two")

      // Read and deleted: the log no longer knows of the first.
      _ = try await broker.store.marked(ReadMark(items: [ids[0]]), by: "bob")
      #expect(try await broker.log(.personal("bob")).map(\.id) == [ids[1]])
      let before = try redis.digest()
      for _ in 0..<2 {
        // An id that was removed cannot be added again.
        try redis.command("DEL", outbox)
        try redis.command("XADD", outbox, entry[0], entry[1], entry[2])
        try await broker.store.relayOutbox(of: space.partition)
      }
      #expect(try redis.digest() == before)
    }
  }

  @Test func twoBrokersAtOnceDeliverOnce() async throws {
    try await withRedisServer { redis in
      let accounts = (0..<300).compactMap { AccountID("guest\($0)") }
      try await withBroker(of: redis) { one in
        for _ in 0..<3 { _ = try await one.store.commit(Self.invitation(accounts)).commit }
      }
      try await withThrowingTaskGroup { group in
        for _ in 0..<2 {
          group.addTask {
            try await withBroker(of: redis) { try await $0.store.relayOutbox(of: space.partition) }
          }
        }
        try await group.waitForAll()
      }
      try await withBroker(of: redis) { broker in
        for account in accounts {
          let log = try await broker.log(.personal(account))
          #expect(log.count == 3)
        }
        let waiting = try await broker.store.partitionsToRelay()
        #expect(waiting == [])
      }
    }
  }

  /// The memory of what arrived is not kept for ever; what could be older than it is not delivered.
  @Test func whatIsOlderThanRetentionIsDropped() async throws {
    try await withBroker { broker, redis in
      let own = SpaceID.personal("bob")
      let now = try await broker.store.nowMilliseconds()
      let limits = broker.store.limits
      func version(_ milliseconds: Int64) -> MessageID {
        MessageID(unixMilliseconds: milliseconds, partition: space.partition, sequence: 1)
      }
      let deliveries = [Delivery(.custom("come"), to: "bob")]
      let floor = now - limits.retentionMilliseconds
      try await broker.deliver(deliveries, version: version(floor - 60_000), of: space)
      #expect(try await broker.log(own) == [])
      try await broker.deliver(deliveries, version: version(floor + 60_000), of: space)
      #expect(try await broker.log(own).count == 1)

      // Two minutes later it is beyond retention itself: forgotten, and never delivered again, though
      // Redis's clock is behind what the partition's ids say.
      try redis.setLastID(now + 120_000, of: own.partition)
      try await broker.store.sweep(own.partition)
      #expect(try redis.command("EXISTS", layout.delivered(of: "bob")) == "0")
      try await broker.deliver(deliveries, version: version(floor + 60_000), of: space)
      #expect(try await broker.log(own).map(\.body) == ["come"])
    }
  }

  @Test func anAccountIsKnownWhileItRemembersWhatArrived() async throws {
    try await withBroker { broker, redis in
      let own = SpaceID.personal("bob")
      _ = try await broker.store.commit(Self.invitation(["bob"])).commit
      try await broker.relayEverything()
      let id = try await broker.log(own)[0].id
      _ = try await broker.store.marked(ReadMark(items: [id]), by: "bob")
      try await broker.store.sweep(own.partition)
      #expect(try redis.command("HLEN", layout.delivered(of: "bob")) == "1")
      #expect(try redis.command("HEXISTS", layout.partitionHash(own.partition), own.key) == "1")
    }
  }

  /// The deliveries of several commits to one account arrive in the order of the commits.
  @Test func waitingCommitsAreRelayedInTheirOrder() async throws {
    try await withBroker { broker, _ in
      let bodies = (0..<60).map { "invitation \($0)" }
      for body in bodies { _ = try await broker.store.commit(Self.invitation(["bob"], body)).commit }
      try await broker.store.relayOutbox(of: space.partition)
      #expect(try await broker.log(.personal("bob")).map(\.body) == bodies)
    }
  }
}

extension NotificationContent {
  static func custom(_ body: String) -> NotificationContent {
    var content = NotificationContent(type: Catalogue.custom.code, toType: .accounts)
    content.body = body
    return content
  }
}
