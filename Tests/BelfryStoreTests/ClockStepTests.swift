import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// The clock of a running Redis steps, by up to an hour either way.
@Suite struct ClockStepTests {
  /// The commit is acknowledged, what it relays is refused for longer than anything waits, and everything is marked
  /// read meanwhile.
  @Test func whatIsRelayedMuchLaterIsNotBornRead() async throws {
    var options = RedisServer.Options.debuggable
    let clock = try await ShiftedClock()
    options.clock = clock
    try await withBroker(Limits(), options) { broker, redis in
      try await broker.makeServer(["bob"])
      for partition in try await broker.store.partitionsToRelay() {
        try await broker.store.relayOutbox(of: partition)
      }
      var content = NotificationContent(type: Catalogue.custom.code, toType: .accounts)
      content.body = "delivered"
      var transaction = Transaction(space)
      transaction.deliveries = [Delivery(content, to: "bob")]
      _ = try await broker.store.commit(transaction).commit
      try redis.command("CONFIG", "SET", "maxmemory", "1mb")
      await #expect(throws: StoreError.self) { try await broker.store.relayOutbox(of: space.partition) }

      for change: Int64 in [120, -3_600] {
        try clock.step(bySeconds: change)
        let lastIDs = try await broker.store.lastIDs(of: Partitions.standard.all).filter { $0 > .zero }
        _ = try await broker.store.marked(ReadMark(items: [], watermarks: lastIDs), by: "bob")
      }
      try redis.command("CONFIG", "SET", "maxmemory", "0")
      try await broker.store.relayOutbox(of: space.partition)
      let own = SpaceID.personal("bob")
      let entries = try await broker.log(own)
      #expect(entries.map(\.body) == ["delivered"])
      let state = try await broker.store.wholeReadState(of: "bob")
      #expect(entries.allSatisfy { !state.contains($0.id, in: own) })
    }
  }

  @Test func idsOnlyRise() async throws {
    var options = RedisServer.Options.debuggable
    let clock = try await ShiftedClock()
    options.clock = clock
    try await withBroker(Limits(), options) { broker, redis in
      var last = MessageID.zero
      let begin = try redis.seconds()
      for change: Int64 in [600, -600, 3_600, -3_600, -3_600, 3_600] {
        try clock.step(bySeconds: change)
        #expect((0..<60).contains(try redis.seconds() - begin - clock.offsetSeconds), "the clock has stepped")
        let id = try await broker.append("ding")
        #expect(id > last)
        last = id
      }
    }
  }
}

extension RedisServer {
  fileprivate func seconds() throws -> Int64 {
    try #require(try command("TIME").split(separator: "\n").first.flatMap { Int64($0) })
  }
}
