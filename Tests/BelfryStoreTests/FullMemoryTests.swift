import BelfryModel
import BelfryRedis
import ModelSamples
import RedisFixture
import Testing

@testable import BelfryStore

/// Above `maxmemory` nothing more is taken in, and what makes room again goes on.
@Suite struct FullMemoryTests {
  @Test func readingAndSweepingGoOnWhileSendsAreRefused() async throws {
    var limits = Limits()
    limits.retentionMilliseconds = -60_000
    try await withBroker(limits) { broker, redis in
      try await broker.makeServer(["bob"])
      let own = SpaceID.personal("bob")
      let ids = [
        try await broker.append("one", to: Audience(.all), in: own),
        try await broker.append("two", to: Audience(.all), in: own),
      ]
      var transaction = Transaction(space)
      transaction.wakeAtMilliseconds = 5
      transaction.changes[.request(try #require(RequestID(text: "9")), of: space)] = "5 {}"
      _ = try await broker.store.commit(transaction).commit
      _ = try await broker.runner.run(RemoveServer(server, actor: Actor(account: "alice")))
      try redis.command("CONFIG", "SET", "maxmemory", "1mb")

      for refused in [Transaction.send("ding", in: own), transaction] {
        let error = await #expect(throws: StoreError.self) { try await broker.store.commit(refused) }
        #expect(error?.code == .unavailable)
      }
      #expect(try await broker.log(own).map(\.id) == ids)

      #expect(try await broker.store.markRead(ReadMark(items: [ids[0]]), by: "bob") == 1)
      #expect(try await broker.log(own).map(\.id) == [ids[1]])
      try await broker.store.compactReadState(of: "bob", to: ids[1])
      #expect(try await broker.log(own) == [])
      let due = try #require(try await broker.store.dueSpaces(nowMilliseconds: 5).first)
      try await broker.store.postpone(due, toMilliseconds: nil)
      #expect(try await broker.store.dueSpaces(nowMilliseconds: 5) == [])
      try await broker.sweepEverything()
      #expect(try redis.keys("*:\(space.key)") == [])
      #expect(try await broker.store.index(of: "alice") == [])
    }
  }
}
