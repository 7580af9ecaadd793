import Foundation
import TestKit
import Testing

extension EndToEnd {
  /// A notification that is recalled or has expired is not shown any more, on any broker.
  @Suite struct Recall {
    @Test func recalledIsGoneEverywhere() async throws {
      try await withWorld(brokers: 2) { world in
        let app = try Person.app(at: world[0])
        let owner = try Person("owner", at: world[0])
        let alice = try Person("alice", device: "phone", at: world[1])
        let operator_ = try Person("ops", role: "operator", at: world[1])
        let server = try owner.createServer()
        try app.add(["alice"], to: server)
        let live = try alice.stream(query: "?counts=1")
        let away = try alice.stream()
        let fields: [String: Any] = ["serverId": server, "messageClientId": "oops"]
        let id = try owner.mustSend("oops", fields)
        #expect(away.wait(forBody: "oops"))
        let cursor = try #require(away.lastID)
        away.cut()
        #expect(live.wait(forBody: "oops"))
        let unread = try #require(alice.call("GET", "/v1/notifications/counts").object["unread"] as? Int)

        #expect(try alice.call("DELETE", "/v1/notifications/\(id)")["code"] == "forbidden")
        #expect(try Person("eve", at: world[0]).call("DELETE", "/v1/notifications/\(id)").status == 404)
        #expect(try owner.call("DELETE", "/v1/notifications/\(id)").status == 204)
        #expect(try owner.call("DELETE", "/v1/notifications/\(id)").status == 204)

        func isTold(_ stream: EventStream) -> Bool {
          stream.wait { $0.contains { $0.name == "retracted" && $0.messageServerId == id } }
        }
        #expect(isTold(live))
        #expect(live.all.first { $0.name == "retracted" }?.id != nil)
        let back = try alice.stream(after: cursor)
        #expect(isTold(back))
        #expect(!back.bodies.contains("oops"))
        #expect(try !alice.unreadBodies().contains("oops"))
        #expect(try alice.call("GET", "/v1/notifications/counts").object["unread"] as? Int == unread - 1)
        #expect(
          live.wait { $0.last { $0.name == "counts" }?.object["unread"] as? Int == unread - 1 })
        let fresh = try alice.stream()
        try owner.mustSend("next", ["serverId": server])
        #expect(fresh.wait(forBody: "next"))
        #expect(!fresh.all.contains { $0.messageServerId == id })

        // Nothing brings it back, and its sender gets the same answer as the first time.
        #expect(try owner.call("PATCH", "/v1/notifications/\(id)", ["body": "again"]).status == 404)
        let again = try owner.send("oops", fields)
        #expect(again["messageServerId"] == id && again.isDuplicate)
        #expect(try !alice.unreadBodies().contains("again"))
        let why = try operator_.call("GET", "/v1/notifications/\(id)/explain?account=alice").object
        #expect(why["reason"] as? String == "recalled")
        let facts = try #require(why["facts"] as? [String: Any])
        #expect(facts["recalledBy"] as? String == "owner")
        // A broker's view of Redis's clock is late by the time of an answer, so the reported time may be even
        // earlier.
        let (sentAt, recalledAt) = (facts["sentAt"] as? Int64 ?? .max, facts["recalledAt"] as? Int64 ?? 0)
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        #expect((sentAt - 60_000...now + 60_000).contains(recalledAt), "\(facts)")
      }
    }

    /// A device of an account that has left a room, or was removed, may still show the room's notifications.
    @Test(arguments: [false, true]) func whoIsOutOfARoomIsToldThere(isPutOut: Bool) async throws {
      try await withWorld(brokers: 2) { world in
        let host = try Person("host", at: world[0])
        let bob = try Person("bob", at: world[1])
        let made = try host.call("POST", "/v1/rooms", ["subject": "Bells"])
        let room = try #require(made["roomId"])
        let attendees = "/v1/rooms/\(room)/attendees"
        #expect(try bob.call("POST", attendees).status < 300)
        let live = try bob.stream(query: "?counts=1")
        let recalled = try host.mustSend("recalled", ["roomId": room])
        let updated = try host.mustSend("to be updated", ["roomId": room])
        #expect(live.wait(forBody: "to be updated"))
        #expect(try (isPutOut ? host : bob).call("DELETE", attendees + "/bob").status < 300)
        // The stream knows that he is out.
        try await eventually("he is still in the room", within: Broker.patience, every: .milliseconds(50)) {
          try host.mustSend("too late", ["roomId": room])
          try Person.app(at: world[0]).mustSend("to bob", ["toAccids": ["bob"]])
          let told = live.all
          return told.count { $0.body == "to bob" } > 3 && told.last?.body != "too late"
        }

        #expect(try host.call("DELETE", "/v1/notifications/\(recalled)").status == 204)
        #expect(try host.call("PATCH", "/v1/notifications/\(updated)", ["body": "updated"]).status < 300)
        #expect(live.wait { $0.contains { $0.name == "retracted" && $0.messageServerId == recalled } })
        #expect(live.wait { $0.contains { $0.name == "updated" && $0.messageServerId == updated } })
        let unread = try #require(bob.call("GET", "/v1/notifications/counts").object["unread"] as? Int)
        #expect(live.wait { $0.last { $0.name == "counts" }?.object["unread"] as? Int == unread })
        #expect(!live.bodies.contains("too late"))
      }
    }

    /// A client that was away is not told of earlier changes either.
    @Test func whatWasUpdatedBeforeIsGoneToo() async throws {
      try await withWorld { world in
        let app = try Person.app(at: world[0])
        let alice = try Person("alice", at: world[0])
        let stream = try alice.stream()
        let id = try app.mustSend("first", ["toAccids": ["alice"]])
        #expect(stream.wait(forBody: "first"))
        let cursor = try #require(stream.lastID)
        stream.cut()
        try app.call("PATCH", "/v1/notifications/\(id)", ["body": "second"])
        #expect(try app.call("DELETE", "/v1/notifications/\(id)").status == 204)
        try app.mustSend("last", ["toAccids": ["alice"]])
        let back = try alice.stream(after: cursor)
        #expect(back.wait(forBody: "last"))
        #expect(back.all.contains { $0.name == "retracted" && $0.messageServerId == id })
        #expect(!back.all.contains { $0.body == "second" })
        let records = try Person("ops", role: "operator", at: world[0]).call("GET", "/v1/audit?limit=100")
          .text
        #expect(records.contains(#""operation":"notification recall""#) && records.contains(id), "\(records)")
      }
    }

    @Test func expiredIsGone() async throws {
      try await withWorld(brokers: 2) { world in
        let app = try Person.app(at: world[0])
        let alice = try Person("alice", at: world[1])
        let stream = try alice.stream(query: "?counts=1")
        func now() -> Int { Int(Date().timeIntervalSince1970 * 1_000) }
        // A broker's view of Redis's clock may be as old as the time of an answer.
        for wrong in [now() - 1_000, -5] {
          let answer = try app.send("late", ["toAccids": ["alice"], "expireAt": wrong])
          #expect(answer.status == 400 && answer["field"] == "expireAt")
        }
        let unkept: [String: Any] = [
          "toAccids": ["alice"], "expireAt": now() + 60_000, "setting": ["persistEnable": false],
        ]
        #expect(try app.send("late", unkept)["field"] == "expireAt")
        try app.mustSend("stays", ["toAccids": ["alice"], "expireAt": now() + 3_600_000])
        #expect(stream.wait(forBody: "stays"))
        func isCounted(_ unread: Int) -> Bool {
          stream.wait { $0.last { $0.name == "counts" }?.object["unread"] as? Int == unread }
        }
        // On a machine that is held up it may expire before all have looked. Then the test tries once more,
        // with more time.
        var (time, id, code, seconds) = (0, "", [String: Any](), 2)
        repeat {
          #expect(isCounted(1))
          time = now() + seconds * 1_000
          code = ["toAccids": ["alice"], "expireAt": time, "messageClientId": "code \(seconds)"]
          id = try app.mustSend("1234", code)
          let (unread, isShown) = (try alice.unreadBodies(), isCounted(2))
          seconds *= 4
          if now() >= time, seconds < 600 { continue }
          #expect(unread == ["stays", "1234"] && isShown)
          #expect(stream.notifications.last { $0.body == "1234" }?.object["expireAt"] as? Int == time)
          break
        } while true
        // Only time passes here.
        #expect(isCounted(1))
        #expect(now() >= time)
        #expect(try alice.unreadBodies() == ["stays"])
        let fresh = try alice.stream()
        #expect(fresh.wait(forBody: "stays"))
        #expect(fresh.bodies == ["stays"])
        let again = try app.send("1234", code)
        #expect(again.isDuplicate && again["messageServerId"] == id)
        let why = try Person("ops", role: "operator", at: world[0])
          .call("GET", "/v1/notifications/\(id)/explain?account=alice").object
        #expect(why["reason"] as? String == "expired")
        #expect((why["facts"] as? [String: Any])?["expireAt"] as? Int == time)
      }
    }
  }
}
