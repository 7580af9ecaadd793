import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// A send by the functions made for sends is what it would be by the one that does all commits.
@Suite struct SendFunctionTests {
  /// Alone, several to a space, and among sends to other spaces of the partition.
  private static let counts = [1, 2, 40]

  private static func spaces() throws -> [SpaceID] {
    [space, SpaceID.server(try #require(space.partition.servers.first { SpaceID.server($0) != space }))]
  }

  @Test(arguments: counts)
  func sendsAreOneCallOfAFunctionOfTheirOwn(count: Int) async throws {
    try await withBroker { broker, redis in
      try redis.command("CONFIG", "RESETSTAT")
      for result in await broker.store.commit((0..<count).map { .send("\($0)") }) {
        _ = try result.get().commit
      }
      #expect(try redis.calls()["fcall"] == 1)
      let monitored = try await broker.functions(of: redis) { broker in
        _ = await broker.store.commit((0..<count).map { .send("\($0)") })
      }
      #expect(monitored == [count == 1 ? StoreFunction.send.name : StoreFunction.sendMany.name])
    }
  }

  /// Behind it, too, and in their order.
  @Test func withSomethingElseAmongThemAllAreOneCommit() async throws {
    try await withBroker { broker, redis in
      var join = Transaction(space)
      join.changes = [.member("bob", of: space): "m 0-0"]
      let called = try await broker.functions(of: redis) { [join] broker in
        let results = await broker.store.commit([.send("one"), join, .send("two")])
        let counts = try results.map { try $0.get().commit.ids.count }
        #expect(counts == [1, 0, 1])
      }
      #expect(called == [StoreFunction.commit.name])
      #expect(try await broker.log().map(\.body) == ["one", "two"])
    }
  }

  /// Each function recognises the sends that the other one did.
  @Test(arguments: counts)
  func eachRemembersWhatTheOtherDid(count: Int) async throws {
    try await withBroker { broker, redis in
      let spaces = try Self.spaces()
      func sends(_ word: String, _ ids: String) -> [Transaction] {
        (0..<count).map { .send("\(word) \($0)", in: spaces[$0 % 2], clientId: "\(ids) \($0)") }
      }
      for isFirstCommitted in [true, false] {
        let ids = "\(isFirstCommitted)"
        broker.store.usesSendFunctions = !isFirstCommitted
        let first = try await broker.store.commit(sends("ding", ids)).map { try $0.get().commit.ids[0] }
        broker.store.usesSendFunctions = isFirstCommitted
        let digest = try redis.digest()
        let again = try await broker.store.commit(sends("ding", ids)).map { try $0.get() }
        #expect(again == first.map { .duplicate(of: $0) })
        let others = try await broker.store.commit(sends("dong", ids)).map { try $0.get() }
        #expect(others == first.map { _ in .differentContent })
        #expect(try redis.digest() == digest)
      }
    }
  }

  @Test func theSecondOfTwoAlikeInACallIsARepetition() async throws {
    try await withBroker { broker, redis in
      let results = await broker.store.commit([
        .send("ding", clientId: "a"), .send("ding", clientId: "a"), .send("dong", clientId: "a"),
        .send("dong", clientId: "b"), .send("dong"), .send("dong"),
      ])
      let outcomes = try results.map { try $0.get() }
      let first = try outcomes[0].commit.ids[0]
      #expect(outcomes[1] == .duplicate(of: first))
      #expect(outcomes[2] == .differentContent)
      #expect(try outcomes[3].commit.before == first)
      #expect(try await broker.log().map(\.body) == ["ding", "dong", "dong", "dong"])
    }
  }

  /// In the bucket in use, in the one before, and no longer.
  @Test(arguments: [true, false], counts)
  func aSendIsRepeatedWithinTheWindowOnly(usesSendFunctions: Bool, count: Int) async throws {
    var limits = Limits()
    limits.dedupeWindowMilliseconds = 1_000_000
    try await withBroker(limits) { [limits] broker, redis in
      broker.store.usesSendFunctions = usesSendFunctions
      let window = limits.dedupeWindowMilliseconds
      let start = (try await broker.store.nowMilliseconds() / window + 10) * window
      let sends = (0..<count).map { Transaction.send("ding", clientId: "\($0)") }
      try redis.setLastID(start + 400_000)
      let first = try await broker.outcomes(sends).map { try $0.commit.ids[0] }
      for later in [500_000, window + 1, window + 390_000] {
        try redis.setLastID(start + later)
        #expect(try await broker.outcomes(sends).map(\.firstID) == first, "after \(later) ms")
        // In the next bucket this is the first, and those before are in the other one from here on.
        _ = try await broker.store.commit(.send("another", clientId: "another \(later)")).commit
        #expect(try await broker.outcomes(sends).map(\.firstID) == first, "after \(later) ms")
      }
      try redis.setLastID(start + 400_000 + window + 1)
      let second = try await broker.outcomes(sends).map { try $0.commit.ids[0] }
      #expect(second[0] > first[0])
      #expect(try await broker.outcomes(sends).map(\.firstID) == second)
    }
  }

  /// Each message names the entry before it in its space, for any division into calls and for either
  /// function.
  @Test func everyMessageNamesItsPredecessor() async throws {
    try await withBroker { broker, redis in
      let spaces = try Self.spaces()
      for space in spaces { try await broker.feed.subscribe(space) }
      var sent = 0
      for round in 0..<12 {
        broker.store.usesSendFunctions = round % 3 != 2
        let count = [1, 2, 5, 40][round % 4]
        let body = String(repeating: "x", count: round * 40)
        let sends = (0..<count).map { Transaction.send(body, in: spaces[$0 / 2 % 2]) }
        for result in await broker.store.commit(sends) { _ = try result.get().commit }
        sent += count
      }
      try await broker.eventually { $0.messages.count >= sent }
      var last: [SpaceID: MessageID] = [:]
      var latest = MessageID.zero
      for heard in broker.heard {
        guard case .appended(let entry, let predecessor) = heard.message else { throw Unexpected(heard) }
        #expect(predecessor == last[heard.space] ?? .zero)
        #expect(entry.id > latest)
        (last[heard.space], latest) = (entry.id, entry.id)
      }
      for space in spaces { #expect(try await broker.log(space).last?.id == last[space]) }
    }
  }

  /// The messages of many sends are made for those spaces only in which somebody listens, those of a few for all.
  @Test(arguments: [(1, 1), (15, 2), (16, 1), (40, 1)])
  func manySendsAreSaidWhereSomebodyListens(count: Int, published: Int) async throws {
    try await withBroker { broker, redis in
      let spaces = try Self.spaces()
      try await broker.feed.subscribe(spaces[1])
      try redis.command("CONFIG", "RESETSTAT")
      // One section for each space, the one that is listened to behind the other.
      let sends = (0..<count).map { Transaction.send("\($0)", in: spaces[$0 < count / 2 ? 0 : 1]) }
      for result in await broker.store.commit(sends) { _ = try result.get().commit }
      let heard = count - count / 2
      try await broker.eventually { $0.messages.count >= heard }
      #expect(broker.heard.allSatisfy { $0.space == spaces[1] })
      #expect(broker.heard.count == heard)
      #expect(try redis.calls()["spublish"] == published)
    }
  }

  /// The ids of a millisecond may end in the middle of a call: the next ones are those of the next millisecond.
  @Test func aRunEndsWhereTheIDsOfItsMillisecondDo() async throws {
    try await withBroker { broker, redis in
      _ = try await broker.store.commit(.send("before")).commit
      try await broker.feed.subscribe(space)
      let ahead = try await broker.store.nowMilliseconds() + 60_000
      let last = MessageID(unixMilliseconds: ahead, partition: space.partition, sequence: 4_093)
      try redis.setLastID(last)
      let outcomes = try await broker.outcomes((0..<6).map { .send("\($0)", clientId: "\($0)") })
      let ids = try outcomes.map { try $0.commit.ids[0] }
      #expect(ids.map(\.unixMilliseconds) == [ahead, ahead] + Array(repeating: ahead + 1, count: 4))
      #expect(ids.map(\.sequence) == [4_094, 4_095, 0, 1, 2, 3])
      #expect(try outcomes.map { try $0.commit.before } == [last] + ids.dropLast())
      #expect(try await broker.log().map(\.id).suffix(6) == ids[...])
      try await broker.eventually { $0.messages.count >= ids.count }
      let heard = broker.heard.compactMap { heard -> MessageID? in
        if case .appended(let entry, _) = heard.message { entry.id } else { nil }
      }
      #expect(heard == ids)
      #expect(
        try await broker.outcomes((0..<6).map { .send("\($0)", clientId: "\($0)") }).map(\.firstID) == ids)
    }
  }

  @Test(arguments: counts)
  func theThresholdIsAppliedAtTheAppend(count: Int) async throws {
    var limits = Limits()
    limits.subscriptionThreshold = 2
    try await withBroker(limits) { broker, _ in
      try await broker.makeServer(["bob"])
      let sends = (0..<count).map { Transaction.send("\($0)") }
      for (joins, rule) in [([], Audience.Rule.all), (["carol"], .subscribed)]
        as [([AccountID], Audience.Rule)]
      {
        if !joins.isEmpty { try await broker.add(joins) }
        for result in await broker.store.commit(sends) { _ = try result.get().commit }
        #expect(try await broker.log().suffix(count).allSatisfy { $0.audience == Audience(rule) })
      }
    }
  }

  /// A changed record of a sender refuses the sends of that sender, and changed settings refuse all sends to
  /// the space.
  @Test func whatIsNoLongerSoRefusesThoseThatRelyOnIt() async throws {
    try await withBroker { broker, redis in
      try await broker.makeServer(["bob"])
      let settings = try await broker.text(.settings(space))
      let bob = try await broker.text(.member("bob", of: space))
      func send(_ body: String, by account: AccountID, _ record: String?, if settings: String?) -> Transaction
      {
        var transaction = Transaction.send(body, clientId: body)
        transaction.preconditions = [.settings(space): settings, .member(account, of: space): record]
        return transaction
      }
      let results = await broker.store.commit([
        send("one", by: "bob", bob, if: settings), send("two", by: "carol", nil, if: settings),
        send("three", by: "bob", "what he was", if: settings),
        send("four", by: "bob", bob, if: "what it was"),
        send("five", by: "dave", "m 0-0", if: settings), send("six", by: "bob", bob, if: settings),
      ])
      let isDone = try results.map { try $0.get() != .conflict }
      #expect(isDone == [true, true, false, false, false, true])
      #expect(try await broker.log().suffix(3).map(\.body) == ["one", "two", "six"])
      let before = try redis.digest()
      for send in [
        send("three", by: "bob", "what he was", if: settings),
        send("four", by: "bob", bob, if: "what it was"),
      ] {
        #expect(try await broker.store.commit(send) == .conflict)
      }
      #expect(try redis.digest() == before)
    }
  }

  /// It is not remembered as done, and what it would have been is sent again.
  @Test(arguments: counts)
  func whatFailsIsNotRemembered(count: Int) async throws {
    try await withBroker { broker, redis in
      _ = try await broker.store.commit(.send("before")).commit
      let log = layout.log(space).text
      try redis.command("RENAME", log, "kept")
      try redis.command("SET", log, "no stream")
      let sends = (0..<count).map { Transaction.send("\($0)", clientId: "\($0)") }
      for result in await broker.store.commit(sends) {
        let error = #expect(throws: StoreError.self) { try result.get() }
        #expect(error?.code == .corrupt && error?.detail.contains("WRONGTYPE") == true)
      }
      try redis.command("RENAME", "kept", log)
      for result in await broker.store.commit(sends) { _ = try result.get().commit }
      #expect(try await broker.log().map(\.body) == ["before"] + (0..<count).map { "\($0)" })
    }
  }

  /// A key that a send depends on has a wrong type. The send is not done, nor remembered as done. Sends to other spaces are.
  @Test(arguments: counts)
  func whatCannotBeJudgedIsNotDoneAtAll(count: Int) async throws {
    try await withBroker { broker, redis in
      let spaces = try Self.spaces()
      for key in [TableAddress(spaces[1], .roster), TableAddress(spaces[1], .settings)].map({
        layout.table($0).text
      }) {
        try redis.command("SET", key, "no hash")
        let body = String(key.suffix(20))
        let sends = (0..<count).map { number in
          let space = spaces[count == 1 || number % 2 == 1 ? 1 : 0]
          var send = Transaction.send("\(number) \(body)", in: space, clientId: "\(number) \(body)")
          send.preconditions = [.settings(space): nil]
          return send
        }
        let before = try await broker.log(spaces[0]).count
        let results = await broker.store.commit(sends)
        for (send, result) in zip(sends, results) {
          guard send.space == spaces[1] else {
            _ = try result.get().commit
            continue
          }
          let error = #expect(throws: StoreError.self) { try result.get() }
          #expect(error?.detail.contains("WRONGTYPE") == true)
        }
        let done = sends.count { $0.space == spaces[0] }
        #expect(try await broker.log(spaces[0]).count == before + done)
        try redis.command("DEL", key)
        for (send, result) in zip(sends, await broker.store.commit(sends)) {
          let outcome = try result.get()
          if case .duplicate = outcome {
            #expect(send.space == spaces[0], "remembered as done")
          } else {
            #expect(send.space == spaces[1], "done twice")
          }
        }
      }
    }
  }

  /// The work after the append fails, and nothing is left of the append.
  @Test(arguments: counts)
  func whatCannotBeCopiedIsNotDoneAtAll(count: Int) async throws {
    try await withBroker { broker, redis in
      _ = try await broker.store.commit(.send("before")).commit
      let hash = layout.partitionHash(space.partition)
      try redis.command("HSET", hash, "copies", "1")
      try redis.command("SET", layout.copies(space.partition), "no stream")
      let sends = (0..<count).map { Transaction.send("\($0)", clientId: "\($0)") }
      for result in await broker.store.commit(sends) {
        let error = #expect(throws: StoreError.self) { try result.get() }
        #expect(error?.detail.contains("WRONGTYPE") == true)
      }
      #expect(try await broker.log().map(\.body) == ["before"])
      try redis.command("DEL", layout.copies(space.partition))
      for result in await broker.store.commit(sends) { _ = try result.get().commit }
      #expect(try await broker.log().map(\.body) == ["before"] + (0..<count).map { "\($0)" })
    }
  }

  /// The bucket that is about to be used is looked at before anything is appended.
  @Test(arguments: counts)
  func aBucketOfAWrongTypeFailsTheCallBeforeItsAppends(count: Int) async throws {
    try await withBroker { broker, redis in
      let ahead = try await broker.store.nowMilliseconds() + 600_000
      let window = broker.store.limits.dedupeWindowMilliseconds
      let bucket = "belfry:{\(hashTag(of: space.partition))}:dedupe:\(ahead / window * window)"
      try redis.setLastID(MessageID(unixMilliseconds: ahead, partition: space.partition, sequence: 0))
      try redis.command("SET", bucket, "no hash")
      let sends = (0..<count).map { Transaction.send("\($0)", clientId: "\($0)") }
      for result in await broker.store.commit(sends) {
        #expect(throws: StoreError.self) { try result.get() }
      }
      #expect(try await broker.log() == [])
      try redis.command("DEL", bucket)
      for result in await broker.store.commit(sends) { _ = try result.get().commit }
      #expect(try await broker.log().count == count)
    }
  }

  /// With the first id there, before which there was nothing.
  @Test(arguments: counts)
  func theFirstOfAPartitionBeginsAHistory(count: Int) async throws {
    try await withBroker { broker, _ in
      let results = await broker.store.commit((0..<count).map { .send("\($0)") })
      let first = try results[0].get().commit.ids[0]
      let end = try await broker.store.ends(of: [space])[0]
      #expect(end.history == broker.store.history && !end.history.isEmpty)
      #expect(end.rewinds.map(\.kept) == [.zero] && end.rewinds.map(\.first) == [first])
    }
  }

  /// The id up to which entries were trimmed stays known after later sends of either function.
  @Test(arguments: counts)
  func whatWasLostStaysLost(count: Int) async throws {
    var limits = Limits()
    limits.entriesPerSpace = 100
    try await withBroker(limits) { broker, _ in
      for _ in 0..<10 {
        for result in await broker.store.commit((0..<100).map { .send("\($0)") }) {
          _ = try result.get().commit
        }
      }
      try await broker.store.sweep(space.partition)
      let lost = try await broker.store.ends(of: [space])[0].lostThrough
      #expect(lost > .zero)
      for result in await broker.store.commit((0..<count).map { .send("\($0)") }) {
        _ = try result.get().commit
      }
      #expect(try await broker.store.ends(of: [space])[0].lostThrough >= lost)
    }
  }

  /// The places where entries are looked for by their ids alone.
  @Test(arguments: counts)
  func theEntryIsFoundByItsID(count: Int) async throws {
    try await withBroker { broker, _ in
      let spaces = try Self.spaces()
      let sends = (0..<count).map { Transaction.send("\($0)", in: spaces[$0 % 2]) }
      for (number, result) in await broker.store.commit(sends).enumerated() {
        let id = try result.get().commit.ids[0]
        #expect(try await broker.store.locate(id) == spaces[number % 2])
      }
    }
  }
}

private func hashTag(of partition: Partition) -> String {
  String(layout.partitionHash(partition).dropFirst("belfry:{".count).prefix { $0 != "}" })
}

extension Broker {
  fileprivate func outcomes(_ transactions: [Transaction]) async throws -> [CommitOutcome] {
    try await store.commit(transactions).map { try $0.get() }
  }

  /// Which functions are called meanwhile.
  fileprivate func functions(
    of redis: RedisServer, during body: (isolated Broker) async throws -> Void
  ) async throws -> [String] {
    try redis.command("CONFIG", "SET", "slowlog-log-slower-than", "0")
    try redis.command("SLOWLOG", "RESET")
    try await body(self)
    let lines = try redis.command("SLOWLOG", "GET", "10").split(whereSeparator: \.isNewline).map(String.init)
    return lines.filter { line in
      [StoreFunction.send, .sendMany, .commit].contains { $0.name == line }
    }
  }
}
