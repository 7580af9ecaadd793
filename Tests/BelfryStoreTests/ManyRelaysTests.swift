import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// Outboxes in which much waits, or something that cannot be relayed.
@Suite struct ManyRelaysTests {
  private static let other = SpaceID.server(78)

  private static func change(
    _ kind: IndexChange.Kind, _ accounts: [AccountID], in space: SpaceID = space
  ) -> Transaction {
    var transaction = Transaction(space)
    transaction.indexChanges = [IndexChange(kind, accounts)]
    return transaction
  }

  /// Each of them waits until their own index knows.
  @Test func twoHundredWhoJoinAtOnceCostAFewCallsEach() async throws {
    let count = 200
    try await withBroker { broker, redis in
      try await broker.makeServer()
      try redis.command("CONFIG", "RESETSTAT")
      var unaware = 0
      await withTaskGroup { group in
        for number in 0..<count { group.addTask { await broker.joins("member\(number)") } }
        for await isAware in group where !isAware { unaware += 1 }
      }
      #expect(unaware == 0, "whoever has joined sees it")
      let calls = try redis.calls()
      let asked = ["fcall", "xrange", "xdel"].map { calls[$0, default: 0] }
      #expect(asked.reduce(0, +) <= 4 * count, "\(calls)")
      #expect(calls["xdel", default: 0] < count, "relays are shared")
      #expect(try await broker.store.partitionsToRelay() == [])
    }
  }

  @Test func anIndexThatIsNoneHoldsUpNobodyElse() async throws {
    try await withRedisServer(.debuggable) { redis in
      let key = layout.spaces(of: "bob")
      try await withBroker(of: redis) { broker in
        try await broker.makeServer(["bob", "carol"])
        let neighbour = SpaceID.server(
          try #require(space.partition.servers.first { SpaceID.server($0) != space }))
        try redis.command("DEL", key)
        try redis.command("SET", key, "no index")
        // Kicks are to be seen at once, but for the one.
        let leave = [
          Self.change(.left, ["bob"]), Self.change(.left, ["carol"]),
          Self.change(.joined, ["dave"], in: neighbour), Self.change(.joined, ["bob"]),
        ]
        for result in await broker.store.commit(leave) { _ = try result.get().commit }
        await #expect(throws: StoreError.self) { try await broker.store.relayOutbox(of: space.partition) }
        #expect(try await broker.store.index(of: "carol").map(\.isMember) == [false])
        #expect(try await broker.store.index(of: "dave").map(\.space) == [neighbour])

        #expect(try await broker.store.partitionsToRelay() == [space.partition])
        let statistics = broker.store.relayStatistics
        #expect(statistics.waiting == 2, "the later one waits with it")
        #expect(statistics.failures == 1)
        #expect(statistics.lastFailure?.contains("WRONGTYPE") == true, "\(statistics.lastFailure ?? "none")")
        for _ in 0..<2 { try? await broker.store.relayOutbox(of: space.partition) }
        #expect(broker.store.relayStatistics.failures == 3)
        try redis.command("DEL", key)
        try await broker.store.relayOutbox(of: space.partition)
        let index = try await broker.store.index(of: "bob")
        #expect(index.map(\.isMember) == [true] && index[0].earlier.count == 1, "left, then joined")
        #expect(try await broker.store.partitionsToRelay() == [])
        #expect(broker.store.relayStatistics.waiting == 0)
      }
    }
  }

  /// A delivery that cannot be appended must be possible again.
  @Test func aDeliveryToALogThatIsNoneIsNotLost() async throws {
    try await withBroker { broker, redis in
      let log = layout.log(.personal("bob")).text
      try redis.command("SET", log, "no log")
      var transaction = Transaction(space)
      transaction.deliveries = [Delivery(.custom("come"), to: "bob"), Delivery(.custom("come"), to: "carol")]
      _ = try await broker.store.commit(transaction).commit
      try? await broker.store.relayOutbox(of: space.partition)
      #expect(try await broker.log(.personal("carol")).count == 1)
      try redis.command("DEL", log)
      try await broker.store.relayOutbox(of: space.partition)
      for account in ["bob", "carol"] as [AccountID] {
        #expect(try await broker.log(.personal(account)).map(\.body) == ["come"])
      }
    }
  }

  /// Or everybody who commits something would try it again for all others.
  @Test func whatHasFailedIsNotTriedAgainWithEachCommit() async throws {
    try await withRedisServer { redis in
      try await withBroker(of: redis, relayRetryPause: .seconds(3_600)) { broker in
        let key = layout.spaces(of: "bob")
        try redis.command("SET", key, "no index")
        for _ in 0..<20 { _ = try await broker.store.commit(Self.change(.joined, ["bob"])).commit }
        try? await broker.store.relayOutbox(of: space.partition)
        #expect(broker.store.relayStatistics.failures == 1)
        try redis.command("CONFIG", "RESETSTAT")
        for number in 0..<10 {
          let account = try #require(AccountID("member\(number)"))
          _ = try await broker.store.commit(Self.change(.joined, ["bob", account])).commit
          try await broker.store.relayOutbox(of: space.partition)
          #expect(try await broker.store.index(of: account).count == 1)
        }
        #expect(broker.store.relayStatistics.failures == 1)
        #expect(try redis.calls()["fcall"] == 20, "a commit and a relay each")
        try redis.command("DEL", key)
      }
      // Another broker has no reason to wait.
      try await withBroker(of: redis) { broker in
        try await broker.store.relayOutbox(of: space.partition)
        #expect(try await broker.store.partitionsToRelay() == [])
        #expect(try await broker.store.index(of: "bob").count == 1)
      }
    }
  }

  /// Far more than are read together.
  @Test func theOrderIsKeptHoweverMuchWaits() async throws {
    try await withBroker { broker, redis in
      try await broker.fillOutbox(300)
      #expect(try await broker.store.partitionsToRelay() == [space.partition])
      #expect(broker.store.relayStatistics.waiting == 300)
      try await broker.store.relayOutbox(of: space.partition)
      try await broker.expectRelayedInOrder(300)
    }
  }

  @Test func theOrderIsKeptByTwoBrokersAtOnce() async throws {
    try await withRedisServer { redis in
      try await withBroker(of: redis) { try await $0.fillOutbox(300) }
      try await withThrowingTaskGroup { group in
        for _ in 0..<2 {
          group.addTask {
            try await withBroker(of: redis) { try await $0.store.relayOutbox(of: space.partition) }
          }
        }
        try await group.waitForAll()
      }
      try await withBroker(of: redis) { try await $0.expectRelayedInOrder(300) }
    }
  }
}

extension Broker {
  /// Gives whether the account's index knows of it once it is done.
  fileprivate func joins(_ name: String) async -> Bool {
    guard let account = AccountID(name), (try? await add([account])) != nil else { return false }
    return (try? await store.index(of: account).map(\.space)) == [space]
  }

  /// Bob comes and goes, and is written to each time.
  fileprivate func fillOutbox(_ count: Int) async throws {
    for number in 0..<count {
      var transaction = Transaction(space)
      transaction.indexChanges = [IndexChange(number.isMultiple(of: 2) ? .joined : .left, ["bob"])]
      transaction.deliveries = [Delivery(.custom("\(number)"), to: "bob")]
      _ = try await store.commit(transaction).commit
    }
  }

  fileprivate func expectRelayedInOrder(_ count: Int) async throws {
    #expect(try await log(.personal("bob")).map(\.body) == (0..<count).map { "\($0)" })
    let entry = try #require(try await store.index(of: "bob").first)
    #expect(!entry.isMember)
    // An account that joins and leaves in order is known to have left after each stay.
    let versions = [entry.version] + entry.earlier.map(\.version)
    #expect(versions == versions.sorted(by: >) && versions.count == Intervals.limit)
    let waiting = try await store.partitionsToRelay()
    #expect(waiting == [])
  }
}
