import BelfryModel
import BelfryRedis
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

@Suite struct MessageIDAllotmentTests {
  @Test func tenThousandSendsInABurstGetGrowingIds() async throws {
    try await withBroker { broker, _ in
      var ids: [MessageID] = []
      for _ in 0..<10 {
        let sends = (0..<1_000).map { _ in Transaction.send("ding") }
        for result in await broker.store.commit(sends) { ids += try result.get().commit.ids }
      }
      #expect(ids.count == 10_000)
      #expect(zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 })
      #expect(ids.allSatisfy { $0.partition == space.partition })
      let entries = try await broker.log(limit: 20_000)
      #expect(entries.map(\.id) == ids)
    }
  }

  @Test func aClockThatWasSetBackDoesNotRepeatIds() async throws {
    try await withBroker { broker, redis in
      let ahead = MessageID(
        unixMilliseconds: try await broker.store.nowMilliseconds() + 3_600_000, partition: space.partition,
        sequence: 4_094)
      try redis.setLastID(ahead)
      // In one call, in which no time passes.
      let sends = ["the last of its millisecond", "borrowed"].map { Transaction.send($0) }
      var ids: [MessageID] = []
      for result in await broker.store.commit(sends) { ids += try result.get().commit.ids }
      let borrowed = MessageID(
        unixMilliseconds: ahead.unixMilliseconds + 1, partition: space.partition, sequence: 0)
      #expect(ids == [MessageID(ahead.raw + 1), borrowed])
      #expect(try await broker.store.lastIDs(of: [space.partition]) == [borrowed])
    }
  }

  @Test func spacesOfOnePartitionShareItsIds() async throws {
    try await withBroker { broker, _ in
      let other = SpaceID.server(try #require(space.partition.servers.first { SpaceID.server($0) != space }))
      let first = try await broker.store.commit(.send("1", to: Audience(.all))).commit
      let second = try await broker.store.commit(.send("2", to: Audience(.all), in: other)).commit
      let third = try await broker.store.commit(.send("3", to: Audience(.all))).commit
      #expect(first.before == .zero)
      #expect(second.before == first.ids[0])
      #expect(third.before == second.ids[0])
      #expect(try await broker.spaces(in: space.partition) == [space, other])
      #expect(try await broker.store.lastIDs(of: [space.partition]) == third.ids)
    }
  }
}
