import Foundation
import Glibc
import TestKit
import Testing

/// Copies of notifications while brokers die, receivers fail and Redis is away. Each copy arrives, in the
/// order of its space, and no space has two copies under way at the same time.
@Suite(.timeLimit(.minutes(5)), .serialized) struct WebhookFaultTests {
  private static let settings = [
    "BELFRY_WEBHOOKS_ALLOWED_NETWORKS": #"["127.0.0.0/8"]"#, "BELFRY_WEBHOOKS_TIMEOUT_MILLISECONDS": "1000",
  ]

  /// A receiver that takes a moment for each copy, and notices if a space has two under way.
  private final class Receiver: Sendable {
    private struct Seen {
      var underWay: [String: Int] = [:]
      var overlaps = 0
      var ids: [String: [Int64]] = [:]
    }

    private let seen = Shared(Seen())
    let server: ScriptedServer

    init(failing: @escaping @Sendable (Int) -> Bool = { _ in false }) throws {
      let seen = seen
      server = try ScriptedServer { request, number in
        let (id, space) = Self.read(request)
        let overlaps = seen.withLock { seen in
          seen.underWay[space, default: 0] += 1
          return seen.underWay[space, default: 0] > 1
        }
        usleep(20_000)
        let isFailing = failing(number)
        seen.withLock { seen in
          seen.underWay[space, default: 1] -= 1
          if overlaps { seen.overlaps += 1 }
          if !isFailing { seen.ids[space, default: []].append(id) }
        }
        return isFailing ? [.reset] : [.kept(200), .next]
      }
    }

    private static func read(_ request: ScriptedRequest) -> (id: Int64, space: String) {
      let object = (try? JSONSerialization.jsonObject(with: Data(request.body.utf8))) as? [String: Any]
      let data = object?["data"] as? [String: Any]
      return (Int64(request.headers["webhook-id"] ?? "") ?? 0, data?["space"] as? String ?? "")
    }

    var overlaps: Int { seen.withLock { $0.overlaps } }
    var ids: Set<Int64> { seen.withLock { Set($0.ids.values.joined()) } }

    /// True if the first deliveries of each space came in order.
    var isInOrder: Bool {
      seen.withLock { seen in
        seen.ids.values.allSatisfy { ids in
          var had: Set<Int64> = []
          let first = ids.filter { had.insert($0).inserted }
          return first == first.sorted()
        }
      }
    }
  }

  private func register(_ receiver: Receiver, _ app: Person) throws {
    let made = try app.call(
      "POST", "/v1/webhooks", ["url": "http://127.0.0.1:\(receiver.server.port)/", "types": [100]])
    try #require(made.status == 201, "\(made)")
  }

  private func waitForAll(_ sent: Set<Int64>, _ receiver: Receiver, seconds: Int = 60) async throws {
    for _ in 0..<(seconds * 10) where !sent.isSubset(of: receiver.ids) {
      try await Task.sleep(for: .milliseconds(100))
    }
    #expect(
      sent.subtracting(receiver.ids).isEmpty, "not delivered: \(sent.subtracting(receiver.ids).sorted())")
    #expect(receiver.isInOrder)
    #expect(receiver.overlaps == 0)
  }

  @Test func whereOneBrokerIsKilledAnotherGoesOn() async throws {
    let receiver = try Receiver()
    try await withWorld(brokers: 2, settings: Self.settings) { world in
      let app = try Person.app(at: world[1])
      try register(receiver, app)
      let owner = try Person("owner", at: world[1])
      let servers = try (0..<4).map { _ in try owner.createServer() }
      var sent: Set<Int64> = []
      for number in 0..<200 {
        sent.insert(try #require(Int64(app.mustSend("\(number)", ["serverId": servers[number % 4]]))))
        if number == 60 { await world[0].kill() }
      }
      try await waitForAll(sent, receiver)
      #expect(receiver.ids == sent)
    }
  }

  /// It goes on when it may, with the copies that another broker has delivered meanwhile.
  @Test func aBrokerThatStandsStillHoldsNothingUp() async throws {
    let receiver = try Receiver()
    try await withWorld(brokers: 2, settings: Self.settings) { world in
      let app = try Person.app(at: world[1])
      try register(receiver, app)
      let owner = try Person("owner", at: world[1])
      let servers = try (0..<4).map { _ in try owner.createServer() }
      var sent: Set<Int64> = []
      for number in 0..<80 {
        sent.insert(try #require(Int64(app.mustSend("\(number)", ["serverId": servers[number % 4]]))))
        if number == 30 { world[0].signal(SIGSTOP) }
      }
      try await waitForAll(sent, receiver)
      world[0].signal(SIGCONT)
      for number in 0..<20 {
        sent.insert(try #require(Int64(app.mustSend("late \(number)", ["serverId": servers[number % 4]]))))
      }
      try await waitForAll(sent, receiver)
    }
  }

  @Test func whileRedisIsAwayNothingIsLost() async throws {
    let receiver = try Receiver()
    var durable = RedisServer.Options()
    durable.appendOnly = .always
    try await withWorld(brokers: 2, redis: durable, settings: Self.settings) { world in
      let app = try Person.app(at: world[0])
      try register(receiver, app)
      let server = try Person("owner", at: world[0]).createServer()
      var sent: Set<Int64> = []
      for number in 0..<60 {
        if number == 30 {
          await world.redis.kill()
          try await Task.sleep(for: .seconds(2))
          try await world.redis.start()
        }
        for _ in 0..<100 {
          let answer = try app.send("\(number)", ["serverId": server, "messageClientId": "m\(number)"])
          if answer.status == 200 || answer.status == 201 {
            sent.insert(try #require(Int64(answer["messageServerId"] ?? "")))
            break
          }
          try await Task.sleep(for: .milliseconds(100))
        }
      }
      #expect(sent.count == 60)
      try await waitForAll(sent, receiver)
    }
  }

  @Test func aReceiverThatComesAndGoesMissesNothing() async throws {
    // Each connection that is reset is a failure; this is every third of the first connections.
    let receiver = try Receiver { number in number < 60 && number % 3 == 0 }
    try await withWorld(brokers: 2, settings: Self.settings) { world in
      let app = try Person.app(at: world[0])
      try register(receiver, app)
      let owner = try Person("owner", at: world[0])
      let servers = try (0..<8).map { _ in try owner.createServer() }
      var sent: Set<Int64> = []
      for number in 0..<80 {
        sent.insert(try #require(Int64(app.mustSend("\(number)", ["serverId": servers[number % 8]]))))
      }
      // A copy that fails twice is tried again after minutes. An operator who knows of the failure uses a
      // replay and does not wait.
      let id = try #require(
        app.call("GET", "/v1/webhooks").object["webhooks"].flatMap { $0 as? [[String: Any]] }?
          .first?["webhookId"] as? String)
      for _ in 0..<60 where !sent.isSubset(of: receiver.ids) {
        #expect(try app.call("POST", "/v1/webhooks/\(id)/replay", ["from": 0]).status == 204)
        try? await eventually(within: .seconds(2), every: .milliseconds(20)) {  // own pace: again
          sent.isSubset(of: receiver.ids)
        }
      }
      try await waitForAll(sent, receiver)
    }
  }
}
