import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

@Suite struct SendTests {
  @Test func anEntryIsReadBackAsItWasSent() async throws {
    try await withBroker { broker, _ in
      try await broker.makeServer(["bob"])
      let id = try await broker.append("ding", to: Audience(.byThreshold, channel: channel, except: ["bob"]))
      let entry = try #require(try await broker.log().last)
      #expect(entry.id == id)
      #expect(entry.audience == Audience(.all, channel: channel, except: ["bob"]))
      #expect(entry.body == "ding")
      #expect(entry.updateTime == nil)
      #expect(id.partition == space.partition)
      #expect(abs(id.unixMilliseconds - (try await broker.store.nowMilliseconds())) < 120_000)
    }
  }

  @Test func theThresholdCountsTheMembersOfThatMoment() async throws {
    var limits = Limits()
    limits.subscriptionThreshold = 2
    try await withBroker(limits) { broker, _ in
      try await broker.makeServer(["bob"])
      try await broker.append("two")
      try await broker.add(["carol"])
      try await broker.append("three")
      _ = try await broker.runner.run(LeaveServer(server, actor: Actor(account: "carol")))
      try await broker.append("two again")
      let rules = try await broker.log().filter { $0.body != nil }.map(\.audience.rule)
      #expect(rules == [.all, .subscribed, .all])
    }
  }

  /// The rules that the threshold has no say in, and that of members who have not stopped.
  @Test func anAudienceThatIsDecidedStaysAsItIs() async throws {
    try await withBroker { broker, _ in
      try await broker.makeServer(["bob"])
      let audiences = [
        Audience(.all), Audience(.subscribed, channel: channel), Audience(.named, named: ["bob"]),
        Audience(.willing, except: ["bob"]),
      ]
      for audience in audiences { try await broker.append("ding", to: audience) }
      #expect(try await broker.log().suffix(audiences.count).map(\.audience) == audiences)
    }
  }

  @Test func whatIsNotToBeStoredIsOnlySaid() async throws {
    try await withBroker { broker, redis in
      try await broker.makeServer()
      let last = try await broker.append("stored")
      try await broker.feed.subscribe(space)
      var transaction = Transaction.send("gone")
      transaction.announcements[0].content.setting.persistEnable = false
      let commit = try await broker.store.commit(transaction).commit
      let next = try await broker.append("stored too")
      try await broker.eventually { $0.heard.count == 2 }
      guard case .ephemeral(let entry) = broker.messages[0],
        case .appended(let stored, let predecessor) = broker.messages[1]
      else { throw Unexpected(broker.messages) }
      #expect(entry.id == commit.ids[0] && entry.body == "gone" && entry.audience == Audience(.all))
      #expect(stored.id == next && predecessor == last, "no reader of the log misses what never was in it")
      #expect(last < entry.id && entry.id < next)
      #expect(try await broker.log().map(\.id).suffix(2) == [last, next])
    }
  }

  @Test func aSendCostsTheSameForAnyNumberOfMembers() async throws {
    try await withBroker { broker, redis in
      try await broker.makeServer(["bob", "carol"])
      // The first of a dedupe window opens its bucket.
      _ = try await broker.store.commit(.send("ding", clientId: "first")).commit
      var calls: [[String: Int]] = []
      for members in [3, 2_000] {
        var fields = ["HSET", layout.table(TableAddress(space, .roster)).text]
        for number in 3..<members { fields += ["member\(number)", "m 1763700000000-4096"] }
        if members > 3 { try await broker.command(fields) }
        #expect(try await broker.members() == members)

        var transaction = Transaction.send("ding", clientId: "send \(members)")
        for address in [RecordAddress.settings(space), .member("bob", of: space)] {
          transaction.preconditions[address] = .some(try await broker.text(address))
        }
        try redis.command("CONFIG", "RESETSTAT")
        _ = try await broker.store.commit(transaction).commit
        calls.append(try redis.sendCalls())
      }
      // Functions/send.lua counts them: ten in any case, and the call itself. In the first window there is
      // one bucket.
      #expect(calls[0] == calls[1])
      #expect(
        calls[1] == [
          "fcall": 1, "hget": 2, "hmget": 1, "time": 1, "hsetnx": 1, "hlen": 1, "xadd": 1, "spublish": 1,
          "hset": 1,
        ])
    }
  }

  @Test func aHundredSendsTogetherCostAHundredAppendsAndWhatOneCostsBeside() async throws {
    try await withBroker { broker, redis in
      try await broker.makeServer(["bob"])
      let records = [RecordAddress.settings(space): try await broker.text(.settings(space))]
      _ = try await broker.store.commit(.send("ding", clientId: "first")).commit
      let transactions = (0..<100).map { number in
        var transaction = Transaction.send("ding", clientId: "send \(number)")
        transaction.preconditions = records
        return transaction
      }
      // The number of listeners is asked once, and nothing is published if there are none.
      try await broker.feed.subscribe(space)
      try redis.command("CONFIG", "RESETSTAT")
      let results = await broker.store.commit(transactions)
      var calls = try redis.sendCalls()
      let messages = calls.removeValue(forKey: "spublish") ?? 0
      #expect((2...8).contains(messages), "of 8 KB each: \(messages)")
      #expect(
        calls == [
          "fcall": 1, "hget": 1, "hmget": 2, "time": 1, "hlen": 1, "xadd": 100, "hset": 2,
          "pubsub|shardnumsub": 1,
        ])
      let ids = try results.map { try $0.get().commit.ids[0] }
      #expect(try await broker.log().map(\.id).suffix(100) == ids)
    }
  }

  /// A log's first entry would take more than 4 KiB, if Redis had its way, and direct messages are such logs.
  @Test func aLogOfOneEntryIsSmall() async throws {
    try await withBroker { broker, redis in
      let id = try await broker.append("ding", to: Audience(.all))
      let log = layout.log(space).text
      #expect(try #require(Int(try redis.command("MEMORY", "USAGE", log))) < 1_500)
      #expect(try redis.keys("*:log:*") == [log])
      let next = try await broker.append("dong", to: Audience(.all))
      #expect(try await broker.log().map(\.id) == [id, next])
    }
  }

  @Test func aChangedRecordRefusesTheSend() async throws {
    try await withBroker { broker, redis in
      try await broker.makeServer(["bob"])
      let before = try redis.digest()
      for (address, text) in [
        (RecordAddress.settings(space), "something else" as String?), (.member("bob", of: space), nil),
        (.member("dave", of: space), "m 1763700000000-4096"),
      ] {
        var transaction = Transaction.send("ding", clientId: "a")
        transaction.preconditions = [address: text, .channel(channel, of: space): nil]
        transaction.preconditions[.channel(channel, of: space)] =
          .some(try await broker.text(.channel(channel, of: space)))
        #expect(try await broker.store.commit(transaction) == .conflict)
      }
      #expect(try redis.digest() == before)
    }
  }
}

extension RedisServer {
  /// The calls without the additional ones of one send in 32: it asks for the length of its log, and trims
  /// the log.
  fileprivate func sendCalls() throws -> [String: Int] {
    try calls().filter { !["xlen", "xtrim", "xrange"].contains($0.key) }
  }
}

struct Unexpected: Error {
  let what: String
  init(_ what: some Any) { self.what = "\(what)" }
}
