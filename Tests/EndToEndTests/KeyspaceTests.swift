import Foundation
import TestKit
import Testing

extension EndToEnd {
  /// The record of a keyspace, and the brokers that are started on it.
  @Suite struct Keyspace {
    private static func partitions(_ count: Int) -> [String: String] { ["BELFRY_PARTITIONS": "\(count)"] }

    private static let refused16 =
      "this keyspace has 16 partitions, and this broker was started with 64: start it with --partitions 16"

    /// The end of a broker that is started with wrong settings.
    private func end(of broker: Broker) async throws -> (status: Int32, lastLine: String) {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: Broker.executable)
      process.arguments = ["serve"]
      process.environment = ProcessInfo.processInfo.environment.merging(broker.environment) { $1 }
      let output = Pipe()
      process.standardError = output
      try process.run()
      // If it does not end, the test still does.
      let watchdog = Task {
        try await Task.sleep(for: Broker.patience)
        process.terminate()
      }
      let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      process.waitUntilExit()
      watchdog.cancel()
      return (process.terminationStatus, text.split(separator: "\n").last.map(String.init) ?? "")
    }

    @Test func aBrokerThatWasStartedWithAnotherNumberEndsAndSaysWhy() async throws {
      try await withWorld(settings: Self.partitions(16)) { world in
        let other = try Broker(redisURL: world.redis.url)
        let (status, line) = try await end(of: other)
        #expect(status == 1)
        #expect(line == "belfry: keyspaceRefused: \(world.redis.url): \(Self.refused16)")
        #expect(try Wire(port: world[0].port).request("GET", "/readyz").status == 200)
        await other.remove()
      }
    }

    @Test func dataOfAnotherVersionIsRefused() async throws {
      try await withRedisServer { redis in
        try redis.command("HSET", "belfry:format", "format", "4 64")
        let broker = try Broker(redisURL: redis.url)
        let (status, line) = try await end(of: broker)
        #expect(status == 1)
        let words =
          "this keyspace has data of version 4, and this broker reads version 3: start a release of Belfry"
        #expect(line.contains(words), "\(line)")
        #expect(try redis.command("KEYS", "*") == "belfry:format")
        await broker.remove()
      }
    }

    @Test func ofTwoStartedAtOnceOneServes() async throws {
      try await withRedisServer { redis in
        let brokers = try [16, 64].map { try Broker(redisURL: redis.url, options: Self.partitions($0)) }
        for broker in brokers { try await broker.start(waits: false) }
        func isReady(_ broker: Broker) -> Bool {
          (try? Wire(port: broker.port).request("GET", "/readyz"))?.status == 200
        }
        try await eventually {
          brokers.contains(where: isReady) && brokers.contains { $0.log.contains("keyspaceRefused") }
        }
        let serving = brokers.filter { !$0.log.contains("keyspaceRefused") }
        #expect(serving.count == 1)
        #expect(serving.allSatisfy(isReady))
        for broker in brokers where broker.log.contains("keyspaceRefused") {
          #expect(await broker.hasEnded())
        }
        for broker in brokers { await broker.remove() }
      }
    }

    /// The broker waits for a Redis that is not there, and ends when the one that comes has another keyspace.
    @Test func aRedisThatComesLaterIsRefusedToo() async throws {
      var durable = RedisServer.Options()
      durable.appendOnly = .always
      try await withRedisServer(durable) { redis in
        try redis.command("HSET", "belfry:format", "format", "3 16")
        await redis.stop()
        let broker = try Broker(redisURL: redis.url)
        try await broker.start(waits: false)
        try await eventually { try Wire(port: broker.port).request("GET", "/healthz").status == 200 }
        try await redis.start()
        #expect(await broker.hasEnded())
        #expect(broker.log.contains(Self.refused16), "\(broker.log)")
        // It has listened, and has not said that it is ready.
        #expect(broker.log.contains(" listens on ") && !broker.log.contains(" is ready "), "\(broker.log)")
        await broker.remove()
      }
    }

    /// Its streams stay open, because somebody may correct the mistake.
    @Test func aBrokerWhoseRedisIsReplacedWaitsForItsOwn() async throws {
      try await withWorld { world in
        let alice = try Person("alice", at: world[0])
        let stream = try alice.stream()
        try redisIsReplaced(world.redis, by: "3 16")
        try await eventually {
          let answer = try Wire(port: world[0].port).request("GET", "/readyz")
          return answer.status == 503 && answer["detail"] == Self.refused16
        }
        #expect(try alice.call("GET", "/v1/notifications").status == 503)
        #expect(!stream.isOver)
        try redisIsReplaced(world.redis, by: "3 64")
        try await eventually { try Wire(port: world[0].port).request("GET", "/readyz").status == 200 }
        try await eventually { try alice.call("GET", "/v1/notifications").status == 200 }
        #expect(world[0].log.contains("redis cannot be used"))
        #expect(world[0].log.components(separatedBy: " is ready broker=").count == 2, "once: \(world[0].log)")
      }
    }

    private func redisIsReplaced(_ redis: RedisServer, by format: String) throws {
      try redis.command("HSET", "belfry:format", "format", format)
      try redis.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    }

    @Test func otherSettingsAreServedWithAWarning() async throws {
      try await withWorld { world in
        let settings = [
          "BELFRY_SECRET": "another secret of thirty-two byte", "BELFRY_LIMITS_ENTRIES_PER_SPACE": "500",
        ]
        let other = try await Broker.started(redisURL: world.redis.url, options: settings)
        let ready = try Wire(port: other.port).request("GET", "/readyz")
        #expect(ready.object["differing"] as? [String] == ["secret", "limits.entriesPerSpace"])
        let metrics = try Wire(port: other.port).request("GET", "/metrics").text
        #expect(metrics.contains("belfry_settings_differing 2\n"), "\(metrics)")
        #expect(metrics.contains("belfry_partitions 64\n"), "\(metrics)")
        for line in [
          "a setting of this broker differs from the keyspace setting=secret here=one keyspace=another",
          "a setting of this broker differs from the keyspace setting=limits.entriesPerSpace here=500 keyspace=100000",
        ] {
          #expect(
            other.log.components(separatedBy: line).count == 2, "once, whatever the loops: \(other.log)")
        }
        #expect(!other.log.contains("another secret"))
        await other.remove()

        // It has the same secret, so that the test can make its token.
        let third = try await Broker.started(
          redisURL: world.redis.url, options: ["BELFRY_LIMITS_ENTRIES_PER_SPACE": "500"])
        let stats = try Person.app(at: third).call("GET", "/v1/stats").object["keyspace"] as? [String: Any]
        #expect(stats?["partitions"] as? Int == 64)
        #expect(stats?["dataVersion"] as? Int == 3)
        #expect(
          stats?["differences"] as? [[String: String]] == [
            ["setting": "limits.entriesPerSpace", "here": "500", "keyspace": "100000"]
          ])
        await third.remove()
        #expect(try Wire(port: world[0].port).request("GET", "/readyz").object.keys.sorted() == ["status"])
      }
    }

    /// It is the only broker on its Redis, so nobody needs a warning.
    @Test func anEmbeddedRedisTakesTheSettingsOfItsBroker() async throws {
      let first = try await Broker.started(redisURL: nil)
      await first.stop()
      let process = try Broker(redisURL: nil, options: ["BELFRY_LIMITS_ENTRIES_PER_SPACE": "500"])
      try FileManager.default.copyItem(atPath: first.folder + "/data", toPath: process.folder + "/data")
      try await process.start()
      #expect(try Wire(port: process.port).request("GET", "/readyz").object.keys.sorted() == ["status"])
      let line =
        "a setting of the keyspace was replaced setting=limits.entriesPerSpace here=500 before=100000"
      #expect(process.log.contains(line), "\(process.log)")
      await first.remove()
      await process.stop()
      await process.remove()
    }

    @Test(arguments: [1, 16, 1_024])
    func everyNumberOfPartitionsDoes(count: Int) async throws {
      try await withWorld(brokers: 2, settings: Self.partitions(count)) { world in
        let app = try Person.app(at: world[0])
        let owner = try Person("owner", at: world[0])
        let reader = try Person("reader", at: world[1])
        let servers = try (0..<5).map { _ in try owner.createServer() }
        for server in servers { try app.add(["reader"], to: server) }
        let stream = try reader.stream()
        for (number, server) in servers.enumerated() {
          try owner.mustSend("a\(number)", ["serverId": server])
        }
        let bodies = (0..<5).map { "a\($0)" }
        #expect(stream.wait { Set(bodies).isSubset(of: $0.compactMap(\.body)) })
        #expect(try reader.unreadBodies().sorted() == bodies)

        let unread = try reader.unread()
        let marked = try #require(
          unread.first { $0["body"] as? String == "a3" }?["messageServerId"] as? String)
        let items = ["items": [["messageServerId": marked, "type": 100]]]
        #expect(try reader.call("POST", "/v1/notifications/read", items)["read"] == "1")
        #expect(try reader.unreadBodies().sorted() == ["a0", "a1", "a2", "a4"])

        let cursor = try #require(stream.cut().last { $0.id != nil }?.id)
        for (number, server) in servers.enumerated() {
          try owner.mustSend("b\(number)", ["serverId": server])
        }
        let again = try reader.stream(after: cursor, at: world[0])
        let later = (0..<5).map { "b\($0)" }
        #expect(again.wait { Set(later).isSubset(of: $0.compactMap(\.body)) })
        #expect(again.bodies.sorted() == later, "each once, and none of what was shown")
        let tags = Set(
          try world.redis.command("KEYS", "belfry:{*}:partition").split(separator: "\n").compactMap {
            $0.split(separator: "{").last?.split(separator: ".").first.flatMap { Int($0) }
          })
        #expect(!tags.isEmpty && tags.allSatisfy { $0 < count })
        if count == 1_024 { #expect(tags.contains { $0 >= 16 }) }
      }
    }
  }
}
