import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// Redis has lost its last writes at one node: an account is in a roster, and its index has forgotten the space.
@Suite struct ForgottenIndexTests {
  private func key(of account: AccountID) -> String { layout.spaces(of: account) }

  private func forget(_ accounts: [AccountID], _ redis: RedisServer) throws {
    for account in accounts { #expect(try redis.command("HDEL", key(of: account), space.key) == "1") }
  }

  private func entry(_ account: AccountID, _ redis: RedisServer) throws -> String {
    try redis.command("HGET", key(of: account), space.key)
  }

  private func isIndexed(_ account: AccountID, _ broker: isolated Broker) async throws -> Bool {
    try await broker.store.index(of: account).contains { $0.space == space && $0.isMember }
  }

  @Test func addingAMemberOnceMoreTellsTheIndex() async throws {
    try await withBroker { broker, redis in
      try await broker.makeServer(["bob", "carol"])
      try forget(["bob"], redis)
      let record = try await broker.text(.member("bob", of: space))
      let sent = try await broker.append("meanwhile")
      let again = AddMembers(server, actor: app, accounts: ["bob", "carol"], requestId: "2")
      let done = try await broker.runner.run(again)
      #expect(done.output == [] && done.commit == nil)
      #expect(try await broker.text(.member("bob", of: space)) == record)
      let index = try await broker.store.index(of: "bob")
      #expect(index.map(\.space) == [space] && index[0].isMember && index[0].version == sent)
      let digest = try redis.digest()
      _ = try await broker.runner.run(again)
      #expect(try redis.digest() == digest, "nothing is left to repair")
    }
  }

  /// The account has left in between, and come back: its index knows only of what was before.
  @Test(arguments: [false, true]) func anIndexThatIsBehindLearnsOfTheLatestStay(knowsOfLeaving: Bool)
    async throws
  {
    try await withBroker { broker, redis in
      try await broker.makeServer(["bob"])
      var known = try entry("bob", redis)
      _ = try await broker.runner.run(KickMembers(server, actor: app, accounts: ["bob"]))
      if knowsOfLeaving { known = try entry("bob", redis) }
      try await broker.add(["bob"])
      let latest = try await broker.store.index(of: "bob")[0]
      try redis.command("HSET", key(of: "bob"), space.key, known)
      let before = try await broker.store.index(of: "bob")[0]
      try await broker.store.sweep(space.partition)
      let repaired = try await broker.store.index(of: "bob")[0]
      #expect(repaired.isMember && repaired.version >= latest.version)
      #expect(repaired.earlier == [before.state], "a cursor is to take the latest stay into account")
    }
  }

  @Test func theSweepComparesSomeMembersInEachRoundAndAllOverRounds() async throws {
    let members = (0..<1_000).compactMap { AccountID("m\($0)") }
    try await withBroker { broker, redis in
      try await broker.makeServer(members)
      try forget(members, redis)
      var restored: [Int] = []
      for _ in 0..<40 where restored.last != members.count {
        try redis.command("CONFIG", "RESETSTAT")
        try await broker.store.sweep(space.partition)
        #expect(try #require(try redis.calls()["hget"]) < 300)
        var count = 0
        for account in members where try await isIndexed(account, broker) { count += 1 }
        restored.append(count)
      }
      #expect(restored[0] > 0 && restored[0] < 300)
      #expect(restored.last == members.count, "\(restored)")
    }
  }

  /// It is told by the outbox, and the sweep must not take it for forgotten.
  @Test func whatIsOnItsWayIsLeftAlone() async throws {
    try await withBroker { broker, _ in
      try await broker.makeServer()
      var transaction = Transaction.send("welcome")
      transaction.changes[.member("bob", of: space)] = "m \(MessageID.beforeThisCommitMark)"
      transaction.indexChanges = [IndexChange(.joined, ["bob"])]
      let version = try #require(try await broker.store.commit(transaction).commit.ids.last)
      try await broker.store.sweep(space.partition)
      #expect(try await broker.store.index(of: "bob") == [])
      try await broker.store.relayOutbox(of: space.partition)
      #expect(try await broker.store.index(of: "bob").map(\.version) == [version])
    }
  }

  /// The oracle repairs the same.
  @Test func theStoreInMemoryRepairsToo() async throws {
    let memory = MemoryStore(limits: Limits())
    let runner = OperationRunner(store: memory, limits: memory.limits)
    let create = CreateServer(
      id: server, defaultChannel: channel, owner: "alice", actor: Actor(account: "alice"), name: "Bells")
    _ = try await runner.run(create)
    let add = AddMembers(server, actor: app, accounts: ["bob"], requestId: "1")
    _ = try await runner.run(add)
    for sweeps in [false, true] {
      memory.indexes["bob"] = nil
      if sweeps { memory.sweep(space.partition) } else { _ = try await runner.run(add) }
      #expect(memory.index(of: "bob").map(\.space) == [space])
    }
  }
}

@Suite struct RosterWalkTests {
  private let spaces = (1...50).compactMap { EntityID(Int64($0)) }.map { SpaceID.server($0) }

  /// A round's rosters, of spaces that come in any order.
  private func round(_ walk: inout RosterWalk) -> [SpaceID] {
    walk.beginRound()
    walk.offer(spaces.shuffled())
    walk.offer([.personal("bob"), spaces[0]])
    return walk.rosters.map(\.space)
  }

  @Test(arguments: [UInt64.min, .max, 1 << 63]) func itComesToEachSpaceInTurn(_ place: UInt64) {
    var walk = RosterWalk(from: place)
    var seen: [SpaceID] = []
    while seen.count < spaces.count {
      let some = round(&walk)
      #expect(some.count == RosterWalk.spacesMax)
      seen += some
      walk.finish(some.map { _ in "0" })
    }
    #expect(Set(seen.prefix(spaces.count)) == Set(spaces))
  }

  @Test func itGoesOnWhereARosterWasLeft() {
    var walk = RosterWalk(from: 0)
    let first = round(&walk)
    walk.finish(["0", "0", "17"] + first.dropFirst(3).map { _ in "0" })
    let second = round(&walk)
    #expect(second.prefix(6) == first.dropFirst(2))
    #expect(walk.rosters.map(\.cursor) == ["17"] + second.dropFirst().map { _ in "0" })
    walk.finish(second.map { _ in "0" })
    #expect(round(&walk).contains(first[2]) == false)
  }
}
