import BelfryModel
import BelfryRedis
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

@Suite struct ConnectionTests {
  @Test func theLibraryIsLoadedAgainWhereItIsMissing() async throws {
    try await withBroker { broker, redis in
      try redis.command("FUNCTION", "FLUSH")
      let id = try await broker.append("ding", to: Audience(.all))
      #expect(try await broker.log().map(\.id) == [id])
      try redis.command("FUNCTION", "FLUSH")
      let accounts = (0..<300).compactMap { AccountID("member\($0)") }
      try await broker.relay(IndexChange(.joined, accounts), of: space, version: 5)
      for account in accounts { #expect(try await broker.store.index(of: account).count == 1) }
    }
  }

  @Test func theLibraryIsLoadedAgainAfterARestart() async throws {
    try await withBroker { broker, redis in
      try await broker.feed.subscribe(space)
      try await broker.append("before", to: Audience(.all))
      await redis.kill()
      try await broker.eventually { $0.connections.last == false && $0.store.state != .ready }
      try await redis.start()
      try await broker.eventually { $0.connections.last == true && $0.store.state == .ready }
      #expect(try await broker.log() == [], "nothing was kept")
      try redis.command("CONFIG", "RESETSTAT")
      let id = try await broker.append("after", to: Audience(.all))
      #expect(try redis.calls()["function|load"] == nil, "the connection's set-up has loaded it")
      try await broker.eventually { $0.messages.last?.entry?.id == id }
    }
  }

  @Test func librariesOfOtherVersionsAreLeftAlone() async throws {
    try await withRedisServer(.debuggable) { redis in
      let other = """
        #!lua name=belfry_0
        redis.register_function('belfry_send_0', function() return 'old' end)
        """
      let stale = """
        #!lua name=\(FunctionLibrary.name)
        redis.register_function('\(StoreFunction.commit.name)', function() return 'stale' end)
        """
      try redis.command("FUNCTION", "LOAD", other)
      try redis.command("FUNCTION", "LOAD", stale)
      try await withBroker(of: redis) { broker in
        try await broker.append("ding", to: Audience(.all))
        #expect(try redis.command("FCALL", "belfry_send_0", "0") == "old")
      }
    }
  }

  @Test func aRedisThatIsAwayIsUnavailable() async throws {
    try await withBroker { broker, redis in
      try await broker.makeServer()
      await redis.kill()
      try await broker.eventually { $0.store.state != .ready }
      let attempts: [@Sendable (isolated Broker) async throws -> Void] = [
        { _ = try await $0.append("ding") }, { _ = try await $0.log() },
        { _ = try await $0.text(.settings(space)) }, { _ = try await $0.store.index(of: "bob") },
        { _ = try await $0.store.markRead(ReadMark(items: [5]), by: "bob") },
        { try await $0.store.sweep(space.partition) }, { _ = try await $0.store.partitionsToRelay() },
      ]
      for attempt in attempts {
        let error = await broker.storeError(attempt)
        #expect(error?.code == .unavailable)
      }
    }
  }

  @Test func theClockIsRedissOwn() async throws {
    try await withBroker { broker, redis in
      for _ in 0..<3 {
        let before = try redis.milliseconds()
        let estimate = try await broker.store.nowMilliseconds()
        let after = try redis.milliseconds()
        // The estimate is behind by a reply's way at most, which may be long on a busy machine.
        #expect(estimate > before - 60_000 && estimate <= after)
      }
    }
  }

  @Test func nobodyAsksForTheTimeAgainAndAgain() async throws {
    try await withBroker { broker, redis in
      _ = try await broker.store.nowMilliseconds()
      try redis.command("CONFIG", "RESETSTAT")
      for _ in 0..<1_000 { _ = try await broker.store.nowMilliseconds() }
      #expect(try redis.calls()["time", default: 0] <= 4)
    }
  }

  @Test func whatIsNotUnderstoodIsIgnored() async throws {
    try await withBroker { broker, redis in
      try await broker.feed.subscribe(space)
      try redis.command("SPUBLISH", layout.live(space), "garbage")
      let id = try await broker.append("ding", to: Audience(.all))
      try await broker.eventually { !$0.heard.isEmpty }
      #expect(broker.messages.map(\.entry?.id) == [id])
      #expect(broker.feed.unreadableMessages == 1)
      broker.feed.unsubscribe(space)
      try await broker.append("unheard", to: Audience(.all))
      try await broker.feed.subscribe(.server(78))
      try await broker.append("heard", to: Audience(.all), in: .server(78))
      try await broker.eventually { $0.heard.count == 2 }
      #expect(broker.heard[1].space == .server(78))
    }
  }
}
