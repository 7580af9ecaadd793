import BelfryModel
import BelfryRedis
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// The records that the sweep removes from the tables of a space, and from spaces that are over.
@Suite struct SpaceSweepTests {
  private static let over: Limits = {
    var limits = Limits()
    limits.retentionMilliseconds = -60_000
    return limits
  }()

  @Test(arguments: [SpaceID.server(7), .group(7), .room(7)])
  func recordsThatAreOverGoInSteps(space: SpaceID) async throws {
    try await withBroker { broker, redis in
      let now = try await broker.store.nowMilliseconds()
      var transaction = Transaction(space)
      transaction.changes[.channel(3, of: space)] = "{}"
      _ = try await broker.store.commit(transaction).commit
      let tables = (RecordTable.ofSpace + RecordTable.of(3)).filter(\.expires)
      #expect(tables.count == 4)
      for table in tables {
        var fill = ["HSET", layout.table(TableAddress(space, table)).text]
        for number in 0..<1_500 { fill += ["gone\(number)", "\(now - 60_000)"] }
        fill += ["lasts", "\(now + 60_000) {}", "unreadable", "what is this"]
        try await broker.command(fill)
      }
      try redis.command("CONFIG", "RESETSTAT")
      try await broker.store.sweep(space.partition)
      for table in tables {
        let left = try await broker.store.page(of: TableAddress(space, table), after: nil, limit: 100)
        #expect(Set(left.records.map(\.field)) == ["lasts", "unreadable"], "of \(table.name)")
      }
      #expect(try #require(try redis.calls()["hscan"]) > 20, "no step walks through all of it")
    }
  }

  @Test func whatDoesNotExpireStays() async throws {
    try await withBroker { broker, _ in
      var transaction = Transaction(space)
      let tables = RecordTable.ofSpace + RecordTable.of(3)
      for table in tables where !table.expires && table != .former && table != .updates {
        transaction.changes[RecordAddress(space, table, "3")] = "5"
      }
      _ = try await broker.store.commit(transaction).commit
      try await broker.store.sweep(space.partition)
      for address in transaction.changes.keys { #expect(try await broker.text(address) == "5") }
    }
  }

  /// Nobody gets rid of a mute or a block by going and coming back.
  @Test func aFormerMemberToWhomSomethingIsForbiddenIsRemembered() async throws {
    try await withBroker { broker, _ in
      let now = try await broker.store.nowMilliseconds()
      let long = MessageID(
        unixMilliseconds: now - 2 * broker.store.limits.retentionMilliseconds - 60_000,
        partition: space.partition, sequence: 1
      ).streamForm
      let stay = "m \(long),\(long)"
      let records = [
        "gone": stay, "mutedonce": "\(stay) q/\(now - 1_000)", "allowed": "\(stay) w/1 w3/\(long)",
        "blockedonce": "\(stay) b3/\(long),\(long)", "stopped": "\(stay) x/\(long),\(long)",
        "muted": "\(stay) q/\(now + 60_000)", "mutedthere": "\(stay) q3/\(now + 60_000)",
        "blocked": "\(stay) b3/\(long)", "blockedagain": "\(stay) b3/\(long),\(long);\(long) w/1",
      ]
      let kept: Set = ["muted", "mutedthere", "blocked", "blockedagain"]
      let memory = MemoryStore(limits: broker.store.limits, clockMilliseconds: now)
      var transaction = Transaction(space)
      for (name, text) in records {
        transaction.changes[.former(try #require(AccountID(name)), of: space)] = text
      }
      let table = TableAddress(space, .former)
      for store in [broker.store as any Store, memory] {
        _ = try await store.commit(transaction).commit
        try await store.sweep(space.partition)
        #expect(Set(try await store.page(of: table, after: nil, limit: 100).records.map(\.field)) == kept)
      }
    }
  }

  /// A member who came back, or was muted, between the look and the removal keeps the record.
  @Test func whatWasWrittenAfterItWasJudgedStays() async throws {
    try await withBroker { broker, _ in
      let table = TableAddress(space, .former)
      let key = layout.table(table).text
      try await broker.command(["HSET", key, "bob", "m 1-1,2-2", "carol", "m 1-1,2-2 q/99"])
      let judged = [("bob", "m 1-1,2-2"), ("carol", "m 1-1,2-2"), ("dave", "m 1-1,2-2")]
      let removal = broker.store.removal(of: judged[...], from: table)
      #expect(try await broker.store.call(removal, at: "test") == .integer(1))
      let left = try await broker.store.page(of: table, after: nil, limit: 10)
      #expect(left.records.map(\.field) == ["carol"])
    }
  }

  /// A space whose settings are no longer those that were judged stays as it is.
  @Test func aSpaceGoesOnlyByTheSettingsThatSayItIsOver() async throws {
    try await withBroker { broker, _ in
      var transaction = Transaction(space)
      transaction.changes[.settings(space)] = "{\"createdAt\":17}"
      _ = try await broker.store.commit(transaction).commit
      for (settings, dropped) in [("{\"createdAt\":17,\"removedAt\":20}", 0), ("{\"createdAt\":17}", 1)] {
        var drop = layout.call(.dropSpace, in: space.partition)
        drop.append(contentsOf: [space.key, settings, "settings"])
        #expect(try await broker.store.call(drop, at: "test") == .integer(Int64(dropped)))
      }
      #expect(try await broker.text(.settings(space)) == nil)
    }
  }

  /// Nothing is left of a removed space of any kind: no table, no place in a directory, no time.
  @Test(arguments: [SpaceID.server(7), .group(7), .room(7)])
  func aRemovedSpaceGoesWithAllItHas(space: SpaceID) async throws {
    try await withBroker(Self.over) { broker, redis in
      try await broker.makeRemoved(space)
      for _ in 0..<2 { try await broker.sweepEverything() }
      try redis.expectNothingLeft()
    }
  }

  /// A broker that sweeps dies, after every number of steps. The members and the directory learn of the end
  /// before the records that name them are removed, so the next sweep comes to the same end.
  @Test(arguments: [SpaceID.server(7), .group(7), .room(7)])
  func aSweepThatIsInterruptedIsBegunAgain(space: SpaceID) async throws {
    try await withBroker(Self.over) { broker, redis in
      let link = try FrailLink(to: redis)
      var (writes, isOver) = (0, false)
      while !isOver {
        try redis.command("FLUSHALL")
        try await broker.store.compareFormat()
        try await broker.makeRemoved(space)
        link.mend(writes: writes)
        let mortal = RedisStore(
          loop: broker.loop, endpoint: .unixSocket(link.socketPath), limits: Self.over, redisLimits: .patient)
        mortal.start()
        try? await mortal.sweep(space.partition)
        mortal.close()
        isOver = !link.isBroken
        if try await broker.text(.settings(space)) == nil {
          #expect(try await broker.store.index(of: "bob").allSatisfy { !$0.isMember }, "after \(writes)")
          if let directory = ListingChange.Directory(of: space.kind) {
            #expect(try await broker.store.page(of: directory, after: nil, limit: 9).spaces == [])
          }
        }
        for _ in 0..<2 { try await broker.sweepEverything() }
        try redis.expectNothingLeft("after \(writes)")
        writes += 1
      }
      #expect(writes > 5, "a sweep has many steps")
    }
  }

  /// Its members lose it from their indexes, and nothing else. An account that did not have it there is not
  /// told.
  @Test func aRemovedSpaceIsForgottenByThoseWhoHadIt() async throws {
    let told = IndexChange(.joined, ["bob", "dave"])
    var removed = Transaction(space)
    removed.changes[.settings(space)] = "{\"createdAt\":17,\"removedAt\":20}"
    for account in ["bob", "carol", "dave"] as [AccountID] {
      removed.changes[.member(account, of: space)] = "m 0-0"
    }
    removed.announcements = Transaction.send("over").announcements
    removed.indexChanges = [told]
    var other = Transaction(.group(8))
    other.indexChanges = [IndexChange(.joined, ["bob", "carol"])]
    try await withBroker(Self.over) { [removed, other] broker, _ in
      let memory = MemoryStore(limits: Self.over)
      var heard: [SpaceID] = []
      memory.listeners.append { space, _ in heard.append(space) }
      for store in [broker.store as any Store, memory] {
        for transaction in [removed, other] {
          _ = try await store.commit(transaction).commit
          try await store.relayOutbox(of: transaction.space.partition)
        }
      }
      for account in told.accounts + ["carol"] { try await broker.feed.subscribe(.personal(account)) }
      heard = []
      for store in [broker.store as any Store, memory] {
        try await store.sweep(space.partition)
        #expect(try await store.index(of: "bob").map(\.space) == [.group(8)])
        #expect(try await store.index(of: "carol").map(\.space) == [.group(8)])
        #expect(try await store.index(of: "dave") == [])
      }
      #expect(Set(heard) == [.personal("bob"), .personal("dave")] && heard.count == 2)
      try await broker.append("after it", to: Audience(.all), in: .personal("carol"))
      try await broker.eventually { $0.heard.count >= 3 }
      let index = broker.heard.filter { $0.message == .index }.map(\.space)
      #expect(Set(index) == Set(heard) && index.count == 2)
    }
  }

  /// Counted: a call of Redis for each member would take minutes of a million.
  @Test func aLargeRosterIsForgottenInFewCallsOfBoundedLength() async throws {
    try await withBroker(Self.over) { broker, redis in
      let members = (0..<20_000).compactMap { AccountID("member\($0)") }
      try await broker.makeServer([])
      _ = try await broker.runner.run(RemoveServer(server, actor: Actor(account: "alice")))
      let roster = layout.table(TableAddress(space, .roster)).text
      for start in stride(from: 0, to: members.count, by: 4_000) {
        let some = members[start..<start + 4_000]
        try await broker.command(["HSET", roster] + some.flatMap { [$0.text, "m 0-0"] })
        let entries = some.map {
          RedisCommand(
            "HSET", layout.spaces(of: $0), space.key, "joined 1763600000000-1 1763600000000-1")
        }
        _ = try await broker.store.pipeline(entries, at: "test")
      }
      try redis.command("CONFIG", "RESETSTAT")
      try await broker.store.sweep(space.partition)
      #expect(try redis.keys("*:spaces:*") == [] && redis.keys("*:\(space.key)") == [])
      let calls = try redis.calls()
      #expect(calls["hdel"] ?? 0 >= members.count)
      #expect(calls["fcall"] ?? 0 < members.count / 4, "several members share a call")
      #expect(calls["hscan"] ?? 0 > 10, "nobody waits for the whole roster")
    }
  }

  /// A room that opened and closed without a word is found like any other.
  @Test func aSpaceWithoutEntriesIsSweptToo() async throws {
    try await withBroker(Self.over) { broker, redis in
      let room = SpaceID.room(7)
      var transaction = Transaction(room)
      transaction.changes[.settings(room)] = "{\"createdAt\":17}"
      _ = try await broker.store.commit(transaction).commit
      try await broker.sweepEverything()
      #expect(try await broker.store.counts([TableAddress(room, .settings)]) == [1])
      #expect(try await broker.spaces(in: room.partition) == [], "there is no log to read")
      transaction.changes[.settings(room)] = "{\"createdAt\":17,\"removedAt\":20}"
      _ = try await broker.store.commit(transaction).commit
      try await broker.sweepEverything()
      #expect(try redis.keys("*:\(room.key)") == [])
    }
  }
}

extension Broker {
  /// A space that has something in every table and is over.
  fileprivate func makeRemoved(_ space: SpaceID) async throws {
    var transaction = Transaction(space)
    for table in RecordTable.ofSpace + RecordTable.of(3) {
      transaction.changes[RecordAddress(space, table, "3")] = "5"
    }
    transaction.changes[.settings(space)] = "{\"createdAt\":17}"
    transaction.changes[.member("bob", of: space)] = "m 0-0"
    transaction.indexChanges = [IndexChange(.joined, ["bob"])]
    transaction.wakeAtMilliseconds = 5
    let directory = ListingChange.Directory(of: space.kind)
    transaction.listing = directory.map { ListingChange($0, isListed: true, createdAt: 17) }
    transaction.announcements = Transaction.send("over").announcements
    _ = try await store.commit(transaction).commit
    try await relayEverything()
    if let directory {
      #expect(try await store.page(of: directory, after: nil, limit: 9).spaces == [space])
    }
    var removal = Transaction(space)
    removal.changes[.settings(space)] = "{\"createdAt\":17,\"removedAt\":20}"
    removal.announcements = transaction.announcements
    _ = try await store.commit(removal).commit
  }
}

extension RedisServer {
  /// But for the last ids, outboxes with nothing in them, and what goes by itself.
  fileprivate func expectNothingLeft(_ when: String = "in the end") throws {
    let outboxes = try keys("*:outbox")
    for outbox in outboxes { #expect(try command("XLEN", outbox) == "0", "\(when)") }
    let left = try keys("belfry:{*").filter { !outboxes.contains($0) && !$0.contains(":active:") }
    #expect(left.allSatisfy { $0.hasSuffix(":partition") }, "\(when) there is: \(left)")
    for clock in left { try expectNoSpace(in: clock, when) }
  }

  /// The hash of a partition that has given no id has the place of the last one alone.
  func expectNoSpace(in hash: String, _ when: String = "in the end") throws {
    let isUnused = try command("HGET", hash, "last") == "0-0"
    #expect(
      Set(try command("HKEYS", hash).split(separator: "\n"))
        == (isUnused ? ["last"] : ["last", "history", "rewound"]), "\(when)")
  }
}
