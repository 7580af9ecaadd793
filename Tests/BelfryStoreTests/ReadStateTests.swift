import BelfryModel
import BelfryRedis
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

@Suite struct ReadStateTests {
  /// Neighbours far beyond 2^53, where a number that is a double would lose them.
  private static let big = (0..<4).compactMap { MessageID(250_000_000_000_000_000 + $0) }

  @Test func markingCountsWhatWasUnread() async throws {
    try await withBroker { broker, _ in
      let store = broker.store
      let fresh = try await store.wholeReadState(of: "bob")
      #expect(fresh == ReadState())
      #expect(try await store.marked(ReadMark(items: [Self.big[0], Self.big[1]]), by: "bob") == 2)
      #expect(try await store.marked(ReadMark(items: [Self.big[1], Self.big[2]]), by: "bob") == 1)
      #expect(try await store.marked(ReadMark(items: []), by: "bob") == 0)
      #expect(try await store.wholeReadState(of: "bob") == ReadState(above: Set(Self.big[0...2])))
      #expect(try await store.wholeReadState(of: "carol") == ReadState())
      let among = try await store.accountState(of: "bob", among: [Self.big[0], Self.big[3]])
      #expect(among.read == ReadState(above: [Self.big[0]]) && among.index.isEmpty)
    }
  }

  /// Ids of partition 0, and far above them some of another.
  @Test func theWatermarkTakesTheSetIn() async throws {
    try await withBroker { broker, redis in
      let store = broker.store
      let far = Self.big[0].partition
      _ = try await store.marked(ReadMark(items: [9, 10, 11, Self.big[1], Self.big[2]]), by: "bob")
      #expect(try await store.marked(ReadMark(items: [Self.big[3]], watermarks: [10]), by: "bob") == 1)
      let state = try await store.wholeReadState(of: "bob")
      #expect(state.above == [11, Self.big[1], Self.big[2], Self.big[3]])
      #expect(state.watermarks == [10])
      _ = try await store.marked(ReadMark(items: [], watermarks: [Self.big[1]]), by: "bob")
      let later = try await store.wholeReadState(of: "bob")
      #expect(later.above == [11, Self.big[2], Self.big[3]])
      #expect(later.watermark(in: far) == Self.big[1] && later.watermarks.contains(10))
      _ = try await store.marked(ReadMark(items: [], watermarks: [Self.big[0]]), by: "bob")
      let same = try await store.wholeReadState(of: "bob")
      #expect(same.watermark(in: far) == Self.big[1], "it never goes back")
      #expect(try redis.command("SCARD", layout.read(of: "bob")) == "3")
    }
  }

  /// A mark that was judged by an outdated read state is a conflict, and nothing is done.
  @Test func aMarkIsOfTheReadStateItWasJudgedBy() async throws {
    try await withBroker { broker, redis in
      let store = broker.store
      let first = ReadMark(items: [], covered: [5, 6, 7], watermarks: [10])
      // From the first watermark on the index says what it learns.
      let unprepared = try await store.markRead(first, by: "bob")
      #expect(unprepared == .conflict)
      #expect(try await store.marked(first, by: "bob") == 3)
      for late in [first, ReadMark(items: [11], version: 1)] {
        #expect(try await store.markRead(late, by: "bob") == .conflict)
      }
      #expect(try await store.wholeReadState(of: "bob").above.isEmpty)
      #expect(try await store.marked(ReadMark(items: [11]), by: "bob") == 1)
      // Ids that were marked singly are not counted again.
      let second = ReadMark(items: [], covered: [11, 12], watermarks: [12])
      #expect(try await store.marked(second, by: "bob") == 1)
      #expect(try redis.command("EXISTS", layout.read(of: "bob")) == "0")
    }
  }

  /// Its relay came after the mark: what was sent in between was never shown.
  @Test func aSpaceLearnedLateIsNotBornRead() async throws {
    try await withBroker { broker, _ in
      let store = broker.store
      let sent = try await broker.append("before anybody knows", to: Audience(.all))
      _ = try await store.marked(ReadMark(items: [], watermarks: [sent]), by: "bob")
      let item = OutboxItem(
        space: space, version: sent, before: .zero, relays: Relays(index: [IndexChange(.joined, ["bob"])]))
      try await broker.relay(item)
      let state = try await store.wholeReadState(of: "bob")
      #expect(state.lagging == [space: .zero])
      #expect(!state.contains(sent, in: space))
      _ = try await store.marked(ReadMark(items: [sent]), by: "bob")
      #expect(try await store.wholeReadState(of: "bob").contains(sent, in: space))
      _ = try await store.marked(ReadMark(items: [], watermarks: [sent], caughtUp: [space]), by: "bob")
      let caughtUp = try await store.wholeReadState(of: "bob")
      #expect(caughtUp.lagging.isEmpty && caughtUp.contains(sent, in: space))
    }
  }

  @Test func whatIsReadLeavesTheAccountsOwnLog() async throws {
    try await withBroker { broker, _ in
      let own = SpaceID.personal("bob")
      var ids: [MessageID] = []
      for body in ["1", "2", "3", "4"] {
        ids.append(try await broker.append(body, to: Audience(.all), in: own))
      }
      _ = try await broker.store.marked(ReadMark(items: [ids[2]]), by: "bob")
      #expect(try await broker.log(own).map(\.id) == [ids[0], ids[1], ids[3]])
      _ = try await broker.store.marked(ReadMark(items: [], watermarks: [ids[0]]), by: "bob")
      #expect(try await broker.log(own).map(\.id) == [ids[1], ids[3]])
      _ = try await broker.store.marked(ReadMark(items: [], watermarks: [ids[1]]), by: "bob")
      #expect(try await broker.log(own).map(\.id) == [ids[3]])
      // The next entry names its predecessor although that is gone.
      try await broker.feed.subscribe(own)
      _ = try await broker.store.marked(ReadMark(items: [ids[3]]), by: "bob")
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
      _ = try await broker.store.marked(ReadMark(items: [id], watermarks: [id]), by: "bob")
      #expect(try await broker.log().map(\.id) == [id])
    }
  }

  @Test func directMessagesThatAreReadLeaveTheIndex() async throws {
    try await withBroker { broker, _ in
      for directMessage in [1, 2] as [EntityID] {
        try await broker.relay(IndexChange(.joined, ["bob"]), of: .direct(directMessage), version: 5)
      }
      _ = try await broker.store.marked(ReadMark(items: [5], directMessages: [.direct(1): 5]), by: "bob")
      #expect(try await broker.store.index(of: "bob").map(\.space) == [.direct(2)])
    }
  }

  /// A mark that a broker made long ago reaches Redis now. The direct message was read meanwhile, and a second one was sent with
  /// the same client id.
  @Test func aLateMarkLeavesALaterDirectMessageInTheIndex() async throws {
    try await withBroker { broker, _ in
      let late = ReadMark(items: [5], directMessages: [.direct(1): 5])
      try await broker.relay(IndexChange(.joined, ["bob"]), of: .direct(1), version: 5)
      _ = try await broker.store.marked(late, by: "bob")
      try await broker.relay(IndexChange(.joined, ["bob"]), of: .direct(1), version: 6)
      _ = try await broker.store.marked(late, by: "bob")
      #expect(try await broker.store.index(of: "bob").map(\.version) == [6])
    }
  }

  @Test func theOtherDevicesAreTold() async throws {
    try await withBroker { broker, _ in
      try await broker.feed.subscribe(.personal("bob"))
      let marks = [
        // The first watermark raises the version, and the mark is made again.
        ReadMark(items: [5, Self.big[0]], device: "phone"), ReadMark(items: [], watermarks: [5], version: 1),
        ReadMark(
          items: [7, 8], covered: [6], watermarks: [6], caughtUp: [space], upTo: Self.big[1],
          echoed: [Self.big[1]], device: "-", version: 2),
      ]
      for mark in marks { _ = try await broker.store.marked(mark, by: "bob") }
      try await broker.append("the end", to: Audience(.all), in: .personal("bob"))
      try await broker.eventually { $0.messages.last?.entry != nil }
      let echoes = marks.map { LiveMessage.read($0.echo) }
      #expect(broker.messages.dropLast() == echoes[...])
    }
  }

  /// Given the setting that docs/redis-layout.md recommends.
  @Test func aMarkTakesEightBytes() async throws {
    var options = RedisServer.Options.debuggable
    options.settings["set-max-intset-entries"] = "16384"
    try await withBroker(Limits(), options) { broker, redis in
      let first = Self.big[0].raw
      for batch in 0..<20 as Range<Int64> {
        let items = (0..<500).compactMap { MessageID(first + batch * 500 + $0) }
        #expect(try await broker.store.marked(ReadMark(items: items), by: "bob") == 500)
      }
      let key = layout.read(of: "bob")
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
      let key = layout.read(of: "bob")
      for batch in 0..<60 as Range<Int64> {
        // A thousand of a millisecond, all of one partition.
        try await broker.command(["SADD", key] + (0..<1_000).map { "\(first + batch << 22 + Int64($0))" })
      }
      let last = try #require(MessageID(first + 59 << 22 + 998))
      _ = try await broker.store.marked(ReadMark(items: [], watermarks: [last]), by: "bob")
      let state = ReadState(
        watermarks: [last], above: [try #require(MessageID(last.raw + 1))], version: 2)
      #expect(try await broker.store.wholeReadState(of: "bob") == state)
      #expect(try #require(Int(try redis.command("SCARD", key))) > 1_000)
      try await broker.store.sweep(SpaceID.personal("bob").partition)
      #expect(try redis.command("SCARD", key) == "1")
      #expect(try await broker.store.wholeReadState(of: "bob") == state)
    }
  }
}
