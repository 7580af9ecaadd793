import BelfryModel
import BelfryRedis
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// The search for an entry by its id alone. Its cost does not depend on the number of spaces.
@Suite struct LocateTests {
  @Test func anUnknownIdCostsAFewCommandsHoweverManySpacesThereAre() async throws {
    try await withBroker { broker, redis in
      let spaces = Array(space.partition.servers.prefix(800)).map { SpaceID.server($0) }
      let sends = spaces.map { Transaction.send("ding", to: Audience(.all), in: $0) }
      let ids = try await broker.store.commit(sends).map { try $0.get().commit.ids[0] }
      for (space, id) in zip(spaces, ids).prefix(20) {
        #expect(try await broker.store.locate(id) == space)
      }
      let last = try #require(ids.last)
      // After all that there is, after everything of this time, and long ago.
      for id in [last.raw + 1, last.raw + 1 << 50, 5_000 << 22 + last.raw % 4_194_304] {
        try redis.command("CONFIG", "RESETSTAT")
        #expect(try await broker.store.locate(try #require(MessageID(id))) == nil)
        let calls = try redis.calls()
        #expect(calls.values.reduce(0, +) <= 10, "\(calls)")
      }
      // The id of a partition that does not exist.
      let foreign = MessageID(
        unixMilliseconds: last.unixMilliseconds, partition: try #require(Partition(1_000)), sequence: 1)
      #expect(try await broker.store.locate(foreign) == nil)
      // Between them: each that has had an entry since is looked at, in two calls.
      try redis.command("CONFIG", "RESETSTAT")
      let between = MessageID(
        unixMilliseconds: ids[0].unixMilliseconds, partition: space.partition, sequence: 4_000)
      #expect(try await broker.store.locate(between) == nil)
      #expect(try redis.calls()["fcall_ro"] ?? 0 <= 3)
    }
  }

  /// The limit holds for any data that somebody puts there.
  @Test func noMoreIsLookedAtThanTheLimit() async throws {
    try await withBroker { broker, redis in
      let id = try await broker.append("ding", to: Audience(.all))
      let key = activeSpaces(of: id)
      for first in stride(from: 0, to: 20_000, by: 5_000) {
        try await broker.command(["SADD", key] + (first..<first + 5_000).map { "direct:\($0 + 1)" })
      }
      try redis.command("SREM", key, space.key)
      try redis.command("CONFIG", "RESETSTAT")
      #expect(try await broker.store.locate(id) == nil)
      let calls = try redis.calls()
      #expect(calls["fcall_ro"] == Limits.spacesPerLocating / RedisStore.locatedPerStep)
    }
  }

  /// A busy space is entered once in a stretch of time, and again in the next; the set goes by itself.
  @Test func aSpaceIsEnteredOnceInAStretchOfTime() async throws {
    try await withBroker { broker, redis in
      let start = (try await broker.store.nowMilliseconds() >> 20 + 4) << 20
      var ids: [MessageID] = []
      for milliseconds in [0, 100, 1 << 20, 1 << 20 + 5, 5 << 20] as [Int64] {
        try redis.setLastID(start + milliseconds)
        try redis.command("CONFIG", "RESETSTAT")
        for _ in 0..<3 {
          let sends = (0..<4).map { _ in Transaction.send("ding", to: Audience(.all)) }
          ids += try await broker.store.commit(sends).flatMap { try $0.get().commit.ids }
        }
        let isFirst = milliseconds % (1 << 20) == 0
        #expect(try redis.calls()["sadd"] == (isFirst ? 1 : nil))
      }
      for id in ids { #expect(try await broker.store.locate(id) == space) }
      let keys = try redis.keys("*:active:*")
      #expect(Set(keys) == Set(ids.map { activeSpaces(of: $0) }) && keys.count == 3)
      for key in keys {
        let left = try #require(Int64(try redis.command("PTTL", key)))
        #expect(left > broker.store.limits.retentionMilliseconds + 1 << 20)
        #expect(left <= broker.store.limits.retentionMilliseconds + 7_200_000)
      }
    }
  }

  /// The last id of a millisecond is borrowed from the next, in one call, over the end of a stretch.
  @Test func entriesOfOneCallOnEitherSideOfAnEndAreFound() async throws {
    try await withBroker { broker, redis in
      let end = (try await broker.store.nowMilliseconds() >> 20 + 4) << 20
      let last = MessageID(unixMilliseconds: end - 1, partition: space.partition, sequence: 4_090)
      try redis.setLastID(last)
      let sends = (0..<10).map { _ in Transaction.send("ding", to: Audience(.all)) }
      let ids = try await broker.store.commit(sends).map { try $0.get().commit.ids[0] }
      #expect(ids[0].unixMilliseconds == end - 1 && ids[9].unixMilliseconds == end)
      for id in ids { #expect(try await broker.store.locate(id) == space) }
    }
  }

  /// The set of the spaces that have an entry in the same 2^20 milliseconds as this id.
  private func activeSpaces(of id: MessageID) -> String {
    layout.prefix(id.partition) + "active:\(id.unixMilliseconds >> 20)"
  }
}
