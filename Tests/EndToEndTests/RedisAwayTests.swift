import Foundation
import TestKit
import Testing

extension EndToEnd {
  /// Redis dies and comes back; the broker stays.
  @Suite struct RedisAway {
    /// Much longer than a broker waits for an answer, even on a busy machine.
    private static let away: Duration = .seconds(6)

    @Test func killedUnderLoadWithEverythingAcknowledgedThere() async throws {
      var durable = RedisServer.Options()
      durable.appendOnly = .always
      try await withWorld(brokers: 2, redis: durable) { world in
        let owner = try Person("owner", at: world[0])
        let server = try owner.createServer()
        let stream = try owner.stream(at: world[1])
        try owner.mustSend("begin", ["serverId": server])
        #expect(stream.wait(forBody: "begin"))

        let acknowledged = Box<String>()
        let refusedSenders = Box<Int>()
        let statuses = Box<Int>()
        let isOver = Flag()
        let threads = DispatchGroup()
        for number in 0..<4 {
          let sender = try Person("owner", at: world[number])
          threads.enter()
          Thread.detachNewThread {
            defer { threads.leave() }
            var count = 0
            while !isOver.isSet {
              let body = "s\(number).\(count)"
              let answer = try? sender.send(body, ["serverId": server, "messageClientId": body])
              statuses.add(answer?.status ?? 0)
              if answer?.status == 201 { acknowledged.add(body) }
              if answer?.status == 503 { refusedSenders.add(number) }
              count += 1
              if answer?.status != 201 { Thread.sleep(forTimeInterval: 0.01) }
            }
          }
        }
        try await eventually { acknowledged.values.count > 20 }
        await world.redis.kill()
        // No request waits until Redis is back.
        try await eventually("somebody is not even refused") { Set(refusedSenders.values).count == 4 }
        try await Task.sleep(for: Self.away)
        let refused = try owner.send("while away", ["serverId": server])
        #expect(refused.status == 503)
        #expect(refused["code"] == "unavailable")
        #expect(refused.headers["retry-after"] != nil)
        #expect(!stream.isOver)
        let acknowledgedBefore = acknowledged.values.count
        try await world.redis.start()
        try await eventually { acknowledged.values.count > acknowledgedBefore + 20 }
        isOver.set()
        threads.wait()
        for broker in world.brokers { try await broker.waitUntilReady() }
        try owner.mustSend("end", ["serverId": server])

        #expect(stream.wait(forBody: "end"))
        #expect(acknowledgedBefore > 10)
        #expect(Set(statuses.values).isSubset(of: [201, 200, 503]), "\(Set(statuses.values))")
        let bodies = stream.bodies
        #expect(bodies.count == Set(bodies).count, "shown twice")
        let lost = Set(acknowledged.values).subtracting(bodies)
        #expect(lost.isEmpty, "\(lost.count) acknowledged and not streamed")
        #expect(Set(acknowledged.values).subtracting(try owner.unreadBodies()).isEmpty)
      }
    }

    /// A master that refuses writes because it has too few replicas, for example just after a takeover,
    /// cannot record its history. A cursor that is given meanwhile is still valid after the next failover.
    @Test func nothingLostInTwoFailoversIsNoGap() async throws {
      var durable = RedisServer.Options()
      durable.appendOnly = .always
      try await withWorld(redis: durable) { world in
        let owner = try Person("owner", at: world[0])
        let server = try owner.createServer()
        for number in 0..<5 { try owner.mustSend("\(number)", ["serverId": server]) }
        var page = try owner.call("GET", "/v1/notifications?limit=500")
        for settings in [["min-replicas-to-write": "1"], [:]] {
          let before = page["cursor"] ?? ""
          await world.redis.stop()
          try await world.redis.start(with: settings)
          try await eventually {
            page = try owner.call("GET", "/v1/notifications?limit=500&after=\(before)")
            return page.status == 200
          }
          #expect(page.object["gap"] == nil && page.notifications.isEmpty, "\(settings): \(page)")
        }
        try owner.mustSend("after", ["serverId": server])
        page = try owner.call("GET", "/v1/notifications?limit=500&after=\(page["cursor"] ?? "")")
        #expect(page.object["gap"] == nil && page.notifications.count == 1, "\(page)")
      }
    }

    @Test func oneAbsenceIsOneLineOfBackgroundWork() async throws {
      var durable = RedisServer.Options()
      durable.appendOnly = .always
      try await withWorld(redis: durable) { world in
        let broker = world[0]
        func lines(_ event: String) -> Int { broker.log.components(separatedBy: event).count - 1 }
        await world.redis.kill()
        try await eventually { lines("background work waits for redis") == 1 }
        try await Task.sleep(for: Self.away)
        try await world.redis.start()
        try await eventually { lines("background work continues") == 1 }
        #expect(lines("background work waits for redis") == 1, "\(broker.log)")
        #expect(lines("background work fails") == 0, "\(broker.log)")
      }
    }

    @Test func aBrokerStartsBeforeItsRedis() async throws {
      try await withRedisServer { redis in
        await redis.stop()
        let broker = try Broker(redisURL: redis.url)
        try await broker.start(waits: false)
        try await eventually { try Wire(port: broker.port).request("GET", "/healthz").status == 200 }
        #expect(try Wire(port: broker.port).request("GET", "/readyz").status == 503)
        try await redis.start()
        try await broker.waitUntilReady()
        _ = try Person("alice", at: broker).createServer()
        await broker.remove()
      }
    }
  }
}
