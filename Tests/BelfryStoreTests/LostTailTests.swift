import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// A Redis that has lost its last writes gives no id again that it may have given.
@Suite struct LostTailTests {
  private static var durable: RedisServer.Options {
    var options = RedisServer.Options.debuggable
    options.appendOnly = .always
    return options
  }

  @Test func inEveryPartitionIDsAreBeyondAllThatWereGiven() async throws {
    try await withBroker(Limits(), Self.durable) { broker, redis in
      let spaces = Partitions.standard.all.compactMap { $0.servers.first { _ in true } }
        .map { SpaceID.server($0) }
      // One had none before, and of one the ids are an hour ahead of the clock.
      let new = try #require(spaces.last?.partition)
      let ahead = try #require(spaces.first?.partition)
      let time = try await broker.store.nowMilliseconds()
      try redis.setLastID(MessageID(unixMilliseconds: time + 3_600_000, partition: ahead, sequence: 4_000))
      var kept: [Partition: MessageID] = [:]
      for space in spaces.dropLast() { kept[space.partition] = try await broker.append("kept", in: space) }
      for round in 0..<3 {
        let end = try redis.appendOnlyBytes()
        var lost: [Partition: MessageID] = [:]
        for space in spaces {
          for _ in 0..<(space.partition == ahead ? 200 : 2) {
            lost[space.partition] = try await broker.append("lost", in: space)
          }
        }
        try await broker.restart(redis, losingAfter: end)
        for space in spaces {
          let (partition, before) = (space.partition, kept[space.partition] ?? .zero)
          let place = try #require(lost[partition])
          let id = try await broker.append("new", in: space)
          #expect(id > place, "round \(round)")
          let rewind = try #require(try await broker.store.ends(of: [space])[0].rewinds.last)
          #expect(rewind.kept == before && before < rewind.first && rewind.first <= id)
          kept[partition] = id
        }
      }
      #expect(try await broker.store.ends(of: [try #require(spaces.last)])[0].rewinds.first?.kept == .zero)
      #expect(kept.count == spaces.count && kept[new] != nil)
    }
  }

  /// FUNCTION FLUSH has the process forget that its ids run ahead of its clock.
  @Test func whatIsGivenAfterTheFunctionsWereFlushedIsLaterInAllPartitions() async throws {
    try await withBroker(Limits(), Self.durable) { broker, redis in
      let spaces = (1...6).compactMap { EntityID($0) }.map { SpaceID.server($0) }
      for space in spaces { try await broker.append("before", in: space) }
      try await broker.restart(redis, losingAfter: try redis.appendOnlyBytes())
      var last = MessageID.zero
      for round in 0..<3 {
        if round > 0 { try redis.command("FUNCTION", "FLUSH") }
        for space in spaces + spaces.reversed() {
          let id = try await broker.append("after", in: space)
          #expect(id.unixMilliseconds >= last.unixMilliseconds, "round \(round)")
          last = id
        }
      }
    }
  }

  @Test func ofMoreThanAreKeptApartTheOldestBecomeOne() async throws {
    try await withBroker(Limits(), Self.durable) { broker, redis in
      var ids = [try await broker.append("first")]
      for _ in 0..<20 {
        try await broker.restart(redis, losingAfter: try redis.appendOnlyBytes())
        ids.append(try await broker.append("next"))
      }
      let rewinds = try await broker.store.ends(of: [space])[0].rewinds
      #expect(rewinds.count == 16)
      #expect(rewinds.first?.kept == ids[0] && rewinds.last?.kept == ids[19])
      #expect(rewinds.last.map { $0.first < ids[20] } == true)
      #expect(Set(rewinds.map(\.ended)).count == 16, "each names another history: \(rewinds)")
      #expect(zip(rewinds, rewinds.dropFirst()).allSatisfy { $0.first <= $1.kept })
    }
  }
}

extension Broker {
  fileprivate func restart(_ redis: RedisServer, losingAfter bytes: UInt64) async throws {
    try await redis.restart(losingAfter: bytes)
    try await TestKit.eventually("it does not connect again") {
      _ = try await command(["PING"])
      return true
    }
  }
}
