import Foundation
import TestKit
import Testing

extension EndToEnd {
  /// Ids jump ahead of the clock after a restart of Redis. The times that people see do not.
  @Suite struct Times {
    @Test func timeIsTheClocksWhileIDsAreAhead() async throws {
      var options = RedisServer.Options()
      options.appendOnly = .always
      try await withWorld(redis: options) { world in
        let alice = try Person("alice", at: world[0])
        let stream = try alice.stream()
        try alice.mustSend("before", ["toAccids": ["alice"]])
        #expect(stream.wait(forBody: "before"))
        await world.redis.kill()
        try await world.redis.start()

        let began = Self.milliseconds - 1
        let fields: [String: Any] = ["toAccids": ["alice"], "messageClientId": "after"]
        var receipts: [Answer] = []
        for _ in 0..<2 {
          try await eventually("nothing can be sent", every: .milliseconds(50)) {
            let answer = try alice.send("after", fields)
            if answer.status < 300 { receipts.append(answer) }
            return answer.status < 300
          }
        }
        let ended = Self.milliseconds + 1
        try await world[0].waitUntilReady()
        let id = try #require(receipts[0]["messageServerId"])
        let time = try #require(receipts[0]["time"].flatMap { Int64($0) })
        #expect((began...ended).contains(time))
        #expect(try Self.idMilliseconds(id) > time, "ids are ahead")
        #expect(receipts[1].isDuplicate && receipts[1]["time"] == receipts[0]["time"])

        #expect(stream.wait(forBody: "after"))
        let event = try #require(stream.notifications.first { $0.body == "after" })
        #expect(Self.time(event.object) == time)
        let page = try alice.call("GET", "/v1/notifications")
        #expect(page.notifications.last.flatMap(Self.time) == time)
        let explained = try Person.app(at: world[0]).call(
          "GET", "/v1/notifications/\(id)/explain?account=alice")
        let facts = try #require(explained.object["facts"] as? [String: Any])
        #expect((facts["sentAt"] as? NSNumber)?.int64Value == time)
        let update = try alice.call("PATCH", "/v1/notifications/\(id)", ["body": "later"])
        #expect(Self.time(update.object) == time)
        let updated = (update.object["updateTime"] as? NSNumber)?.int64Value ?? .max
        #expect((time...Self.milliseconds + 1).contains(updated))
      }
    }

    private static var milliseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

    private static func time(_ notification: [String: Any]) -> Int64? {
      (notification["time"] as? NSNumber)?.int64Value
    }

    private static func idMilliseconds(_ id: String) throws -> Int64 {
      (try #require(Int64(id)) >> 22) + 1_704_067_200_000
    }
  }
}
