import Foundation
import TestKit
import Testing

extension EndToEnd {
  /// An account's preferences decide what it sees, on all devices and brokers, from one moment to the next.
  @Suite struct Preferences {
    private static let path = "/v1/account/preferences"

    private static func all(_ preferences: [[String: Any]]) -> [String: Any] { ["preferences": preferences] }

    @Test func whatIsMutedIsGoneAndComesBack() async throws {
      try await withWorld(brokers: 2) { world in
        let app = try Person.app(at: world[0])
        let owner = try Person("owner", at: world[0])
        let alice = try Person("alice", at: world[1])
        let (loud, quiet) = (try owner.createServer(), try owner.createServer())
        for server in [loud, quiet] { try app.add(["alice"], to: server) }
        try alice.call("POST", "/v1/notifications/read", ["upTo": "9223372036854775807"])
        let live = try alice.stream(at: world[0], query: "?counts=1")
        let away = try alice.stream()
        try owner.mustSend("noise", ["serverId": loud])
        try owner.mustSend("for alice", ["serverId": loud, "toAccids": ["alice"]])
        try owner.mustSend("word", ["serverId": quiet])
        for stream in [live, away] { #expect(stream.wait { Set($0.compactMap(\.body)).count == 3 }) }
        let cursor = try #require(away.lastID)
        away.cut()

        /// The content of a device that takes all events in order.
        func shown(_ events: [EventStream.Event]) -> [String] {
          var bodies: [String] = []
          for event in events {
            if event.name == "preferences" { bodies = [] }
            if event.name == "notification", let body = event.body { bodies.append(body) }
          }
          return bodies.sorted()
        }
        func expect(_ bodies: [String], _ when: Comment) throws {
          #expect(try alice.unreadBodies().sorted() == bodies, when)
          #expect(
            try alice.call("GET", "/v1/notifications/counts").object["unread"] as? Int == bodies.count, when)
          #expect(live.wait { shown($0) == bodies }, when)
          #expect(
            live.wait {
              $0.last { $0.name == "counts" }?.object["unread"] as? Int == bodies.count
            },
            when)
          let back = try alice.stream(after: cursor)
          #expect(
            back.wait { $0.contains { $0.name == "preferences" } && shown($0) == bodies }, when)
          let fresh = try alice.stream()
          #expect(fresh.wait { shown($0) == bodies }, when)
          #expect(!fresh.all.contains { $0.name == "preferences" }, when)
        }

        let parties: [String: Any] = ["space": "server:\(loud)", "level": "parties"]
        #expect(try alice.call("PUT", Self.path, Self.all([parties])).status == 200)
        try expect(["for alice", "word"], "only what concerns her")
        try owner.mustSend("more noise", ["serverId": loud])
        try owner.mustSend("another word", ["serverId": quiet])
        try expect(["another word", "for alice", "word"], "sent meanwhile")
        func none(seconds: Int) -> [String: Any] {
          ["level": "none", "until": Int(Date().timeIntervalSince1970 * 1_000) + seconds * 1_000]
        }
        let long = none(seconds: 3_600)
        #expect(try alice.call("PUT", Self.path, Self.all([parties, long])).status == 200)
        #expect(
          try alice.call("GET", Self.path).object["preferences"] as? NSArray == [parties, long] as NSArray)
        try expect(["for alice"], "nothing but what the space's own preference has")
        // The request is refused if a machine is held up for too long before it is sent.
        let isShortened = try [2, 20, 200].contains { seconds in
          try alice.call("PUT", Self.path, Self.all([parties, none(seconds: seconds)])).status == 200
        }
        #expect(isShortened)
        // Only time passes here.
        #expect(live.wait { shown($0) == ["another word", "for alice", "word"] })
        try expect(["another word", "for alice", "word"], "until it ended")
        try alice.call("PUT", Self.path, Self.all([]))
        try expect(["another word", "for alice", "more noise", "noise", "word"], "lifted")
      }
    }

    @Test func whatIsCriticalIsHeard() async throws {
      try await withWorld { world in
        let app = try Person.app(at: world[0])
        let owner = try Person("owner", at: world[0])
        let alice = try Person("alice", at: world[0])
        let server = try owner.createServer()
        try app.add(["alice", "bob"], to: server)
        #expect(try alice.call("PUT", Self.path, Self.all([["level": "none"]])).status == 200)
        let stream = try alice.stream()
        let id = try owner.mustSend("noise", ["serverId": server])
        try owner.call("DELETE", "/v1/servers/\(server)/members/bob")
        try owner.call("DELETE", "/v1/servers/\(server)/members/alice")
        #expect(stream.wait { $0.contains { $0.type == 12 } })
        #expect(stream.types == [12])
        let why = try app.call("GET", "/v1/notifications/\(id)/explain?account=alice").object
        #expect(why["reason"] as? String == "notWanted")
      }
    }

    @Test func whatMakesNoSenseIsRefused() async throws {
      try await withWorld { world in
        let alice = try Person("alice", at: world[0])
        let wrong: [(preferences: [[String: Any]], field: String)] = [
          ([["types": [6], "level": "none"]], "preferences[0].types[0]"),
          ([["types": [100, 99_999], "level": "none"]], "preferences[0].types[1]"),
          ([["level": "none"], ["level": "all"]], "preferences[1]"),
          ([["types": [7], "level": "none"], ["types": [14, 7], "level": "all"]], "preferences[1]"),
          ([["space": "account:bob", "level": "none"]], "preferences[0].space"),
          ([["space": "direct:7", "level": "none"]], "preferences[0].space"),
          ([["level": "none", "until": 1_000]], "preferences[0].until"),
          ([["level": "some"]], "preferences[0].level"),
          ((0..<101).map { ["space": "server:\($0 + 1)", "level": "none"] }, "preferences"),
        ]
        for (preferences, field) in wrong {
          let answer = try alice.call("PUT", Self.path, Self.all(preferences))
          #expect(answer.status == 400 && answer["field"] == field, "\(answer)")
        }
        #expect(try alice.call("GET", Self.path).object["preferences"] as? NSArray == [])
      }
    }
  }
}
