import Foundation
import TestKit
import Testing

extension EndToEnd {
  @Suite struct Rooms {
    private func open(_ host: Person) throws -> String {
      let answer = try host.call("POST", "/v1/rooms", ["subject": "Bells"])
      try #require(answer.status == 201, "\(answer)")
      return "/v1/rooms/\(try #require(answer["roomId"]))"
    }

    private func unreadTypes(_ person: Person) throws -> [Int] {
      try person.unread().compactMap { $0["type"] as? Int }
    }

    private func unreadCount(_ person: Person) throws -> Int? {
      try person.call("GET", "/v1/notifications/counts").object["unread"] as? Int
    }

    @Test func comingsAndGoingsAreUnreadOnlyInside() async throws {
      // A broker that has just started gives attendees two heartbeats before it empties rooms.
      try await withWorld(settings: ["BELFRY_LIMITS_HEARTBEAT_MILLISECONDS": "100"]) { world in
        let host = try Person("hal", at: world[0])
        let guest = try Person("gus", at: world[0])
        let room = try open(host)
        try guest.call("POST", room + "/attendees")
        for name in ["v1", "v2", "v3"] {
          let visitor = try Person(name, at: world[0])
          try visitor.call("POST", room + "/attendees")
          try visitor.call("PUT", room + "/hands/\(name)")
          try visitor.call("DELETE", room + "/attendees/\(name)")
        }
        try host.mustSend("welcome", ["roomId": String(room.dropFirst("/v1/rooms/".count))])
        // The guest's own entry, and three times each: an entry, a raised hand, a departure.
        #expect(try unreadTypes(guest) == [401] + [401, 403, 402, 401, 403, 402, 401, 403, 402] + [100])
        #expect(try unreadCount(guest) == 11)

        try guest.call("DELETE", room + "/attendees/gus")
        try await eventually(every: .milliseconds(20)) { try unreadTypes(guest) == [100, 402] }
        #expect(try unreadCount(guest) == 2)
        let later = try guest.stream()
        #expect(later.wait { events in events.filter { $0.name == "notification" }.count == 2 })
        // Entering again does not bring back the earlier stay.
        try guest.call("POST", room + "/attendees")
        try await eventually(every: .milliseconds(20)) { try unreadTypes(guest) == [100, 402, 401] }

        try host.call("DELETE", room)
        try await eventually(every: .milliseconds(20)) { try unreadTypes(guest) == [100, 402, 408] }
        #expect(try unreadTypes(host) == [100, 408])
      }
    }

    @Test func theHostMutesAGuestWhoHasJustComeOnStage() async throws {
      try await withWorld { world in
        let host = try Person("hal", at: world[0])
        let guest = try Person("gus", at: world[0])
        let room = try open(host)
        try guest.call("POST", room + "/attendees")
        let stream = try guest.stream()
        let token = try #require(try host.call("POST", room + "/stage", ["accid": "gus"])["token"])
        try guest.call("POST", room + "/stage/\(token)/accept")
        try #require(stream.wait { $0.contains { $0.type == 406 } })
        #expect(try host.call("PUT", room + "/microphones/gus", ["on": false]).status == 204)
        try #require(stream.wait { $0.contains { $0.type == 407 } })
        let attach = try #require(stream.all.last { $0.type == 407 }?.object["attach"] as? [String: Any])
        #expect(attach["on"] as? Bool == false)
        #expect(attach["operator"] as? String == "hal")
      }
    }

    /// Rounds of the timer are further apart than the heartbeats. That does not count as an interruption.
    @Test func anAbsentHostIsNoticedWhateverTheHeartbeat() async throws {
      let settings = [
        "BELFRY_LIMITS_HEARTBEAT_MILLISECONDS": "100", "BELFRY_LIMITS_ABSENCE_MILLISECONDS": "300",
      ]
      try await withWorld(settings: settings) { world in
        let host = try Person("hal", at: world[0])
        let room = try open(host)
        try await eventually("the room stays open", every: .milliseconds(50)) {
          try host.call("GET", room).status == 404
        }
      }
    }
  }
}
