import BelfryModel
import BelfryRedis
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// Above `maxmemory` nothing more is taken in, and what makes room again goes on.
@Suite struct FullMemoryTests {
  @Test func readingAndSweepingGoOnWhileSendsAreRefused() async throws {
    var limits = Limits()
    limits.retentionMilliseconds = -60_000
    try await withBroker(limits) { broker, redis in
      try await broker.makeServer(["bob"])
      let own = SpaceID.personal("bob")
      let ids = [
        try await broker.append("one", to: Audience(.all), in: own),
        try await broker.append("two", to: Audience(.all), in: own),
      ]
      var transaction = Transaction(space)
      transaction.wakeAtMilliseconds = 5
      transaction.changes[.request(try #require(RequestID(text: "9")), of: space)] = "5 {}"
      _ = try await broker.store.commit(transaction).commit
      _ = try await broker.runner.run(RemoveServer(server, actor: Actor(account: "alice")))
      try redis.command("CONFIG", "SET", "maxmemory", "1mb")
      #expect(try await broker.store.readRoom().refusals == [.memory])

      for refused in [Transaction.send("ding", in: own), transaction] {
        let error = await #expect(throws: StoreError.self) { try await broker.store.commit(refused) }
        #expect(error?.code == .memoryFull)
      }
      #expect(try await broker.log(own).map(\.id) == ids)

      #expect(try await broker.store.marked(ReadMark(items: [ids[0]]), by: "bob") == 1)
      #expect(try await broker.log(own).map(\.id) == [ids[1]])
      _ = try await broker.store.marked(ReadMark(items: [], watermarks: [ids[1]]), by: "bob")
      #expect(try await broker.log(own) == [])
      let due = try #require(try await broker.store.dueSpaces(nowMilliseconds: 5).spaces.first)
      try await broker.store.postpone(due, toMilliseconds: nil)
      #expect(try await broker.store.dueSpaces(nowMilliseconds: 5).spaces == [])
      try await broker.sweepEverything()
      #expect(try redis.keys("*:\(space.key)") == [])
      #expect(try await broker.store.index(of: "alice") == [])
    }
  }

  /// A Redis without memory refuses each command between MULTI and EXEC, reads too.
  @Test func operationsAreRefusedForMemoryAndTheirRecordsAreRead() async throws {
    try await withBroker { broker, redis in
      try await broker.makeServer(["bob"])
      let addresses: [RecordAddress] = [
        .settings(space), .member("alice", of: space), .member("bob", of: space),
      ]
      let before = try await broker.store.records(addresses)
      try redis.command("CONFIG", "SET", "maxmemory", "1mb")
      let after = try await broker.store.records(addresses)
      for address in addresses { #expect(after.text(address) == before.text(address)) }

      let refusals = await [
        broker.refusal { _ = try await $0.runner.run(RemoveServer(server, actor: Actor(account: "alice"))) },
        broker.refusal {
          _ = try await $0.runner.run(AddMembers(server, actor: app, accounts: ["carol"], requestId: "2"))
        },
      ]
      for refusal in refusals {
        #expect(refusal?.code == .unavailable)
        #expect(refusal?.detail.contains("memory is full") == true, "\(refusal?.detail ?? "")")
      }
    }
  }

  @Test func eachRefusedWriteAndEachCommitIsTold() async throws {
    try await withBroker { broker, redis in
      #expect(try await broker.signs { _ = try? await $0.append("ding") } == [.done])
      try redis.command("CONFIG", "SET", "maxmemory", "1mb")
      let signs = try await broker.signs { _ = try? await $0.append("ding") }
      guard signs.count == 1, case .refused(.memory, let cause) = signs[0] else {
        Issue.record("\(signs)")
        return
      }
      #expect(cause.hasPrefix("OOM "))
    }
  }

  @Test func aFewFreeBytesAreNoHeadroom() {
    #expect(NodeMemory(usedBytes: 5, limitBytes: 0).hasHeadroom)
    #expect(!NodeMemory(usedBytes: 5, limitBytes: 0).isUsedUp)
    #expect(NodeMemory(usedBytes: 11, limitBytes: 10).isUsedUp)
    let gibibyte = 1 << 30
    #expect(!NodeMemory(usedBytes: gibibyte - 5, limitBytes: gibibyte).hasHeadroom)
    #expect(!NodeMemory(usedBytes: gibibyte - gibibyte / 200, limitBytes: gibibyte).hasHeadroom)
    #expect(NodeMemory(usedBytes: gibibyte - gibibyte / 50, limitBytes: gibibyte).hasHeadroom)
    let full = NodeMemory(usedBytes: gibibyte, limitBytes: gibibyte)
    #expect(!RedisRoom(memory: [NodeMemory(usedBytes: 0, limitBytes: gibibyte), full]).hasHeadroom)
  }

  /// A new release, or somebody, has left Redis without the functions, and they cannot be loaded.
  @Test func whatFreesMemoryGoesOnWithoutTheLibrary() async throws {
    var limits = Limits()
    limits.retentionMilliseconds = -60_000
    try await withBroker(limits) { [limits] broker, redis in
      let (own, group) = (SpaceID.personal("bob"), SpaceID.group(8))
      let ids = [
        try await broker.append("one", to: Audience(.all), in: own),
        try await broker.append("two", to: Audience(.all), in: own),
      ]
      var transaction = Transaction(group)
      transaction.wakeAtMilliseconds = 5
      transaction.changes[.settings(group)] = "{\"createdAt\":17,\"removedAt\":20}"
      transaction.changes[.member("bob", of: group)] = "m 0-0"
      transaction.changes[.former("carol", of: group)] = "m 1-1,2-2"
      transaction.indexChanges = [IndexChange(.joined, ["bob"])]
      transaction.listing = ListingChange(.groups, isListed: true, createdAt: 17)
      _ = try await broker.store.commit(transaction).commit
      try await broker.relayEverything()

      try redis.command("CONFIG", "SET", "maxmemory", "1mb")
      try redis.command("FUNCTION", "FLUSH")
      #expect(try await broker.store.marked(ReadMark(items: [ids[0]]), by: "bob") == 1)
      #expect(try await broker.log(own).map(\.id) == [ids[1]])
      let due = try #require(try await broker.store.dueSpaces(nowMilliseconds: 5).spaces.first)
      try await broker.store.postpone(due, toMilliseconds: 6)
      #expect(try await broker.store.dueSpaces(nowMilliseconds: 5).spaces == [])
      #expect(try await broker.store.beginSweep(of: space.partition, everyMilliseconds: 60_000))
      try redis.command("SCRIPT", "FLUSH")

      let error = await #expect(throws: StoreError.self) { try await broker.append("ding") }
      #expect(error?.code == .memoryFull)
      #expect(error?.refusal.code == .unavailable && error?.refusal.detail.contains("memory is full") == true)
      await #expect(throws: StoreError.self) {
        try await broker.relay(IndexChange(.left, ["bob"]), of: group, version: .last)
      }

      // Another broker comes, and is of use.
      try await withBroker(of: redis, limits) { other in
        #expect(try await other.log(own).map(\.id) == [ids[1]])
        #expect(try await other.store.marked(ReadMark(items: [ids[1]]), by: "bob") == 1)
        try await other.sweepEverything()
      }
      #expect(try redis.keys("*:\(group.key)") == [])
      #expect(try await broker.log(own) == [])
      #expect(try await broker.store.index(of: "bob") == [])
      #expect(try await broker.store.page(of: .groups, after: nil, limit: 9).spaces == [])
      #expect(try redis.command("FUNCTION", "LIST") == "")

      // As soon as there is room it is as before.
      try redis.command("CONFIG", "SET", "maxmemory", "0")
      let id = try await broker.append("ding")
      #expect(try redis.command("FUNCTION", "LIST").contains(FunctionLibrary.name))
      #expect(try await broker.log().map(\.id) == [id])
    }
  }

  @Test func whatWasSentIsToldWhileNothingCanBeSent() async throws {
    try await withBroker { broker, redis in
      try await broker.makeServer(["bob"])
      var content = NotificationContent(type: Catalogue.custom.code, toType: .server)
      content.serverId = server
      content.messageClientId = "c"
      let send = try SendNotification.sends(content, by: Actor(account: "bob"), generatedClientId: "")[0]
      let first = try await broker.runner.run(send).commit?.ids.first
      try redis.command("CONFIG", "SET", "maxmemory", "1mb")
      let before = try redis.digest()
      let repetition = try #require(send.repetition)
      #expect(try await broker.store.firstSends(of: [repetition.send]) == [.same(try #require(first))])
      #expect(try redis.digest() == before)
    }
  }
}

extension Broker {
  fileprivate func refusal(_ body: (isolated Broker) async throws -> Void) async -> Refusal? {
    do {
      try await body(self)
      return nil
    } catch {
      return error as? Refusal
    }
  }

  /// The signs that the store gives while the body runs.
  fileprivate func signs(_ body: (isolated Broker) async throws -> Void) async throws -> [WriteSign] {
    var signs: [WriteSign] = []
    store.onWrite = { signs.append($0) }
    try await body(self)
    store.onWrite = nil
    return signs
  }
}
