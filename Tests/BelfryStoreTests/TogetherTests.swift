import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// Commits of one partition that leave in one call.
@Suite struct TogetherTests {
  private static func send(_ body: String, clientId: String? = nil, if text: String?) -> Transaction {
    var transaction = Transaction.send(body, clientId: clientId)
    transaction.preconditions = [.settings(space): text]
    return transaction
  }

  @Test func eachHasAnOutcomeOfItsOwn() async throws {
    try await withBroker { broker, redis in
      try await broker.makeServer(["bob"])
      let now = try await broker.text(.settings(space))
      var full = Transaction(space)
      full.changes = [.member("carol", of: space): "m 0-0"]
      full.ceilings = [.roster: 2]
      let before = try await broker.log().count
      let results = await broker.store.commit([
        Self.send("one", clientId: "a", if: now), Self.send("stale", clientId: "b", if: "what it was"),
        Self.send("one", clientId: "a", if: now), Self.send("other", clientId: "a", if: now), full,
        Self.send("two", clientId: "b", if: now),
      ])
      let outcomes = try results.map { try $0.get() }
      let first = try outcomes[0].commit
      #expect(outcomes[1] == .conflict)
      #expect(outcomes[2] == .duplicate(of: first.ids[0]))
      #expect(outcomes[3] == .differentContent)
      #expect(outcomes[4] == .ceiling(.roster))
      let last = try outcomes[5].commit
      #expect(last.before == first.ids[0], "what was refused has taken no id")
      #expect(try await broker.log().dropFirst(before).map(\.body) == ["one", "two"])
      #expect(try await broker.text(.member("carol", of: space)) == nil)
      let digest = try redis.digest()
      #expect(
        try await broker.store.commit(Self.send("two", clientId: "b", if: now)) == .duplicate(of: last.ids[0])
      )
      #expect(try redis.digest() == digest)
    }
  }

  @Test func whatOneChangesTheNextIsComparedWith() async throws {
    try await withBroker { broker, redis in
      try await broker.makeServer(["bob"])
      let member = RecordAddress.member("bob", of: space)
      var send = Transaction.send("ding", to: Audience(.byThreshold))
      send.preconditions = [member: try await broker.text(member)]
      var leave = Transaction(space)
      leave.changes = [member: nil]
      let results = await broker.store.commit([send, leave, send, Transaction.send("dong")])
      let outcomes = try results.map { try $0.get() }
      #expect(outcomes[2] == .conflict)
      #expect(try outcomes[0].commit.ids[0] < outcomes[3].commit.ids[0])
    }
  }

  /// As a member more or fewer changes who is told.
  @Test func membersAreCountedAgainAfterAChange() async throws {
    var limits = Limits()
    limits.subscriptionThreshold = 2
    try await withBroker(limits) { broker, redis in
      try await broker.makeServer(["bob"])
      var join = Transaction(space)
      join.changes = [.member("carol", of: space): "m 0-0"]
      _ = await broker.store.commit([.send("to all"), join, .send("to subscribers")])
      let audiences = try await broker.log().suffix(2).map(\.audience)
      #expect(audiences == [Audience(.all), Audience(.subscribed)])
    }
  }

  @Test func whatFailsFailsAlone() async throws {
    try await withBroker { broker, redis in
      let other = SpaceID.server(try #require(space.partition.servers.first { SpaceID.server($0) != space }))
      try redis.setLastID(
        MessageID(unixMilliseconds: 1_763_700_000_000, partition: space.partition, sequence: 0))
      try redis.command("SET", layout.log(other).text, "no stream")
      let results = await broker.store.commit([
        .send("one", clientId: "a"), .send("lost", in: other, clientId: "b"), .send("two", clientId: "c"),
      ])
      let error = #expect(throws: StoreError.self) { try results[1].get() }
      #expect(error?.code == .corrupt && error?.detail.contains("WRONGTYPE") == true)
      #expect(try results[0].get().commit.ids[0] < results[2].get().commit.ids[0])
      #expect(try await broker.log().map(\.body) == ["one", "two"])
      try redis.command("DEL", layout.log(other).text)
      // A send that was not done is not remembered as done.
      _ = try await broker.store.commit(.send("lost", in: other, clientId: "b")).commit
    }
  }

  @Test func aCallHasSoManyAtMostAndSoManyBytes() async throws {
    try await withBroker { broker, redis in
      for (count, body, calls) in [
        (RedisCommits.commitsPerCall, "short", 1), (RedisCommits.commitsPerCall + 1, "short", 2),
        (40, String(repeating: "long", count: 4_000), 3),
      ] {
        try redis.command("CONFIG", "RESETSTAT")
        let results = await broker.store.commit((0..<count).map { .send("\(body) \($0)") })
        #expect(try redis.calls()["fcall"] == calls)
        let ids = try results.map { try $0.get().commit.ids[0] }
        #expect(ids == ids.sorted())
        #expect(try await broker.log().suffix(count).map(\.body) == (0..<count).map { "\(body) \($0)" })
      }
    }
  }

  @Test func partitionsHaveCallsOfTheirOwn() async throws {
    try await withBroker { broker, redis in
      let spaces = (1...20).map { SpaceID.server(EntityID($0)!) }
      try redis.command("CONFIG", "RESETSTAT")
      let results = await broker.store.commit((spaces + spaces).map { .send("ding", in: $0) })
      #expect(try redis.calls()["fcall"] == Set(spaces.map(\.partition)).count)
      for (space, result) in zip(spaces + spaces, results) {
        #expect(try result.get().commit.ids[0].partition == space.partition)
      }
    }
  }

  @Test func aLibraryThatIsGoneIsLoadedAgain() async throws {
    try await withBroker { broker, redis in
      _ = try await broker.store.commit(.send("ding"))
      try redis.command("FUNCTION", "FLUSH")
      let results = await broker.store.commit([.send("one"), .send("two")])
      #expect(try results.allSatisfy { try $0.get().commit.ids.count == 1 })
      #expect(try await broker.log().map(\.body) == ["ding", "one", "two"])
    }
  }

  /// Also across spaces: a consumer has one place in a partition, and what is heard late lies before it.
  @Test func entriesOfAPartitionAreHeardInTheOrderOfTheirIDs() async throws {
    try await withBroker { broker, redis in
      let spaces = space.partition.servers.prefix(4).map { SpaceID.server($0) }
      for space in spaces { try await broker.feed.subscribe(space) }
      var numbers = SeededGenerator(seed: 1)
      let senders = (0..<5).flatMap { _ in spaces.shuffled(using: &numbers) }
      let results = await broker.store.commit(senders.map { .send("ding", in: $0) })
      let ids = try results.map { try $0.get().commit.ids[0] }
      try await broker.eventually { $0.messages.count >= ids.count }
      let heard = broker.messages.map {
        if case .appended(let entry, _) = $0 { entry.id } else { MessageID.zero }
      }
      #expect(heard == ids)
    }
  }

  /// Also where something has to be read for the first, and what the second needs is known.
  @Test func linesOfABatchAreCommittedInTheirOrder() async throws {
    try await withBroker { broker, redis in
      try await broker.makeServer(["bob"])
      let runner = broker.runner
      var content = NotificationContent(type: Catalogue.custom.code, toType: .server)
      content.serverId = server
      var sends = 0
      func send(by account: AccountID) throws -> SendNotification {
        sends += 1
        return try SendNotification.sends(
          content, by: Actor(account: account), generatedClientId: "generated \(sends)")[0]
      }
      _ = try await runner.run(try send(by: "alice"))
      let outcomes = await runner.run([try send(by: "bob"), try send(by: "alice")])
      let ids = try outcomes.map { try #require(try $0.get().commit?.ids.first) }
      #expect(ids[0] < ids[1])
    }
  }

  @Test func allThatIsSaidIsHeardInOrder() async throws {
    try await withBroker { broker, redis in
      try await broker.feed.subscribe(space)
      var memberships = Transaction(space)
      memberships.changedMemberships = ["bob"]
      memberships.changes = [.member("bob", of: space): "m 0-0"]
      let results = await broker.store.commit([.send("one"), memberships, .send("two")])
      let ids = try [0, 2].map { try results[$0].get().commit.ids[0] }
      try await broker.eventually { $0.messages.count == 3 }
      guard case .appended(let one, .zero) = broker.messages[0],
        case .memberships(["bob"]) = broker.messages[1],
        case .appended(let two, ids[0]) = broker.messages[2]
      else { throw Unexpected(broker.messages) }
      #expect([one.id, two.id] == ids)
    }
  }
}
