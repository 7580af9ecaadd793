import Foundation
import TestKit
import Testing

/// A node of a cluster is away for good. The broker does for the others what it always does.
@Suite(.timeLimit(.minutes(3))) struct NodeAwayTests {
  private static let settings = [
    "BELFRY_PUSH_ALLOWED_NETWORKS": #"["127.0.0.0/8"]"#,
    "BELFRY_WEBHOOKS_ALLOWED_NETWORKS": #"["127.0.0.0/8"]"#,
    "BELFRY_PUSH_DELAY_MILLISECONDS": "300", "BELFRY_LOGINS": "onePerDevice",
  ]

  /// The ids that were posted to a receiver, and the devices that they were for.
  private func receiver(_ seen: Shared<Set<String>>) throws -> ScriptedServer {
    try ScriptedServer { request, _ in
      let object = (try? JSONSerialization.jsonObject(with: Data(request.body.utf8))) as? [String: Any]
      let pushed = object?["notification"] as? [String: Any]
      let device = (pushed?["devices"] as? [[String: Any]])?.first?["pushkey"] as? String ?? ""
      let id = request.headers["webhook-id"] ?? "\(pushed?["event_id"] as? String ?? "badge") \(device)"
      seen.withLock { _ = $0.insert(id) }
      return [.kept(200, #"{"rejected":[]}"#), .next]
    }
  }

  /// A master without a key that all brokers share.
  private func masterOfAccountsAlone(_ cluster: RedisClusterServers) throws -> RedisServer {
    try #require(
      cluster.masters.first { master in
        try ["*:registration:*", "belfry:webhooks", "belfry:format", "belfry:push"].allSatisfy {
          try master.command("KEYS", $0).isEmpty
        }
      })
  }

  @Test func webhooksPushesAndLoginsGoOnAtTheOthers() async throws {
    let seen = Shared(Set<String>())
    let receiver = try receiver(seen)
    try await withRedisCluster { cluster in
      let broker = try await Broker.started(redisURL: cluster.url, options: Self.settings)
      let app = try Person.app(at: broker)
      let made = try app.call(
        "POST", "/v1/webhooks", ["url": "http://127.0.0.1:\(receiver.port)/", "types": [100]])
      try #require(made.status == 201, "\(made)")
      let people = try (0..<12).map { try Person("listener-\($0)", device: "phone", at: broker) }
      var servers: [String] = []
      for person in people {
        let made = try person.call(
          "PUT", "/v1/account/pushers/phone",
          [
            "kind": "matrix", "url": "http://127.0.0.1:\(receiver.port)", "appId": "app",
            "pushkey": person.name,
          ])
        try #require(made.status == 200, "\(made)")
        servers.append(try person.createServer())
      }
      for server in servers { try app.add(people.map(\.name), to: server) }
      let streams = try people.map { try $0.stream() }
      for (person, stream) in zip(people, streams) {
        try await eventually { try count(of: person) == 1 }
        #expect(stream.status == 200)
      }
      try await eventually { try cluster.masters.allSatisfy { try $0.outboxItems() == 0 } }
      try await masterOfAccountsAlone(cluster).kill()
      try await eventually { try people.contains { try count(of: $0) == nil } }
      // A later stream of the same device ends the earlier one.
      let reached = try people.filter { try count(of: $0) == 1 }
      #expect(reached.count > 2 && reached.count < people.count)
      for (person, stream) in zip(people, streams) where reached.contains(where: { $0 === person }) {
        let later = try person.stream()
        #expect(stream.waitUntilOver())
        _ = later.cut()
        try await eventually { try count(of: person) == 0 }
      }
      var wanted: Set<String> = []
      for server in servers {
        let sent = try app.send("hello", ["serverId": server, "setting": ["pushEnable": true]])
        guard sent.status == 201 else { continue }
        let id = try #require(sent["messageServerId"])
        wanted.formUnion([id] + reached.map { "\(id) \($0.name)" })
      }
      #expect(wanted.count > 4)
      try await eventually("not all has arrived", within: .seconds(60)) {
        seen.withLock { wanted.isSubset(of: $0) }
      }
      await broker.remove()
    }
  }

  /// The number of the account's streams; nil if its node does not answer.
  private func count(of person: Person) throws -> Int? {
    (try person.call("GET", "/v1/account/streams").object["streams"] as? [Any])?.count
  }
}
