import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// Which of two streams ends that may not be open at the same time: the one that was opened first. The loops that have
/// them register each some milliseconds after it was opened, or much later, so either may be registered first.
@Suite struct StreamRegistryTests {
  private static let here = StreamRegistration(broker: "here", loop: 0, number: 1)

  private func stream(_ id: String, openFor milliseconds: Int64) -> OpenedStream {
    OpenedStream(id: id, age: .milliseconds(milliseconds), device: "phone", address: "::1")
  }

  /// Registers streams of bob in one call, so Redis takes one reading of its clock for all of them.
  private func open(
    _ broker: isolated Broker, _ streams: [OpenedStream], _ logins: LoginPolicy = .onePerDevice,
    again: Bool = false
  ) async throws -> [StreamEnd?] {
    try await broker.store.openStreams(streams.map { ("bob", $0) }, by: Self.here, logins, again: again)
  }

  private func live(_ broker: isolated Broker) async throws -> [LiveStream] {
    try await broker.store.liveStreams(of: ["bob"])[0]
  }

  private func withStreams(
    _ options: RedisServer.Options = .debuggable,
    _ body: @Sendable (isolated Broker, RedisServer) async throws -> Void
  ) async throws {
    try await withBroker(Limits(), options) { broker, server in
      try await broker.feed.subscribe(.personal("bob"))
      try await broker.store.begin(Self.here)
      try await body(broker, server)
    }
  }

  @Test(arguments: [LoginPolicy.onePerDevice, .onePerAccount], [Int64(1), 60_000])
  func theOneThatWasOpenedFirstEndsThoughItIsRegisteredLast(_ logins: LoginPolicy, _ difference: Int64)
    async throws
  {
    try await withStreams { broker, _ async throws in
      let streams = [stream("newer", openFor: 4), stream("older", openFor: 4 + difference)]
      #expect(try await open(broker, streams, logins) == [nil, .replaced(by: "phone")])
      #expect(try await live(broker).map(\.id) == ["newer"])
      // Nobody else was told to end.
      #expect(broker.messages.isEmpty)
    }
  }

  @Test func whereBothMayBeOpenNeitherEnds() async throws {
    try await withStreams { broker, _ async throws in
      var older = stream("older", openFor: 60_000)
      #expect(try await open(broker, [stream("newer", openFor: 0), older], .all) == [nil, nil])
      (older.id, older.device) = ("tablet", "tablet")
      #expect(try await open(broker, [older]) == [nil])
      (older.id, older.device) = ("none", nil)
      #expect(try await open(broker, [older]) == [nil])
      #expect(try await live(broker).count == 4)
    }
  }

  /// Within one millisecond the one that is registered last stays. Ids have no part in it: either name may be the greater.
  @Test(arguments: [["a", "b"], ["b", "a"]]) func withinAMillisecondTheOneThatIsRegisteredLastStays(
    _ ids: [String]
  ) async throws {
    try await withStreams { broker, _ async throws in
      #expect(try await open(broker, ids.map { stream($0, openFor: 5) }) == [nil, nil])
      #expect(try await live(broker).map(\.id) == [ids[1]])
      try await broker.eventually { $0.messages.count == 1 }
    }
  }

  /// Clients do one after the other, in as little time as they can: the first is listed, so the second replaces it.
  @Test func aStreamThatIsOpenedAfterAnotherIsListedReplacesIt() async throws {
    try await withStreams { broker, _ async throws in
      for number in 0..<300 {
        let opened = ContinuousClock.now
        let name = "s\(number)"
        let new = OpenedStream(id: name, age: ContinuousClock.now - opened, device: "phone", address: "::1")
        #expect(try await open(broker, [new]) == [nil])
        #expect(try await live(broker).map(\.id) == [name])
      }
    }
  }

  /// Its time is Redis's, and does not change when it is registered again.
  @Test func aStreamIsListedWithTheTimeAtWhichItWasOpened() async throws {
    try await withStreams { broker, server async throws in
      let before = try server.seconds()
      #expect(try await open(broker, [stream("a", openFor: 60_000)]) == [nil])
      let opened = try #require(try await live(broker).first?.openedAtMilliseconds)
      let after = try server.seconds()
      #expect(((before - 60) * 1_000...(after - 59) * 1_000).contains(opened))
      #expect(try await open(broker, [stream("a", openFor: 59_000)], again: true) == [nil])
      #expect(try await live(broker).map(\.openedAtMilliseconds) == [opened])
    }
  }

  /// As after a failover to a Redis with another clock.
  @Test(arguments: [Int64(600), -600]) func aNewLoginReplacesAnOldOneThoughTheClockOfRedisHasStepped(
    _ change: Int64
  ) async throws {
    var options = RedisServer.Options.debuggable
    let clock = try await ShiftedClock()
    options.clock = clock
    try await withStreams(options) { broker, server async throws in
      let old = stream("old", openFor: 5_000)
      #expect(try await open(broker, [old]) == [nil])
      let before = try server.seconds()
      try clock.step(bySeconds: change)
      let stepped = try server.seconds() - before
      #expect((change..<change + 60).contains(stepped), "the clock has stepped")
      // Loops renew their registrations all the time.
      try await broker.store.begin(Self.here)
      #expect(try await open(broker, [stream("new", openFor: 20)]) == [nil])
      #expect(try await live(broker).map(\.id) == ["new"])
      #expect(try await open(broker, [old], again: true) == [.replaced(by: "phone")])
    }
  }
}

extension RedisServer {
  fileprivate func seconds() throws -> Int64 {
    try #require(try command("TIME").split(separator: "\n").first.flatMap { Int64($0) })
  }
}
