import BelfryModel
import BelfryRedis
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

@Suite struct SweepTests {
  /// A retention that ended a minute before it began: everything is beyond it, with no need to wait.
  private static let over: Limits = {
    var limits = Limits()
    limits.retentionMilliseconds = -60_000
    return limits
  }()

  @Test func nothingWithinRetentionIsTouched() async throws {
    try await withBroker { broker, redis in
      try await broker.makeServer(["bob", "carol"])
      let id = try await broker.append("ding")
      try await broker.update(id)
      var transaction = Transaction.send("ding", in: .direct(5), clientId: "a")
      transaction.indexChanges = [IndexChange(.joined, ["bob", "dave"])]
      _ = try await broker.store.commit(transaction).commit
      try await broker.relayEverything()
      try await broker.append("own", to: Audience(.all), in: .personal("bob"))
      _ = try await broker.store.marked(ReadMark(items: [id], watermarks: [5]), by: "carol")
      _ = try await broker.runner.run(LeaveServer(server, actor: Actor(account: "bob")))
      let before = try redis.digest()
      try await broker.sweepEverything()
      #expect(try redis.digest() == before)
    }
  }

  @Test func logsAreTrimmedByAgeAndByLength() async throws {
    var limits = Limits()
    limits.entriesPerSpace = 200
    try await withBroker(limits) { [limits] broker, redis in
      let log = layout.log(space).text
      let old = limits.retentionFloor(nowMilliseconds: try await broker.store.nowMilliseconds())
      for number in 1...150 as ClosedRange<Int64> {
        let id = MessageID(
          unixMilliseconds: old.unixMilliseconds - 1_000 + number, partition: space.partition, sequence: 0)
        try redis.command("XADD", log, id.streamForm, "all", "{}")
        try redis.setLastID(id)
      }
      let fresh = try await broker.append("fresh")
      try await broker.store.sweep(space.partition)
      // Redis trims by whole nodes, of a hundred entries at most.
      let left = try await broker.log()
      #expect(left.count <= 100 && left.last?.id == fresh)

      for _ in 0..<500 { try await broker.append("ding") }
      try await broker.store.sweep(space.partition)
      #expect(try #require(Int(try redis.command("XLEN", log))) <= 300)
    }
  }

  @Test func formerMembersAreForgottenInSteps() async throws {
    try await withBroker { broker, redis in
      try await broker.append("ding")
      let floor = broker.store.limits.retentionFloor(
        nowMilliseconds: try await broker.store.nowMilliseconds())
      let long = MessageID(
        unixMilliseconds: floor.unixMilliseconds - broker.store.limits.retentionMilliseconds - 60_000,
        partition: space.partition, sequence: 1)
      let lately = MessageID(
        unixMilliseconds: floor.unixMilliseconds - 60_000, partition: space.partition, sequence: 1)
      let table = layout.table(TableAddress(space, .former)).text
      var gone = ["HSET", table]
      for number in 0..<1_500 { gone += ["gone\(number)", "m \(long.streamForm),\(long.streamForm)"] }
      try await broker.command(gone)
      let kept = [
        "lately": "m \(long.streamForm),\(lately.streamForm)",
        "twice": "a \(long.streamForm),\(long.streamForm);\(long.streamForm),\(lately.streamForm)",
        "subscriber": "m \(long.streamForm),\(lately.streamForm) s/\(long.streamForm),\(long.streamForm)",
        "unreadable": "what is this",
      ]
      for (field, text) in kept { try await broker.command(["HSET", table, field, text]) }
      try redis.command("CONFIG", "RESETSTAT")
      try await broker.store.sweep(space.partition)
      let left = try await broker.store.page(of: TableAddress(space, .former), after: nil, limit: 100)
      #expect(Set(left.records.map(\.field)) == Set(kept.keys))
      #expect(try #require(try redis.calls()["hscan"]) > 5, "no step walks through all of it")
    }
  }

  @Test func updatesGoWithTheirEntries() async throws {
    try await withBroker { broker, redis in
      let id = try await broker.append("ding")
      try await broker.update(id)
      let table = TableAddress(space, .updates)
      let old = try #require(MessageID(id.raw - 1))
      try await broker.command([
        "HSET", layout.table(table).text, old.text, "{\"updateTime\":1}", "9", "{}",
      ])
      try await broker.store.sweep(space.partition)
      let left = try await broker.store.page(of: table, after: nil, limit: 10)
      #expect(left.records.map(\.field) == [id.text])
      try await broker.command(["XTRIM", layout.log(space).text, "MAXLEN", "0"])
      try await broker.store.sweep(space.partition)
      #expect(try await broker.store.counts([table]) == [0])
    }
  }

  @Test func aDirectMessageIsOverWithItsEntry() async throws {
    try await withBroker(Self.over) { broker, redis in
      let directMessage = SpaceID.direct(5)
      var transaction = Transaction.send("ding", in: directMessage)
      transaction.indexChanges = [IndexChange(.joined, ["bob"])]
      _ = try await broker.store.commit(transaction).commit
      try await broker.relayEverything()
      #expect(try await broker.spaces(in: directMessage.partition) == [directMessage])
      #expect(try await broker.store.index(of: "bob").count == 1)
      try await broker.sweepEverything()
      #expect(try await broker.spaces(in: directMessage.partition) == [])
      #expect(try await broker.store.index(of: "bob") == [])
      // If nothing is kept for an account, its name is not kept either.
      let clocks = try redis.keys("belfry:{*").filter { !$0.contains(":active:") && !$0.hasSuffix(":outbox") }
      #expect(clocks.allSatisfy { $0.hasSuffix(":partition") })
      for clock in clocks { try redis.expectNoSpace(in: clock) }
    }
  }

  @Test func anAccountsOwnSpaceStaysWhileAnythingOfItIsKept() async throws {
    try await withBroker(Self.over) { broker, redis in
      let own = SpaceID.personal("bob")
      try await broker.append("ding", to: Audience(.all), in: own)
      try await broker.relay(IndexChange(.joined, ["bob"]), of: space, version: 5)
      try await broker.sweepEverything()
      #expect(try redis.command("EXISTS", layout.log(own).text) == "0")
      #expect(try redis.command("HEXISTS", layout.partitionHash(own.partition), own.key) == "1")
      try await broker.relay(IndexChange(.left, ["bob"]), of: space, version: 6)
      try await broker.sweepEverything()
      #expect(try redis.command("HEXISTS", layout.partitionHash(own.partition), own.key) == "0")
    }
  }

  @Test func readMarksGoOnceNobodyCanSeeTheirEntries() async throws {
    try await withBroker { broker, redis in
      let floor = broker.store.limits.retentionFloor(
        nowMilliseconds: try await broker.store.nowMilliseconds())
      let fresh = try #require(MessageID(floor.raw + 60_000 << 22))
      _ = try await broker.store.marked(
        ReadMark(items: [7, try #require(MessageID(floor.raw - 1)), fresh], watermarks: [6]), by: "bob")
      try await broker.sweepEverything()
      #expect(
        try await broker.store.wholeReadState(of: "bob")
          == ReadState(watermarks: [6], above: [fresh], version: 2))
      try await broker.command(["SREM", layout.read(of: "bob"), fresh.text])
      try await broker.sweepEverything()
      #expect(try redis.keys("*bob") == [])
    }
  }

  /// Redis is started again while a roster is gone through: those whom the rest of the walk would have left out are
  /// told all the same, before the roster goes.
  @Test func aRosterIsGoneThroughInOneProcess() async throws {
    try await withRedisServer(.debuggable) { redis in
      try await withBroker(of: redis) { broker in
        try await broker.makeServer()
        _ = try await broker.runner.run(RemoveServer(server, actor: Actor(account: "alice")))
        try await broker.fill(0..<20_000)
      }
      try await withBroker(of: redis, Self.over) { broker in
        try redis.command("CONFIG", "RESETSTAT")
        async let sweeping: Void = broker.sweep()
        try await broker.meetAnotherProcess(of: redis, afterScans: 20)
        try await sweeping
        #expect(try redis.keys("*:\(space.key)") == [])
        #expect(try redis.calls()["hscan"] ?? 0 >= 20_000 / 200 + 18)
      }
    }
  }

  @Test func aRemovedServerGoesWithItsRosterOnceItsLogIsRead() async throws {
    try await withRedisServer(.debuggable) { redis in
      let accounts = (0..<700).compactMap { AccountID("member\($0)") }
      try await withBroker(of: redis) { broker in
        try await broker.makeServer(accounts)
        _ = try await broker.runner.run(
          CreateChannel(
            server, id: 9, actor: Actor(account: "alice"), name: "bells", type: .private,
            membership: .roster, members: [accounts[0]]))
        _ = try await broker.runner.run(LeaveServer(server, actor: Actor(account: accounts[1])))
        _ = try await broker.runner.run(RemoveServer(server, actor: Actor(account: "alice")))
        let before = try redis.digest()
        try await broker.sweepEverything()
        #expect(try redis.digest() == before, "its members still have it to read")
      }
      try await withBroker(of: redis, Self.over) { broker in
        try await broker.sweepEverything()
        #expect(try await broker.spaces(in: space.partition) == [])
        #expect(try redis.keys("*:\(space.key)") == [])
        try await broker.sweepEverything()
        #expect(try await broker.store.index(of: accounts[0]) == [])
        #expect(try await broker.store.index(of: "alice") == [])
        #expect(try redis.keys("*:spaces:*") == [])
      }
    }
  }

  @Test func aServerThatLivesStaysEvenWithAnEmptyLog() async throws {
    try await withBroker(Self.over) { broker, redis in
      try await broker.makeServer(["bob"])
      try await broker.sweepEverything()
      #expect(try await broker.log() == [])
      #expect(try await broker.members() == 2)
      try await broker.append("ding")
      #expect(try await broker.log().count == 1)
    }
  }

  @Test func dedupeRecordsAreForgottenEvenIfNobodySendsAgain() async throws {
    try await withBroker { broker, redis in
      _ = try await broker.store.commit(.send("ding", clientId: "a")).commit
      let window = broker.store.limits.dedupeWindowMilliseconds
      let now = try await broker.store.nowMilliseconds()
      try await broker.sweepEverything()
      #expect(try redis.keys("*:dedupe:*").count == 1)
      try redis.setLastID(now + 3 * window)
      try await broker.sweepEverything()
      #expect(try redis.keys("*:dedupe:*") == [])
      _ = try await broker.store.commit(.send("ding", clientId: "a")).commit
      #expect(try redis.keys("*:dedupe:*").count == 1)
    }
  }
}

extension Broker {
  func sweepEverything() async throws {
    let keys = Partitions.standard.all.map { RedisCommand("EXISTS", layout.partitionHash($0)) }
    let replies = try await store.pipeline(keys, at: "test")
    for (partition, reply) in zip(Partitions.standard.all, replies) where reply == .integer(1) {
      try await store.sweep(partition)
    }
  }

  func relayEverything() async throws {
    for partition in try await store.partitionsToRelay() { try await store.relayOutbox(of: partition) }
  }

  /// Changes an entry's body.
  func update(_ id: MessageID) async throws {
    let entry = try #require(try await log().first { $0.id == id })
    let update = try UpdateNotification(entry, in: space, by: app, body: "dong", ext: nil, status: nil)
    _ = try await runner.run(update)
  }
}

extension Broker {
  fileprivate func sweep() async throws { try await store.sweep(space.partition) }
}
