import Foundation
import TestKit
import Testing

extension EndToEnd {
  /// A notification that is read once is read everywhere, for good.
  @Suite struct Read {
    private static func mark(_ id: String) -> [String: Any] {
      ["items": [["messageServerId": id, "type": 100]]]
    }

    @Test func readOnOneDeviceIsGoneFromAll() async throws {
      var durable = RedisServer.Options()
      durable.appendOnly = .always
      try await withWorld(brokers: 2, redis: durable) { world in
        let owner = try Person("owner", at: world[0])
        let server = try owner.createServer()
        try Person.app(at: world[0]).add(["alice"], to: server)
        let phone = try Person("alice", device: "phone", at: world[0])
        let laptop = try Person("alice", device: "laptop", at: world[1])
        let onPhone = try phone.stream()
        let onLaptop = try laptop.stream()
        let first = try owner.mustSend("first", ["serverId": server])
        try owner.mustSend("second", ["serverId": server])
        #expect(onLaptop.wait(forBody: "second"))
        #expect(onPhone.wait(forBody: "second"))
        let cursorBefore = try #require(onLaptop.notifications.first?.id)

        let answer = try phone.call("POST", "/v1/notifications/read", Self.mark(first))
        #expect(answer.status == 200)
        #expect(answer["read"] == "1")
        #expect(onLaptop.wait(forEvent: "read"))
        let event = try #require(onLaptop.all.last { $0.name == "read" })
        #expect(event.object["messageServerIds"] as? [String] == [first])
        #expect(!onPhone.all.contains { $0.name == "read" })
        #expect(try phone.call("POST", "/v1/notifications/read", Self.mark(first))["read"] == "0")

        func expectGone(_ when: Comment) async throws {
          #expect(try !laptop.unreadBodies().contains("first"), when)
          #expect(try laptop.unreadBodies().contains("second"), when)
          let again = try await laptop.streamWhenRedisIsBack(after: cursorBefore)
          #expect(again.wait(forBody: "second"), when)
          #expect(!again.bodies.contains("first"), when)
        }
        try await expectGone("at once")
        for broker in world.brokers {
          await broker.stop()
          try await broker.start()
        }
        try await expectGone("after the brokers were restarted")
        await world.redis.kill()
        try await world.redis.start()
        for broker in world.brokers { try await broker.waitUntilReady() }
        try await expectGone("after Redis was restarted")
      }
    }

    @Test func upToReadsEverythingBefore() async throws {
      try await withWorld { world in
        let app = try Person.app(at: world[0])
        let alice = try Person("alice", device: "phone", at: world[0])
        let laptop = try Person("alice", device: "laptop", at: world[0]).stream()
        var ids: [String] = []
        let servers = try (0..<4).map { _ in try alice.createServer() }
        // Her index learns of the servers after the answer.
        try await eventually { try world.redis.outboxItems() == 0 }
        for index in 0..<40 { ids.append(try app.mustSend("n\(index)", ["serverId": servers[index % 4]])) }
        #expect(laptop.wait(forBody: "n39"))
        // Within one millisecond the order of ids depends on the partition: notifications of several servers
        // are in the order of their ids, which is not quite the order of the sends.
        let first = ids.sorted { Int64($0) ?? 0 < Int64($1) ?? 0 }
        let unreadBefore = try alice.unread().count
        let answer = try alice.call("POST", "/v1/notifications/read", ["upTo": first[29]])
        // In addition to the thirty, there are types 5 and 32 of each of the four servers.
        #expect(answer["read"] == "38", "\(answer)")
        #expect(laptop.wait(forEvent: "read"))
        #expect(laptop.all.last { $0.name == "read" }?.object["upTo"] as? String == first[29])
        let left = try alice.unreadBodies()
        #expect(Set(left) == Set(first[30...].map { "n\(ids.firstIndex(of: $0) ?? -1)" }))
        #expect(try alice.unread().count == unreadBefore - 38)
      }
    }

    @Test func unknownAndForeignIdsAreNoErrorAndNoChange() async throws {
      try await withWorld { world in
        let owner = try Person("owner", at: world[0])
        let mine = try owner.mustSend("mine", ["serverId": try owner.createServer()])
        let stranger = try Person("stranger", at: world[0])
        for id in [mine, "1", "9223372036854775807"] {
          let answer = try stranger.call("POST", "/v1/notifications/read", Self.mark(id))
          #expect(answer.status == 200)
          #expect(answer["read"] == "0")
        }
        #expect(try world.redis.command("KEYS", "*:read:stranger").isEmpty)
        #expect(try owner.unreadBodies() == ["mine"])
      }
    }

    @Test func aPersonalNotificationLeavesTheLogWhenRead() async throws {
      try await withWorld { world in
        let app = try Person.app(at: world[0])
        let alice = try Person("alice", at: world[0])
        let id = try app.mustSend("for you", ["toAccids": ["alice"]])
        let log = try world.redis.command("KEYS", "*:log:account:alice")
        #expect(try world.redis.command("XLEN", log) == "1")
        #expect(try alice.call("POST", "/v1/notifications/read", Self.mark(id))["read"] == "1")
        #expect(try world.redis.command("XLEN", log) == "0")
        #expect(try alice.unreadBodies().isEmpty)
      }
    }
  }
}
