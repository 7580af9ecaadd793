import BelfryModel
import BelfryRedis
import ModelSamples
import RedisFixture
import Testing

@testable import BelfryStore

@Suite struct ReadStateTests {
  /// Neighbours far beyond 2^53, where a number that is a double would lose them.
  private static let big = (0..<4).compactMap { MessageID(250_000_000_000_000_000 + $0) }

  @Test func markingCountsWhatWasUnread() async throws {
    try await withBroker { broker, _ in
      let store = broker.store
      let fresh = try await store.readState(of: "bob")
      #expect(fresh == ReadState())
      #expect(try await store.markRead(ReadMark(items: [Self.big[0], Self.big[1]]), by: "bob") == 2)
      #expect(try await store.markRead(ReadMark(items: [Self.big[1], Self.big[2]]), by: "bob") == 1)
      #expect(try await store.markRead(ReadMark(items: []), by: "bob") == 0)
      #expect(try await store.readState(of: "bob") == ReadState(above: Set(Self.big[0...2])))
      #expect(try await store.readState(of: "carol") == ReadState())
    }
  }

  @Test func theWatermarkTakesTheSetIn() async throws {
    try await withBroker { broker, redis in
      let store = broker.store
      _ = try await store.markRead(ReadMark(items: [9, 10, 11, Self.big[1], Self.big[2]]), by: "bob")
      #expect(try await store.markRead(ReadMark(items: [Self.big[3]], watermark: 10), by: "bob") == 1)
      #expect(
        try await store.readState(of: "bob")
          == ReadState(watermark: 10, above: [11, Self.big[1], Self.big[2], Self.big[3]]))
      // Longer is later, however it compares as text.
      #expect(try await store.markRead(ReadMark(items: [9], watermark: Self.big[1]), by: "bob") == 0)
      #expect(
        try await store.readState(of: "bob")
          == ReadState(watermark: Self.big[1], above: [Self.big[2], Self.big[3]]))
      #expect(try await store.markRead(ReadMark(items: [Self.big[0]], watermark: 11), by: "bob") == 0)
      #expect(try await store.readState(of: "bob").watermark == Self.big[1], "it never goes back")
      #expect(try redis.command("SCARD", RedisLayout.read(of: "bob")) == "2")
    }
  }

  @Test func whatIsReadLeavesTheAccountsOwnLog() async throws {
    try await withBroker { broker, _ in
      let own = SpaceID.personal("bob")
      var ids: [MessageID] = []
      for body in ["1", "2", "3", "4"] {
        ids.append(try await broker.append(body, to: Audience(.all), in: own))
      }
      _ = try await broker.store.markRead(ReadMark(items: [ids[2]]), by: "bob")
      #expect(try await broker.log(own).map(\.id) == [ids[0], ids[1], ids[3]])
      _ = try await broker.store.markRead(ReadMark(items: [], watermark: ids[0]), by: "bob")
      #expect(try await broker.log(own).map(\.id) == [ids[1], ids[3]])
      try await broker.store.compactReadState(of: "bob", to: ids[1])
      #expect(try await broker.log(own).map(\.id) == [ids[3]])
      // The next entry names its predecessor although that is gone.
      try await broker.feed.subscribe(own)
      _ = try await broker.store.markRead(ReadMark(items: [ids[3]]), by: "bob")
      let next = try await broker.append("5", to: Audience(.all), in: own)
      try await broker.eventually { $0.heard.count == 2 }
      guard case .appended(let entry, let predecessor) = broker.messages[1] else {
        throw Unexpected(broker.messages)
      }
      #expect(entry.id == next && predecessor == ids[3])
    }
  }

  @Test func otherEntriesStay() async throws {
    try await withBroker { broker, _ in
      let id = try await broker.append("for many", to: Audience(.all))
      _ = try await broker.store.markRead(ReadMark(items: [id], watermark: id), by: "bob")
      #expect(try await broker.log().map(\.id) == [id])
    }
  }

  @Test func lettersThatAreReadLeaveTheIndex() async throws {
    try await withBroker { broker, _ in
      for letter in [1, 2] as [EntityID] {
        try await broker.store.relay(IndexChange(.joined, ["bob"]), of: .letter(letter), version: 5)
      }
      _ = try await broker.store.markRead(ReadMark(items: [5], letters: [.letter(1)]), by: "bob")
      #expect(try await broker.store.index(of: "bob").map(\.space) == [.letter(2)])
    }
  }

  @Test func theOtherDevicesAreTold() async throws {
    try await withBroker { broker, _ in
      try await broker.feed.subscribe(.personal("bob"))
      let marks = [
        ReadMark(items: [5, Self.big[0]], device: "phone"), ReadMark(items: [], watermark: 5),
        ReadMark(items: [7, 8], watermark: 6, upTo: Self.big[1], device: "-"),
      ]
      for mark in marks { _ = try await broker.store.markRead(mark, by: "bob") }
      // This tells nobody.
      try await broker.store.compactReadState(of: "bob", to: 7)
      try await broker.append("the end", to: Audience(.all), in: .personal("bob"))
      try await broker.eventually { $0.messages.last?.entry != nil }
      let echoes = marks.map {
        LiveMessage.read(
          ReadEcho(items: $0.items, watermark: $0.watermark, upTo: $0.upTo, device: $0.device))
      }
      #expect(broker.messages.dropLast() == echoes[...])
    }
  }

  /// As DESIGN §6 says, given the setting that docs/redis-layout.md recommends.
  @Test func aMarkTakesEightBytes() async throws {
    var options = RedisServer.Options.debuggable
    options.settings["set-max-intset-entries"] = "16384"
    try await withBroker(Limits(), options) { broker, redis in
      let first = Self.big[0].raw
      for batch in 0..<20 as Range<Int64> {
        let items = (0..<500).compactMap { MessageID(first + batch * 500 + $0) }
        #expect(try await broker.store.markRead(ReadMark(items: items), by: "bob") == 500)
      }
      let key = RedisLayout.read(of: "bob")
      #expect(try redis.command("OBJECT", "ENCODING", key) == "intset")
      let bytes = try #require(Int(try redis.command("MEMORY", "USAGE", key)))
      #expect(bytes < 10_000 * 9)
    }
  }

  /// A set too large to be pruned in one call keeps some of what the watermark covers for a while.
  @Test func aVeryLargeSetIsPrunedInParts() async throws {
    try await withBroker { broker, redis in
      // Within retention: the sweep would forget them otherwise.
      let first = MessageID(firstAtUnixMilliseconds: try await broker.store.nowMilliseconds()).raw
      let key = RedisLayout.read(of: "bob")
      for batch in 0..<60 as Range<Int64> {
        try await broker.command(["SADD", key] + (0..<1_000).map { "\(first + batch * 1_000 + Int64($0))" })
      }
      let last = try #require(MessageID(first + 59_998))
      try await broker.store.compactReadState(of: "bob", to: last)
      let state = ReadState(watermark: last, above: [try #require(MessageID(last.raw + 1))])
      #expect(try await broker.store.readState(of: "bob") == state)
      #expect(try #require(Int(try redis.command("SCARD", key))) > 1_000)
      try await broker.store.sweep(SpaceID.personal("bob").partition)
      #expect(try redis.command("SCARD", key) == "1")
      #expect(try await broker.store.readState(of: "bob") == state)
    }
  }
}
