import Foundation
import Glibc
import TestKit
import Testing

/// Pushes while brokers die and Redis is away: each due push arrives, even if it was under way, and no other
/// push does.
@Suite(.timeLimit(.minutes(5)), .serialized) struct PushFaultTests {
  private static let settings = [
    "BELFRY_PUSH_ALLOWED_NETWORKS": #"["127.0.0.0/8"]"#, "BELFRY_PUSH_DELAY_MILLISECONDS": "300",
  ]

  /// A gateway that takes a moment for each push.
  private final class Gateway: Sendable {
    private let seen = Shared([String: Int]())
    let server: ScriptedServer

    init() throws {
      let seen = seen
      server = try ScriptedServer { request, _ in
        let object = (try? JSONSerialization.jsonObject(with: Data(request.body.utf8))) as? [String: Any]
        let notification = object?["notification"] as? [String: Any]
        let device = (notification?["devices"] as? [[String: Any]])?.first?["pushkey"] as? String ?? ""
        usleep(30_000)
        seen.withLock { $0["\(notification?["event_id"] as? String ?? "badge") \(device)", default: 0] += 1 }
        return [.kept(200, #"{"rejected":[]}"#), .next]
      }
    }

    /// The number of pushes for each notification and device.
    var pushes: [String: Int] { seen.withLock { $0 } }

    /// The notifications that were pushed, each with its device. Numbers are left out: a device receives its number once more
    /// if it has changed while the device was told, or if the broker that told it has died.
    var notifications: Set<String> { Set(pushes.keys.filter { !$0.hasPrefix("badge ") }) }
  }

  private let accounts = (0..<40).map { "listener-\($0)" }

  /// A server of these accounts. All of them except the last five have a device.
  private func makeServer(_ gateway: Gateway, at broker: Broker) throws -> String {
    let server = try Person("owner", at: broker).createServer()
    try Person.app(at: broker).add(accounts, to: server)
    for name in accounts.dropLast(5) {
      let made = try Person(name, at: broker).call(
        "PUT", "/v1/account/pushers/phone",
        ["kind": "matrix", "url": "http://127.0.0.1:\(gateway.server.port)", "appId": "app", "pushkey": name])
      try #require(made.status == 200, "\(made)")
    }
    return server
  }

  private func wanted(_ sent: [String]) -> Set<String> {
    Set(sent.flatMap { id in accounts.dropLast(5).map { "\(id) \($0)" } })
  }

  private func waitForAll(_ wanted: Set<String>, _ gateway: Gateway, seconds: Int = 90) async throws {
    for _ in 0..<(seconds * 10) where gateway.notifications.count < wanted.count {
      try await Task.sleep(for: .milliseconds(100))
    }
    #expect(gateway.notifications == wanted)
  }

  private static var push: [String: Any] { ["pushEnable": true] }

  @Test func whereOneBrokerIsKilledAnotherGoesOn() async throws {
    let gateway = try Gateway()
    try await withWorld(brokers: 2, settings: Self.settings) { world in
      let server = try makeServer(gateway, at: world[1])
      let app = try Person.app(at: world[1])
      var sent: [String] = []
      for number in 0..<6 {
        sent.append(try app.mustSend("\(number)", ["serverId": server, "setting": Self.push]))
        if number == 3 {
          // Some pushes are posted, some are under way, some are entered, some are not.
          try await Task.sleep(for: .milliseconds(900))
          await world[0].kill()
        }
      }
      try await waitForAll(wanted(sent), gateway)
      // Only pushes that were under way were done a second time.
      #expect(gateway.pushes.values.allSatisfy { $0 <= 2 })
      try await Task.sleep(for: .seconds(1))
      #expect(gateway.notifications == wanted(sent))
    }
  }

  @Test func whileNothingDiesEachIsPushedOnce() async throws {
    let gateway = try Gateway()
    try await withWorld(brokers: 2, settings: Self.settings) { world in
      let server = try makeServer(gateway, at: world[0])
      let app = try Person.app(at: world[1])
      let sent = try (0..<6).map { try app.mustSend("\($0)", ["serverId": server, "setting": Self.push]) }
      try await waitForAll(wanted(sent), gateway)
      try await Task.sleep(for: .seconds(1))
      #expect(gateway.notifications == wanted(sent))
      #expect(gateway.pushes.values.allSatisfy { $0 == 1 })
    }
  }

  /// It goes on when it may. It pushes nothing that another broker has pushed meanwhile, except the pushes
  /// that were under way.
  @Test func aBrokerThatStandsStillHoldsNothingUp() async throws {
    let gateway = try Gateway()
    try await withWorld(brokers: 2, settings: Self.settings) { world in
      let server = try makeServer(gateway, at: world[1])
      let app = try Person.app(at: world[1])
      var sent: [String] = []
      for number in 0..<4 {
        sent.append(try app.mustSend("\(number)", ["serverId": server, "setting": Self.push]))
        if number == 1 {
          try await Task.sleep(for: .milliseconds(700))
          world[0].signal(SIGSTOP)
        }
      }
      try await waitForAll(wanted(sent), gateway)
      world[0].signal(SIGCONT)
      try await Task.sleep(for: .seconds(1))
      #expect(gateway.pushes.values.allSatisfy { $0 <= 2 })
    }
  }

  @Test func whileRedisIsAwayNothingIsLost() async throws {
    let gateway = try Gateway()
    var durable = RedisServer.Options()
    durable.appendOnly = .always
    try await withWorld(brokers: 2, redis: durable, settings: Self.settings) { world in
      let server = try makeServer(gateway, at: world[1])
      let app = try Person.app(at: world[1])
      let sent = try (0..<4).map { try app.mustSend("\($0)", ["serverId": server, "setting": Self.push]) }
      try await Task.sleep(for: .milliseconds(700))
      await world.redis.kill()
      try await Task.sleep(for: .seconds(1))
      try await world.redis.start()
      try await waitForAll(wanted(sent), gateway)
      #expect(gateway.pushes.values.allSatisfy { $0 <= 2 })
    }
  }

  // MARK: Streams

  /// Runs on a Redis whose clock the test steps: the streams of a broker that died count for ten seconds.
  private func withClock(_ body: (World, ShiftedClock) async throws -> Void) async throws {
    let clock = try await ShiftedClock()
    var options = RedisServer.Options()
    options.clock = clock
    try await withWorld(brokers: 2, redis: options, settings: Self.settings) { try await body($0, clock) }
  }

  /// Lets time pass in which the brokers live and renew their registrations. They stand still while the clock
  /// steps, so that none of them finds an expired registration.
  private func letTimePass(seconds: Int64, _ clock: ShiftedClock, _ world: World) throws {
    for broker in world.brokers { broker.signal(SIGSTOP) }
    defer { for broker in world.brokers { broker.signal(SIGCONT) } }
    let registrations = try world.redis.command("KEYS", "belfry:{*}:registration:*").split(separator: "\n")
    for key in registrations {
      let left = try #require(Int64(world.redis.command("PTTL", String(key))))
      try world.redis.command("PEXPIRE", String(key), "\(left + seconds * 1_000)")
    }
    try clock.step(bySeconds: seconds)
  }

  private func streamCount(_ person: Person) throws -> Int {
    (try person.call("GET", "/v1/account/streams").object["streams"] as? [Any])?.count ?? -1
  }

  /// The number of accounts that were not pushed to because they are connected, over all brokers.
  private func connectedCount(_ world: World) throws -> Int {
    try world.brokers.reduce(0) { sum, broker in
      let text = try Wire(port: broker.port).request("GET", "/metrics").text
      let lines = text.split(separator: "\n").filter { $0.hasPrefix("belfry_push_live_total") }
      return sum + lines.compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
    }
  }

  /// The pushes to one account.
  private func pushes(of name: String, _ gateway: Gateway) -> Int {
    gateway.pushes.filter { $0.key.hasSuffix(" \(name)") && !$0.key.hasPrefix("badge") }.count
  }

  @Test func whoeverIsConnectedToAnyBrokerIsNotPushedTo() async throws {
    let gateway = try Gateway()
    try await withClock { world, clock in
      let server = try makeServer(gateway, at: world[1])
      let app = try Person.app(at: world[1])
      let person = try Person(accounts[0], device: "laptop", at: world[0])
      let stream = try person.stream()
      try await eventually { try streamCount(person) == 1 }
      let sent = try app.mustSend("one", ["serverId": server, "setting": Self.push])
      #expect(stream.wait(forBody: "one"))
      try await waitForAll(wanted([sent]).subtracting(["\(sent) \(accounts[0])"]), gateway)
      // Only after this time it is certain that the broker with the stream has not died.
      try letTimePass(seconds: 14, clock, world)
      try await eventually { try connectedCount(world) == 1 }
      #expect(pushes(of: accounts[0], gateway) == 0)
      _ = stream.cut()
      try await eventually { try streamCount(person) == 0 }
      _ = try app.mustSend("two", ["serverId": server, "setting": Self.push])
      try await eventually { pushes(of: accounts[0], gateway) == 1 }
    }
  }

  @Test func aPageThatWaitsIsALiveDevice() async throws {
    let gateway = try Gateway()
    try await withClock { world, clock in
      let server = try makeServer(gateway, at: world[1])
      let app = try Person.app(at: world[1])
      let person = try Person(accounts[0], at: world[0])
      var cursor: String? = try person.call("GET", "/v1/notifications")["cursor"]
      let wire = try Wire(port: world[0].port)
      let poll = {
        try wire.writeRequest(
          "GET", "/v1/notifications?wait=60&after=\(try #require(cursor))", headers: person.headers)
      }
      try poll()
      let sent = try app.mustSend("one", ["serverId": server, "setting": Self.push])
      let answer = try wire.readAnswer()
      #expect(answer.text.contains(sent))
      cursor = answer["cursor"]
      try poll()
      try await waitForAll(wanted([sent]).subtracting(["\(sent) \(accounts[0])"]), gateway)
      try letTimePass(seconds: 14, clock, world)
      try await eventually { try connectedCount(world) == 1 }
      #expect(pushes(of: accounts[0], gateway) == 0)
      #expect(try streamCount(person) == 0, "it is no stream")
      wire.cut()
      try await eventually { try world.redis.command("KEYS", "belfry:{*}:streams").isEmpty }
      _ = try app.mustSend("two", ["serverId": server, "setting": Self.push])
      try await eventually { pushes(of: accounts[0], gateway) == 1 }
    }
  }

  // MARK: Receivers that do not answer

  /// A thousand pushes wait for a gateway that refuses connections. With 40 pushes a second they would be due again sooner
  /// than the broker can look at them all.
  @Test func aDeadGatewayKeepsNoOtherSpaceWaiting() async throws {
    let (gateway, dead) = (try Gateway(), try findFreePort())
    let settings = ["BELFRY_PARTITIONS": "1", "BELFRY_LOOPS": "1", "BELFRY_PUSH_PER_SECOND": "40"]
    try await withWorld(settings: Self.settings.merging(settings) { $1 }) { world in
      let app = try Person.app(at: world[0])
      let server = try Person("owner", at: world[0]).createServer()
      let names = (0..<1_000).map { "member-\($0)" }
      try app.add(names, to: server)
      for (name, port) in names.map({ ($0, dead) }) + [("bob", gateway.server.port)] {
        let made = try Person(name, at: world[0]).call(
          "PUT", "/v1/account/pushers/phone",
          ["kind": "matrix", "url": "http://127.0.0.1:\(port)", "appId": "app", "pushkey": name])
        try #require(made.status == 200, "\(made)")
      }
      try app.mustSend("to nobody", ["serverId": server, "setting": Self.push])
      let waiting = {
        let key = try world.redis.command("KEYS", "belfry:{*}:pushes")
        return key.isEmpty ? 0 : Int(try world.redis.command("ZCARD", key)) ?? 0
      }
      try await eventually { try waiting() > 900 }
      let sent = try app.mustSend("to bob", ["toAccids": ["bob"], "setting": Self.push])
      try await eventually("bob is not pushed to", within: .seconds(60)) {
        gateway.pushes["\(sent) bob"] == 1
      }
      #expect(try waiting() > 900, "the others still wait")
    }
  }

  /// Sends while the streams of a killed broker still count as open.
  @Test func whoeverWasConnectedToABrokerThatDiedIsPushedTo() async throws {
    let gateway = try Gateway()
    try await withClock { world, clock in
      let server = try makeServer(gateway, at: world[1])
      let app = try Person.app(at: world[1])
      let person = try Person(accounts[0], device: "laptop", at: world[0])
      let stream = try person.stream()
      try await eventually { try streamCount(person) == 1 }
      await world[0].kill()
      #expect(stream.waitUntilOver())
      let sent = try app.mustSend("one", ["serverId": server, "setting": Self.push])
      let others = wanted([sent]).subtracting(["\(sent) \(accounts[0])"])
      try await eventually("not even the others are pushed to") { others.isSubset(of: gateway.pushes.keys) }
      try clock.step(bySeconds: 12)
      try await waitForAll(wanted([sent]), gateway)
    }
  }
}
