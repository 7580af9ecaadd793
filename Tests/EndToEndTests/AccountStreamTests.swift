import BelfryModel
import BelfryServer
import Foundation
import TestKit
import Testing

extension EndToEnd {
  /// The streams of an account over two brokers: listed, replaced, ended, and soon forgotten where a broker died.
  @Suite struct AccountStreams {
    private static func world(
      _ logins: String, _ body: (World) async throws -> Void
    ) async throws {
      try await withWorld(brokers: 2, settings: ["BELFRY_LOGINS": logins]) { world in try await body(world) }
    }

    /// Runs on a Redis whose clock the test steps: a registration that a loop has not renewed counts for ten
    /// seconds.
    private static func world(
      _ logins: String, _ body: (World, ShiftedClock) async throws -> Void
    ) async throws {
      let clock = try await ShiftedClock()
      var options = RedisServer.Options()
      options.clock = clock
      try await withWorld(brokers: 2, redis: options, settings: ["BELFRY_LOGINS": logins]) { world in
        try await body(world, clock)
      }
    }

    private func bob(_ device: String?, at broker: Broker) throws -> Person {
      try Person("bob", device: device, at: broker)
    }

    /// The devices of the account's streams, `-` for none, by any broker.
    private func devices(_ person: Person) throws -> [String] {
      let answer = try person.call("GET", "/v1/account/streams")
      // A failed `#require` counts as a failure even inside a wait for a condition.
      guard answer.status == 200 else { throw FixtureError("\(answer)") }
      let streams = try #require(answer.object["streams"] as? [[String: Any]])
      return streams.map { $0["deviceId"] as? String ?? "-" }.sorted()
    }

    private func shows(_ wanted: [String], _ person: Person) async throws {
      try await eventually { try devices(person) == wanted }
    }

    private func expectKicked(
      _ stream: EventStream, _ reason: String, by device: String? = nil,
      location: SourceLocation = #_sourceLocation
    ) {
      #expect(stream.wait(forEvent: "kicked"), sourceLocation: location)
      let said = stream.all.last?.object ?? [:]
      #expect(said["reason"] as? String == reason, "\(said)", sourceLocation: location)
      #expect(said["byDevice"] as? String == device, "\(said)", sourceLocation: location)
      #expect(said["retry"] as? Bool == false, sourceLocation: location)
      #expect(stream.waitUntilOver(), sourceLocation: location)
    }

    @Test func streamsAreListedAndEndedOnAllBrokers() async throws {
      try await Self.world("all") { world in
        let (phone, desk) = (try bob("phone", at: world[0]), try bob("desk", at: world[1]))
        let nameless = try bob(nil, at: world[1])
        let streams = [try phone.stream(), try phone.stream(), try desk.stream(), try nameless.stream()]
        let alice = try Person("alice", at: world[0])
        let others = try alice.stream()
        for person in [phone, desk] { try await shows(["-", "desk", "phone", "phone"], person) }
        let listed = try #require(
          try phone.call("GET", "/v1/account/streams").object["streams"] as? [[String: Any]])
        #expect(Set(listed.compactMap { $0["broker"] as? String }).count == 2)
        #expect(Set(listed.compactMap { $0["streamId"] as? String }).count == 4)
        #expect(listed.allSatisfy { $0["address"] as? String == "127.0.0.1" })

        // This works across brokers.
        #expect(try desk.call("DELETE", "/v1/account/streams/phone")["ended"] == "2")
        for stream in streams[..<2] { expectKicked(stream, "ended") }
        try await shows(["-", "desk"], phone)
        #expect(try desk.call("DELETE", "/v1/account/streams/phone")["ended"] == "0")
        #expect(try desk.call("DELETE", "/v1/account/streams/no%20name").status == 400)
        let app = try Person.app(at: world[0])
        #expect(try app.call("DELETE", "/v1/account/streams").status == 400)
        let ended = try app.call("DELETE", "/v1/account/streams", extra: ["Belfry-Account": "bob"])
        #expect(ended["ended"] == "2")
        for stream in streams[2...] { expectKicked(stream, "ended") }
        try await shows([], phone)
        #expect(!others.isOver)
        let audit = try Person("ops", role: "operator", at: world[1]).call("GET", "/v1/audit?account=bob")
        #expect(audit.text.contains("account end"), "\(audit)")
      }
    }

    @Test func theLaterOfTwoStreamsOfADeviceStays() async throws {
      try await Self.world("onePerDevice") { world in
        let phone = try bob("phone", at: world[0])
        let first = try phone.stream()
        let tablet = try bob("tablet", at: world[0]).stream()
        let nameless = [try bob(nil, at: world[0]).stream(), try bob(nil, at: world[1]).stream()]
        try await shows(["-", "-", "phone", "tablet"], phone)
        let second = try phone.stream(at: world[1])
        expectKicked(first, "replaced", by: "phone")
        try await shows(["-", "-", "phone", "tablet"], phone)
        // A device that comes back replaces the other stream.
        let third = try phone.stream()
        expectKicked(second, "replaced", by: "phone")
        #expect(!third.isOver && !tablet.isOver && !nameless[0].isOver && !nameless[1].isOver)
        try phone.mustSend("still here", ["toAccids": ["bob"]])
        for stream in [third, tablet] + nameless { #expect(stream.wait(forBody: "still here")) }
      }
    }

    @Test func ofAnAccountOneStreamStays() async throws {
      try await Self.world("onePerAccount") { world in
        let first = try bob("phone", at: world[0]).stream()
        let alice = try Person("alice", at: world[0]).stream()
        try await shows(["phone"], try bob("phone", at: world[1]))
        let second = try bob(nil, at: world[1]).stream()
        expectKicked(first, "replaced")
        let third = try bob("desk", at: world[0]).stream()
        expectKicked(second, "replaced", by: "desk")
        #expect(!third.isOver && !alice.isOver)
        let metrics = try Wire(port: world[0].port).request("GET", "/metrics").text
        #expect(
          metrics.contains("belfry_streams_closed_total{loop=") && metrics.contains("reason=\"replaced\"} 1"))
      }
    }

    @Test func tailSaysWhyItEnded() async throws {
      try await Self.world("onePerDevice") { world in
        let phone = try bob("phone", at: world[0])
        let (tail, errors) = (Process(), Pipe())
        tail.executableURL = URL(filePath: Broker.executable)
        tail.arguments = ["tail", "--url", world[0].url]
        tail.environment = ["BELFRY_TOKEN": String(phone.headers["Authorization"]?.dropFirst(7) ?? "")]
        if let tls = TestTLS.shared { tail.environment?["BELFRY_CA"] = tls.authority.file }
        (tail.standardOutput, tail.standardError) = (FileHandle.nullDevice, errors)
        try tail.run()
        try await shows(["phone"], phone)
        let later = try phone.stream(at: world[1])
        let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        tail.waitUntilExit()
        #expect(tail.terminationStatus == 1)
        #expect(said.contains("replaced: another stream of the account, on phone,"), "\(said)")
        #expect(!later.isOver)
      }
    }

    /// Two streams open at the same instant on two brokers: one of them stays, never none, never both.
    @Test func ofTwoAtOnceExactlyOneStays() async throws {
      try await Self.world("onePerDevice") { world in
        for round in 0..<30 {
          let person = try Person("bob\(round)", device: "phone", at: world[0])
          let opened = Box<EventStream>()
          concurrently(2) { number in
            if let stream = try? person.stream(at: world[number]) { opened.add(stream) }
          }
          let streams = opened.values
          try #require(streams.count == 2)
          try await eventually { streams.contains { $0.all.last?.name == "kicked" } }
          try await shows(["phone"], person)
          #expect(streams.count { $0.all.contains { $0.name == "kicked" } } == 1)
        }
      }
    }

    /// Streams that open together end while others of their account begin: an account's last stream on a loop
    /// goes, and the next one comes. Each stream that must end is told so, and no stream stays open that is
    /// not listed.
    @Test func ofManyAtOnceOnlyTheListedOneStaysOpen() async throws {
      let settings = ["BELFRY_LOGINS": "onePerAccount", "BELFRY_LOOPS": "1"]
      try await withWorld(brokers: 2, settings: settings) { world in
        for round in 0..<5 {
          let people = try (0..<3).map { try Person("user\(round)-\($0)", device: "phone", at: world[0]) }
          let opened = people.map { _ in Box<EventStream>() }
          concurrently(people.count * 14) { number in
            let place = number % people.count
            if let stream = try? people[place].stream(at: world[number / people.count]) {
              opened[place].add(stream)
            }
          }
          for (person, streams) in zip(people, opened.map(\.values)) {
            try #require(streams.count == 14)
            try await eventually("too many of \(person.name)'s streams stay open") {
              streams.count { !$0.isOver } == 1
            }
            #expect(streams.count { $0.all.last?.name == "kicked" } == 13)
            try await shows(["phone"], person)
            #expect(try person.call("DELETE", "/v1/account/streams")["ended"] == "1")
            try await eventually { streams.allSatisfy(\.isOver) }
            try await shows([], person)
          }
        }
      }
    }

    /// A stream that closes never removes a later stream from the registry.
    @Test func aDeviceThatComesBackAtOnceIsListed() async throws {
      for logins in ["all", "onePerDevice"] {
        try await Self.world(logins) { world in
          let phone = try bob("phone", at: world[0])
          var stream = try phone.stream()
          for round in 1...100 {
            stream.cut()
            stream = try phone.stream(at: world[round])
          }
          try await shows(["phone"], phone)
          // A late answer would come within one round to Redis.
          try await Task.sleep(for: .seconds(1))
          #expect(try devices(phone) == ["phone"])
          #expect(!stream.isOver)
        }
      }
    }

    @Test func aBrokerThatStoodStillLearnsThatItsStreamWasReplaced() async throws {
      try await Self.world("onePerDevice") { world, clock in
        let phone = try bob("phone", at: world[1])
        // The time is longer than the interval in which its loops renew their registrations, and longer than
        // a registration counts.
        for (stopped, passed): (Int, Int64) in [(1, 0), (3, 12)] {
          let first = try phone.stream(at: world[0])
          try await shows(["phone"], phone)
          world[0].signal(SIGSTOP)
          let second = try phone.stream(at: world[1])
          try await Task.sleep(for: .seconds(stopped))
          try clock.step(bySeconds: passed)
          try await shows(["phone"], phone)
          #expect(!first.isOver)
          world[0].signal(SIGCONT)
          expectKicked(first, "replaced", by: "phone")
          try await shows(["phone"], phone)
          #expect(!second.isOver)
          second.cut()
          try await shows([], phone)
        }
      }
    }

    /// The streams come back to life with their broker.
    @Test func whatABrokerHasThatIsGoneCountsNoMoreAfterTenSeconds() async throws {
      try await Self.world("all") { world, clock in
        let (phone, desk) = (try bob("phone", at: world[0]), try bob("desk", at: world[1]))
        let streams = [try phone.stream(), try desk.stream()]
        try await shows(["desk", "phone"], desk)
        // The broker that is alive renews its registration.
        world[0].signal(SIGSTOP)
        try clock.step(bySeconds: 11)
        try await shows(["desk"], desk)
        world[0].signal(SIGCONT)
        try await shows(["desk", "phone"], desk)
        await world[0].kill()
        try clock.step(bySeconds: 11)
        try await shows(["desk"], desk)
        #expect(!streams[1].isOver)
      }
    }

    @Test func whatRedisForgetsIsRegisteredAgain() async throws {
      var durable = RedisServer.Options()
      durable.appendOnly = .always
      try await withWorld(brokers: 2, redis: durable, settings: ["BELFRY_LOGINS": "onePerDevice"]) { world in
        let (phone, desk) = (try bob("phone", at: world[0]), try bob("desk", at: world[1]))
        let streams = [try phone.stream(), try desk.stream()]
        try await shows(["desk", "phone"], desk)
        for pattern in ["belfry:{*}:registration:*", "belfry:{*}:streams"] {
          for key in try world.redis.command("KEYS", pattern).split(whereSeparator: \.isWhitespace) {
            try world.redis.command("DEL", String(key))
          }
        }
        #expect(try devices(desk).isEmpty)
        try await shows(["desk", "phone"], desk)
        await world.redis.kill()
        try await world.redis.start()
        try await eventually { try devices(desk) == ["desk", "phone"] }
        #expect(streams.allSatisfy { !$0.isOver })
        let again = try await phone.streamWhenRedisIsBack(at: world[1])
        expectKicked(streams[0], "replaced", by: "phone")
        #expect(!again.isOver)
      }
    }
  }
}
