import BelfryModel
import BelfryRedis
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// Which streams are open on which broker, as every broker sees it.
@Suite struct LiveStreamTests {
  private static let here = StreamRegistration(broker: "here", loop: 0, number: 1)
  private static let there = StreamRegistration(broker: "there", loop: 0, number: 1)

  private struct Stream: Hashable {
    var id: String
    var device: DeviceID?
    var registration: StreamRegistration
    var age: Duration = .zero
    var address = "::1"

    var opened: OpenedStream { OpenedStream(id: id, age: age, device: device, address: address) }
  }

  private func stream(
    _ id: String, on device: DeviceID? = nil, by registration: StreamRegistration = here,
    openFor age: Duration = .zero
  ) -> Stream {
    Stream(id: id, device: device, registration: registration, age: age)
  }

  /// - Returns: why each is to end.
  @discardableResult private func open(
    _ broker: isolated Broker, _ streams: [Stream], of account: AccountID = "bob",
    _ logins: LoginPolicy = .all, again: Bool = false
  ) async throws -> [StreamEnd?] {
    var ends: [StreamEnd?] = []
    for stream in streams {
      ends += try await broker.store.openStreams(
        [(account, stream.opened)], by: stream.registration, logins, again: again)
    }
    return ends
  }

  private func live(_ broker: isolated Broker, _ account: AccountID = "bob") async throws -> [String] {
    try await broker.store.liveStreams(of: [account])[0].map(\.id)
  }

  private func listening(
    _ body: @Sendable (isolated Broker, RedisServer) async throws -> Void
  ) async throws {
    try await withBroker { broker, server in
      try await broker.feed.subscribe(.personal("bob"))
      for registration in [Self.here, Self.there] { try await broker.store.begin(registration) }
      try await body(broker, server)
    }
  }

  @Test func streamsAreLiveUntilTheyAreClosed() async throws {
    try await listening { broker, server in
      let one = stream("a", on: "phone")
      var two = stream("b", by: Self.there)
      two.address = ""
      #expect(try await open(broker, [one, two]) == [nil, nil])
      try await open(broker, [stream("c")], of: "carol")
      let found = try await broker.store.liveStreams(of: ["dave", "carol", "bob", "bob"]).map {
        $0.map { Stream(id: $0.id, device: $0.device, registration: $0.registration, address: $0.address) }
      }
      #expect(found == [[], [stream("c")], [one, two], [one, two]])
      try await broker.store.closeStreams([("bob", "a"), ("bob", "none"), ("dave", "a"), ("carol", "c")])
      #expect(try await live(broker) == ["b"])
      try await broker.store.closeStreams([("bob", "b")])
      // Nothing is left of them.
      for partition in Partition.allCases {
        #expect(try server.command("EXISTS", layout.streams(partition)) == "0")
      }
      #expect(broker.messages.isEmpty)
    }
  }

  @Test(arguments: [LoginPolicy.all, .onePerDevice, .onePerAccount])
  func aPageThatWaitsIsLiveAndNoStream(logins: LoginPolicy) async throws {
    try await listening { broker, _ in
      let page = OpenedStream(id: "page", age: .zero, device: nil, address: "::1", isWaitingPage: true)
      for again in [false, true] {
        let ends = try await broker.store.openStreams([("bob", page)], by: Self.here, logins, again: again)
        #expect(ends == [nil])
        #expect(try await open(broker, [stream("a")], logins, again: again) == [nil])
      }
      let found = try await broker.store.liveStreams(of: ["bob"])[0]
      #expect(Set(found.map { "\($0.id) \($0.isWaitingPage)" }) == ["page true", "a false"])
      #expect(found.allSatisfy { $0.device == nil })
      #expect(try await broker.store.endStreams(of: "bob", on: nil) == 1)
      #expect(try await live(broker) == ["page"])
      try await broker.store.closeStreams([("bob", "page")])
      #expect(try await live(broker) == [])
    }
  }

  /// More than one command or call has room for.
  @Test func manyAreRegisteredAndAskedAboutAtOnce() async throws {
    try await listening { broker, _ in
      let accounts = (0..<20_000).map { AccountID("a\($0)") }.compactMap(\.self)
      let ends = try await broker.store.openStreams(
        accounts.map { ($0, stream("s.\($0)").opened) }, by: Self.here, .all, again: false)
      #expect(ends.allSatisfy { $0 == nil })
      let found = try await broker.store.liveStreams(of: accounts)
      #expect(found.map { $0.map(\.id) } == accounts.map { ["s.\($0)"] })
    }
  }

  @Test func whatIsNotRenewedIsNotLive() async throws {
    try await listening { broker, server in
      try await open(broker, [stream("a"), stream("b", by: Self.there)])
      let key = layout.registration(Self.here)
      // As if it had not been renewed for its lifetime.
      try server.command("PEXPIRE", key, "\(StreamRegistration.memory.components.seconds * 1_000)")
      #expect(try await live(broker) == ["b"])
      try await broker.store.sweepStreams(of: layout.partition(of: AccountID("bob")))
      #expect(try await broker.store.renew(Self.here))
      #expect(try await live(broker) == ["a", "b"])
      try server.command("DEL", key)
      #expect(try await broker.store.renew(Self.here) == false)
      #expect(try await live(broker) == ["b"])
      try await broker.store.sweep(layout.partition(of: AccountID("bob")))
      try await broker.store.begin(Self.here)
      #expect(try await live(broker) == ["b"])
    }
  }

  @Test(arguments: [
    (LoginPolicy.all, ["a", "b", "c", "d", "e", "f"]),
    (.onePerDevice, ["b", "d", "e", "f"]),
    (.onePerAccount, ["f"]),
  ])
  func aLaterStreamReplacesThoseThatMayNotBeBesideIt(_ logins: LoginPolicy, _ left: [String]) async throws {
    try await listening { broker, _ in
      let streams = [
        stream("a", on: "phone"), stream("b", on: "tablet"), stream("c", on: "phone"),
        stream("d"), stream("e"), stream("f", on: "phone", by: Self.there),
      ]
      #expect(try await open(broker, streams, logins).allSatisfy { $0 == nil })
      #expect(try await live(broker) == left)
      let gone = streams.map(\.id).filter { !left.contains($0) }
      try await broker.eventually { Set($0.ended.map(\.id)).sorted() == gone }
      if logins == .onePerDevice {
        #expect(broker.ended.allSatisfy { $0.why == .replaced(by: "phone") })
      }
    }
  }

  /// Its broker hears of it now, or asks when it is there again.
  @Test func aStreamThatWasEndedStaysSo() async throws {
    try await listening { broker, _ in
      let streams = [stream("a", on: "phone"), stream("b", on: "tablet"), stream("c")]
      try await open(broker, streams)
      #expect(try await broker.store.endStreams(of: "bob", on: "tablet") == 1)
      #expect(try await broker.store.endStreams(of: "bob", on: "tablet") == 0)
      #expect(try await live(broker) == ["a", "c"])
      #expect(try await open(broker, streams, again: true) == [nil, .ended, nil])
      #expect(try await broker.store.endStreams(of: "bob", on: nil) == 2)
      #expect(try await broker.store.endStreams(of: "carol", on: nil) == 0)
      // A broker that was told may not have heard it.
      #expect(try await open(broker, streams, again: true) == [.ended, .ended, .ended])
      // So it is told again each time, until it has closed the stream.
      try await broker.eventually { Set($0.ended.map(\.id)) == ["a", "b", "c"] }
      try await broker.store.closeStreams([("bob", "a"), ("bob", "b")])
      let told = broker.ended.count { $0.id == "c" }
      #expect(try await open(broker, [stream("d")], .onePerAccount) == [nil])
      try await broker.eventually { $0.ended.count { $0.id == "c" } > told }
    }
  }

  /// Brokers that lost all that was known of their streams register them in any order.
  @Test(arguments: [[0, 1, 2], [2, 1, 0], [1, 2, 0]]) func afterALossTheLatestStays(_ order: [Int])
    async throws
  {
    try await listening { broker, server in
      let streams = (0..<3).map { stream("\($0)", on: "phone", openFor: .seconds(600 - 60 * $0)) }
      var over: Set<String> = []
      for place in order {
        if try await open(broker, [streams[place]], .onePerDevice, again: true) != [nil] {
          over.insert("\(place)")
        }
      }
      #expect(try await live(broker) == ["2"])
      try await broker.eventually { over.union($0.ended.map(\.id)) == ["0", "1"] }
    }
  }

  /// A client whose stream was replaced closes that stream afterwards, and removes only that one.
  @Test func closingARepeatedlyReplacedStreamLeavesTheOthers() async throws {
    var random = SeededGenerator(seed: 11)
    let steps = (0..<200).map { _ in random.below(3) }
    try await listening { broker, _ in
      var (open, count) = ([String](), 0)
      for step in steps {
        if step < 2 {
          count += 1
          try await self.open(broker, [stream("s\(count)", on: "phone")], .onePerAccount)
          open.append("s\(count)")
        } else if !open.isEmpty {
          try await broker.store.closeStreams([("bob", open.removeFirst())])
        }
        #expect(try await live(broker) == (open.last.map { [$0] } ?? []))
      }
    }
  }

  /// Streams that are open count, even if Redis is full.
  @Test func streamsAreRegisteredAlsoWhereMemoryIsFull() async throws {
    try await withBroker { broker, server in
      try server.command("CONFIG", "SET", "maxmemory", "1mb")
      try await broker.store.begin(Self.here)
      try await open(broker, [stream("a")])
      #expect(try await broker.store.renew(Self.here))
      #expect(try await live(broker) == ["a"])
    }
  }

  @Test func whatIsNoStreamIsPassedOver() {
    for text in [
      "", "a", "a b x d e", "a b 1 ! e", "a b 1 * e replaced", "a b 1 * e gone *", "a b 1 * e ended phone",
    ] {
      #expect(StreamLine(text[...]) == nil, "\(text)")
    }
    let good = "a b 1 * e\nbroken\na b 1 phone e replaced *"
    #expect(StreamLine.all(in: good).map(\.over) == [nil, .replaced(by: nil)])
  }
}

extension Broker {
  /// The streams that are to end, as far as it was heard.
  fileprivate var ended: [(id: String, why: StreamEnd)] {
    messages.flatMap { message -> [(id: String, why: StreamEnd)] in
      guard case .ended(let streams) = message else { return [] }
      return streams.ids.map { ($0, streams.why) }
    }
  }
}
