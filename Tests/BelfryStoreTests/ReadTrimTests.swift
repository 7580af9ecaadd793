import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// Entries that every reader has read are deleted with the next sweep, and nobody misses them.
@Suite struct ReadTrimTests {
  @Test func whatEverybodyHasReadGoes() async throws {
    try await withBroker { broker, _ in
      try await broker.makeServer(["bob"])
      for number in 0..<250 { try await broker.append("\(number)", to: Audience(.all)) }
      let ids = try await broker.log().map(\.id)
      let readers: [AccountID] = ["alice", "bob"]
      for account in readers {
        let read = account == "bob" ? Array(ids.dropLast(3)) : ids
        _ = try await broker.store.marked(ReadMark(items: read), by: account)
      }
      try await broker.store.sweep(space.partition)
      #expect(try await broker.log().map(\.id) == ids.suffix(3))
      #expect(try await broker.store.ends(of: [space])[0].lostThrough == .zero, "nobody lost anything")
      let last = try #require(ids.last)
      _ = try await broker.store.marked(ReadMark(items: [], watermarks: [last]), by: "bob")
      try await broker.store.sweep(space.partition)
      #expect(try await broker.log().isEmpty)
      let next = try await broker.append("next", to: Audience(.all))
      try await broker.store.sweep(space.partition)
      #expect(try await broker.log().map(\.id) == [next])
    }
  }

  /// Somebody who has left may still see what was sent before; an entry that a reader cannot see need not be read.
  @Test func whoHasLeftCountsAndWhoCannotSeeDoesNot() async throws {
    try await withBroker { broker, _ in
      try await broker.makeServer(["bob", "carol"])
      let all = try await broker.log().map(\.id)
      for account in ["alice", "bob", "carol"] as [AccountID] {
        _ = try await broker.store.marked(ReadMark(items: all), by: account)
      }
      let both = try await broker.append("for both", to: Audience(.all))
      _ = try await broker.runner.run(LeaveServer(server, actor: Actor(account: "carol")))
      let own = try await broker.append("for bob", to: Audience(.named, named: ["bob"]))
      let later = try await broker.log().map(\.id).filter { $0 > both }
      _ = try await broker.store.marked(ReadMark(items: [both] + later), by: "alice")
      _ = try await broker.store.marked(ReadMark(items: [both] + later), by: "bob")
      try await broker.store.sweep(space.partition)
      #expect(try await broker.log().first?.id == both, "carol has yet to read it")
      _ = try await broker.store.marked(ReadMark(items: [both] + later.filter { $0 != own }), by: "carol")
      try await broker.store.sweep(space.partition)
      #expect(try await broker.log().isEmpty)
    }
  }

  /// A failover has made bob's index forget the server, so his mark of everything passes entries that he was never shown.
  @Test func whoseIndexForgotTheSpaceHasNotReadIt() async throws {
    try await withBroker { broker, redis in
      try await broker.makeServer(["bob"])
      let id = try await broker.append("news", to: Audience(.all))
      let ids = try await broker.log().map(\.id)
      try redis.command("HDEL", broker.store.layout.spaces(of: "bob"), space.key)
      _ = try await broker.store.marked(ReadMark(items: ids), by: "alice")
      _ = try await broker.store.marked(ReadMark(items: [], watermarks: [id]), by: "bob")
      // The first sweep restores the index, and the second trims by it.
      for _ in 0..<2 {
        try await broker.store.sweep(space.partition)
        #expect(try await broker.log().last?.id == id)
      }
      #expect(try await broker.store.index(of: "bob").map(\.space) == [space])
      let state = try await broker.store.readStates(of: ["bob"], among: [id])[0]
      #expect(!state.contains(id, in: space))
      _ = try await broker.store.marked(ReadMark(items: ids), by: "bob")
      try await broker.store.sweep(space.partition)
      #expect(try await broker.log().isEmpty)
    }
  }

  /// The same, and bob leaves before the sweep has restored his index. Its entry then says only that he has left.
  @Test func whoLeavesWhatTheIndexForgotHasNotReadIt() async throws {
    try await withBroker { broker, redis in
      try await broker.makeServer(["bob"])
      let id = try await broker.append("news", to: Audience(.all))
      try redis.command("HDEL", broker.store.layout.spaces(of: "bob"), space.key)
      _ = try await broker.store.marked(ReadMark(items: [], watermarks: [id]), by: "bob")
      _ = try await broker.runner.run(LeaveServer(server, actor: Actor(account: "bob")))
      try await broker.relayEverything()
      #expect(try await broker.store.index(of: "bob").map(\.isMember) == [false])
      let ids = try await broker.log().map(\.id)
      _ = try await broker.store.marked(ReadMark(items: ids), by: "alice")
      try await broker.store.sweep(space.partition)
      #expect(try await broker.log().map(\.id).contains(id))
      let state = try await broker.store.readStates(of: ["bob"], among: [id])[0]
      #expect(!state.contains(id, in: space))
      _ = try await broker.store.marked(ReadMark(items: ids), by: "bob")
      try await broker.store.sweep(space.partition)
      #expect(try await broker.log().isEmpty)
    }
  }

  /// A move of slots whose source has died may have left the roster at another node, with everybody who has yet to read.
  @Test func withoutARosterNothingCountsAsRead() async throws {
    try await withBroker { broker, redis in
      try await broker.makeServer(["bob", "carol"])
      _ = try await broker.runner.run(LeaveServer(server, actor: Actor(account: "carol")))
      let id = try await broker.append("news", to: Audience(.all))
      let ids = try await broker.log().map(\.id)
      for account in ["alice", "carol"] as [AccountID] {
        _ = try await broker.store.marked(ReadMark(items: ids), by: account)
      }
      let roster = broker.store.layout.table(TableAddress(space, .roster)).text
      try redis.command("RENAME", roster, roster + "-away")
      try await broker.store.sweep(space.partition)
      try redis.command("RENAME", roster + "-away", roster)
      #expect(try await broker.log().map(\.id).contains(id))
      _ = try await broker.store.marked(ReadMark(items: ids), by: "bob")
      try await broker.store.sweep(space.partition)
      #expect(try await broker.log().isEmpty)
    }
  }

  @Test func aDirectMessageGoesWithItsLastReader() async throws {
    try await withBroker { broker, _ in
      let directMessage = SpaceID.direct(5)
      let audience = Audience(.named, named: ["bob", "carol"])
      let id = try await broker.append("ding", to: audience, in: directMessage)
      _ = try await broker.store.marked(ReadMark(items: [id], directMessages: [directMessage: id]), by: "bob")
      try await broker.store.sweep(directMessage.partition)
      #expect(try await broker.log(directMessage).map(\.id) == [id])
      _ = try await broker.store.marked(
        ReadMark(items: [id], directMessages: [directMessage: id]), by: "carol")
      try await broker.store.sweep(directMessage.partition)
      #expect(try await broker.log(directMessage).isEmpty)
    }
  }

  /// In so many there is always somebody who does not read: they are not asked.
  @Test func ofAManySpaceNobodyIsAsked() async throws {
    try await withBroker { broker, redis in
      try await broker.makeServer((0..<ReadByAll.readersMax).compactMap { AccountID("member\($0)") })
      #expect(try await broker.members() == ReadByAll.readersMax + 1)
      try redis.command("CONFIG", "RESETSTAT")
      try await broker.store.sweep(space.partition)
      #expect(try redis.calls()["smismember", default: 0] == 0)
      #expect(try await !broker.log().isEmpty)
    }
  }

  /// The reader who held the log up the last time is asked first.
  @Test func aSweepInVainAsksOne() async throws {
    try await withBroker { broker, redis in
      try await broker.makeServer((0..<200).compactMap { AccountID("member\($0)") })
      try await broker.store.sweep(space.partition)
      try redis.command("CONFIG", "RESETSTAT")
      try await broker.store.sweep(space.partition)
      #expect(try redis.calls()["smismember", default: 0] == 1)
    }
  }
}
