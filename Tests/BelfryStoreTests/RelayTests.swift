import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

@Suite struct RelayTests {
  private static let joined = IndexChange(.joined, ["bob"])
  private static let left = IndexChange(.left, ["bob"])

  private static func version(_ sequence: Int64) -> MessageID {
    MessageID(unixMilliseconds: 1_763_700_000_000, partition: space.partition, sequence: sequence)
  }

  @Test func anotherBrokerRelaysWhatOneLeftBehind() async throws {
    try await withRedisServer(.debuggable) { redis in
      try await withBroker(of: redis) { broker in
        var transaction = Transaction.send("welcome")
        transaction.indexChanges = [IndexChange(.joined, ["bob", "carol"])]
        _ = try await broker.store.commit(transaction).commit
        #expect(try await broker.store.index(of: "bob") == [])
      }
      try await withBroker(of: redis) { broker in
        #expect(try await broker.store.partitionsToRelay() == [space.partition])
        try await broker.store.relayOutbox(of: space.partition)
        #expect(try await broker.store.partitionsToRelay() == [])
        let version = try await broker.log()[0].id
        for account in ["bob", "carol"] as [AccountID] {
          let index = try await broker.store.index(of: account)
          #expect(index.map(\.space) == [space] && index[0].isMember && index[0].version == version)
          #expect(index[0].addedAt.partition == SpaceID.personal(account).partition)
        }
        let digest = try redis.digest()
        try await broker.store.relayOutbox(of: space.partition)
        #expect(try redis.digest() == digest)
      }
    }
  }

  @Test func relayingTwiceIsRelayingOnce() async throws {
    try await withBroker { broker, redis in
      try await broker.feed.subscribe(.personal("bob"))
      try await broker.relay(Self.joined, of: space, version: Self.version(1))
      let digest = try redis.digest()
      try await broker.relay(Self.joined, of: space, version: Self.version(1))
      #expect(try redis.digest() == digest)
      try await broker.append("a message after it", to: Audience(.all), in: .personal("bob"))
      try await broker.eventually { $0.heard.count >= 2 }
      #expect(broker.messages.count == 2 && broker.messages[0] == .index)
    }
  }

  /// Redis undoes nothing of a function that fails. So the delivery must be possible again.
  @Test func aDirectMessageThatFailedIsDeliveredByTheNextTry() async throws {
    try await withBroker { broker, redis in
      let shares = broker.store.layout.shares(at: "bob")
      let item = OutboxItem(
        space: .direct(1), version: Self.version(1), before: Self.version(0),
        relays: Relays(index: [Self.joined], charged: "alice"))
      try redis.command("SET", shares, "no hash")
      await #expect(throws: StoreError.self) {
        try await broker.relay(item)
      }
      #expect(try await broker.store.index(of: "bob").isEmpty)
      try redis.command("DEL", shares)
      for _ in 0..<2 {
        try await broker.relay(item)
        #expect(try await broker.store.index(of: "bob").map(\.space) == [.direct(1)])
        #expect(try await broker.store.mailboxes(of: ["bob"], writtenToBy: "alice")[0].directMessages == 1)
      }
    }
  }

  @Test func whatComesTooLateChangesNothing() async throws {
    try await withBroker { broker, _ in
      try await broker.relay(Self.left, of: space, version: Self.version(10))
      try await broker.relay(Self.joined, of: space, version: Self.version(9))
      let index = try await broker.store.index(of: "bob")
      #expect(index.count == 1 && !index[0].isMember && index[0].version == Self.version(10))
    }
  }

  @Test func whoComesBackIsAddedAgainAndWhoLeavesIsNot() async throws {
    try await withBroker { broker, _ in
      var added: [MessageID] = []
      for (sequence, change) in [Self.joined, Self.left, Self.joined].enumerated() {
        try await broker.relay(change, of: space, version: Self.version(Int64(sequence)))
        added.append(try await broker.store.index(of: "bob")[0].addedAt)
      }
      #expect(added[0] == added[1] && added[1] < added[2])
      // Somebody who stands between the two has taken the first stay into account, and not the second.
      let entry = try await broker.store.index(of: "bob")[0]
      #expect(entry.earlier == [.init(version: Self.version(1), addedAt: added[0])])
      let latest = IndexEntry.Transition(state: entry.state, before: entry.earlier[0])
      #expect(entry.transitions(after: added[2]) == [])
      #expect(entry.transitions(after: added[2].predecessor) == [latest])
      #expect(
        entry.transitions(after: added[0].predecessor) == [
          .init(state: entry.earlier[0], before: nil), latest,
        ])
      #expect(entry.state(through: added[2]) == entry.state)
      #expect(entry.state(through: added[2].predecessor) == entry.earlier[0])
      #expect(entry.state(through: added[0].predecessor) == nil)
      let last = try await broker.store.lastIDs(of: [SpaceID.personal("bob").partition])
      #expect(last == [added[2]])
    }
  }

  /// As many as a record has stays.
  @Test func anIndexRemembersSoManyReturns() async throws {
    try await withBroker { broker, _ in
      let changes = 2 * Int64(Intervals.limit) + 14
      for sequence in 0..<changes {
        let change = sequence.isMultiple(of: 2) ? Self.joined : Self.left
        try await broker.relay(change, of: space, version: Self.version(sequence))
      }
      let entry = try await broker.store.index(of: "bob")[0]
      #expect(!entry.isMember && entry.version == Self.version(changes - 1))
      let returns = stride(from: changes - 3, through: 15, by: -2)
      #expect(entry.earlier.map(\.version) == returns.map { Self.version($0) })
      #expect(entry.earlier.count == Intervals.limit - 1)
      #expect(entry.transitions(after: .zero).first?.state.version == Self.version(15))
    }
  }

  /// Which does not come by the outbox, whose items are told in their order.
  @Test func whoLeavesUnexpectedlyWasThereInBetween() async throws {
    try await withBroker { broker, _ in
      try await broker.relay(Self.joined, of: space, version: Self.version(1))
      try await broker.relay(Self.left, of: space, version: Self.version(2))
      let before = try await broker.store.index(of: "bob")[0]
      try await broker.relay(Self.left, of: space, version: Self.version(4))
      try await broker.relay(Self.joined, of: space, version: Self.version(3))
      let entry = try await broker.store.index(of: "bob")[0]
      #expect(!entry.isMember && entry.version == Self.version(4))
      #expect(entry.earlier == [before.state] && entry.addedAt > before.addedAt)
    }
  }

  @Test func whatNobodyCanReadOfAnIndexIsOverwritten() async throws {
    try await withBroker { broker, redis in
      for garbage in ["garbage", "joined x y", "joined 1-1 2-2 z"] {
        try redis.command("HSET", layout.spaces(of: "bob"), space.key, garbage)
        try await broker.relay(Self.joined, of: space, version: Self.version(1))
        #expect(try await broker.store.index(of: "bob").map(\.isMember) == [true])
      }
    }
  }

  /// Never too low; below the limit what was left and direct messages may count too.
  @Test func serversAreCounted() async throws {
    var limits = Limits()
    limits.serversPerAccount = 3
    limits.groupsPerAccount = 3
    try await withBroker(limits) { broker, _ in
      for number in 1...3 as ClosedRange<Int64> {
        let server = SpaceID.server(try #require(EntityID(number)))
        try await broker.relay(Self.joined, of: server, version: Self.version(1))
      }
      #expect(
        try await broker.store.spaceCounts(of: ["bob", "carol"], in: .server).map(\.current) == [3, 0])
      try await broker.relay(Self.left, of: .server(1), version: Self.version(2))
      try await broker.relay(Self.joined, of: .direct(1), version: Self.version(2))
      #expect(try await broker.store.spaceCounts(of: ["bob"], in: .server).map(\.current) == [2])
      for number in 1...2 as ClosedRange<Int64> {
        try await broker.relay(
          Self.joined, of: .group(try #require(EntityID(number))), version: Self.version(1))
      }
      #expect(
        try await broker.store.spaceCounts(of: ["bob", "carol"], in: .server).map(\.current) == [2, 0])
      #expect(try await broker.store.spaceCounts(of: ["bob", "carol"], in: .group).map(\.current) == [2, 0])
    }
  }

  /// The direct message that was written first must not give way to many later ones.
  @Test func anIndexThatIsFullLosesWhatWasLeftAndNoDirectMessage() async throws {
    var limits = Limits()
    limits.serversPerAccount = 10
    limits.groupsPerAccount = 20
    limits.roomsPerAccount = 5
    try await withBroker(limits) { [limits] broker, redis in
      let key = layout.spaces(of: "bob")
      let full = 10 + 20 + 5 + limits.directMessagesPerMailbox + Limits.leftSpacesPerAccount
      var fill = ["HSET", key, space.key, "joined 1763600000000-1 1763600000000-1"]
      for number in 1..<full {
        let (kind, state) = number % 2 == 0 ? ("direct", "joined") : ("group", "left")
        fill += ["\(kind):\(number)", "\(state) 1763700000000-\(number) 1763700000000-1"]
      }
      try await broker.command(fill)
      for sequence in 0..<50 as Range<Int64> {
        let directMessage = SpaceID.direct(try #require(EntityID(100_000 + sequence)))
        let version = MessageID(
          unixMilliseconds: 1_763_800_000_000, partition: directMessage.partition, sequence: sequence)
        try await broker.relay(IndexChange(.joined, ["bob"]), of: directMessage, version: version)
      }
      let index = try await broker.store.index(of: "bob")
      #expect(index.count == full)
      #expect(index.contains { $0.space == space }, "where the account belongs it stays")
      let directMessages = index.count { $0.space.kind == .direct }
      #expect(directMessages == (full - 1) / 2 + 50, "no direct message goes")
    }
  }
}
