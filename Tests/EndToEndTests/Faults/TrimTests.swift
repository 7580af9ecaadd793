import Foundation
import TestKit
import Testing

extension EndToEnd {
  /// Logs are limited to their length, and a client that comes too late for an entry is told so.
  @Suite struct Trims {
    @Test func whoComesTooLateIsToldAndWhoWasThereIsNot() async throws {
      let settings = ["BELFRY_LIMITS_ENTRIES_PER_SPACE": "100"]
      try await withWorld(brokers: 2, settings: settings) { world in
        let owner = try Person("owner", at: world[0])
        let alice = try Person("alice", at: world[0])
        let server = try owner.createServer()
        try Person.app(at: world[0]).add(["alice", "bob"], to: server)
        let live = try alice.stream(at: world[1])
        let early = try owner.mustSend("early", ["serverId": server])
        #expect(live.wait(forBody: "early"))
        let cursor = try #require(live.lastID)
        let slow = try alice.stream(after: cursor, at: world[1], reads: false)
        let large = String(repeating: "x", count: 2_000)
        var ids: [String] = []
        for number in 0..<1_000 {
          ids.append(try owner.mustSend("\(number)", ["serverId": server, "ext": large]))
          // A client that falls behind by more than the log keeps would be told a gap too.
          if number % 50 == 49 { try #require(live.wait(forBody: "\(number)")) }
        }
        let atEnd = try #require(live.lastID)

        slow.startReading()
        let new = try alice.stream(at: world[0])
        let resumed = try alice.stream(after: cursor, at: world[0])
        for (stream, name) in [(slow, "slow"), (new, "new"), (resumed, "resumed")] {
          #expect(stream.wait(forBody: "999"), "\(name)")
          #expect(stream.bodies.count == Set(stream.bodies).count, "\(name)")
          let gaps = stream.all.filter { $0.name == "gap" }
          // Everything that is missing lies in a reported gap.
          let missing = Set(ids).subtracting(stream.notifications.compactMap(\.messageServerId))
          // The kernel decides how much a socket holds for the slow one.
          #expect(name == "slow" || !missing.isEmpty, "\(name)")
          let untold = missing.filter { id in !gaps.contains { Self.gap($0.object, holds: id) } }
          #expect(untold.isEmpty, "\(name)")
        }
        #expect(live.bodies.count == 1_001)
        #expect(!live.all.contains { $0.name == "gap" })
        let back = try alice.stream(after: atEnd)
        try owner.mustSend("end", ["serverId": server])
        #expect(back.wait(forBody: "end"))
        #expect(!back.all.contains { $0.name == "gap" })

        for after in ["", "&after=\(cursor)"] {
          let page = try alice.call("GET", "/v1/notifications?limit=100" + after)
          let gap = try #require(page.object["gap"] as? [String: Any])
          #expect(Self.gap(gap, holds: ids[0]) && (after.isEmpty || !Self.gap(gap, holds: early)))
          let shown = page.notifications.compactMap { $0["messageServerId"] as? String }
          #expect(!shown.contains { Self.gap(gap, holds: $0) })
        }
        #expect(try alice.call("GET", "/v1/notifications?after=\(atEnd)").object["gap"] == nil)
        // The trimmed entries were not for her.
        try Person.app(at: world[0]).add(["carol"], to: server)
        let carol = try Person("carol", at: world[0])
        #expect(try carol.call("GET", "/v1/notifications").object["gap"] == nil)
      }
    }

    private static func gap(_ object: [String: Any], holds id: String) -> Bool {
      guard let from = (object["from"] as? String).flatMap({ Int64($0) }),
        let to = (object["to"] as? String).flatMap({ Int64($0) }), let id = Int64(id)
      else { return false }
      return from < id && id <= to
    }
  }
}
