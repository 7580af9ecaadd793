import BelfryModel
import TestKit
import Testing

@testable import BelfryServer

/// A room shows its attendees, and its host lowers their hands.
@Suite struct RoomGuestTests {
  private func attendees(_ broker: TestBroker, _ path: String, as token: String) throws -> [String: JSONValue]
  {
    let list = try broker.ask("GET", path + "/attendees", as: token).json["attendees"]?.elements ?? []
    return Dictionary(list.map { ($0["accid"]?.text ?? "", $0) }) { first, _ in first }
  }

  @Test func aRoomShowsWhatAttendeesSayOfThemselves() async throws {
    try await withBroker { broker in
      let (hal, lea, lou) = (try broker.token("hal"), try broker.token("lea"), try broker.token("lou"))
      let made = try broker.ask("POST", "/v1/rooms", as: hal, #"{"subject":"Bells","nick":"Hal"}"#)
      let path = "/v1/rooms/" + (try #require(made.json["roomId"]?.text))
      let lea401 = #"{"nick":"Lea","avatar":"https://a.example/lea.png","ext":"{\"level\":7}"}"#
      #expect(try broker.ask("POST", path + "/attendees", as: lea, lea401).status == 200)
      #expect(try broker.ask("POST", path + "/attendees", as: lou).status == 200)

      var seen = try attendees(broker, path, as: lou)
      #expect(seen["hal"]?["nick"] == "Hal" && seen["hal"]?["avatar"] == nil)
      #expect(seen["lea"]?["nick"] == "Lea" && seen["lea"]?["ext"] == #"{"level":7}"#)
      #expect(seen["lea"]?["avatar"] == "https://a.example/lea.png")
      #expect(seen["lou"]?["nick"] == nil)
      let told = try broker.ask("GET", "/v1/notifications", as: hal).json["notifications"]?.elements ?? []
      let entered = told.filter { $0["type"] == 401 }.compactMap { $0["attach"] }
      #expect(
        entered == [
          ["accid": "lea", "nick": "Lea", "avatar": "https://a.example/lea.png", "ext": #"{"level":7}"#],
          ["accid": "lou", "nick": "", "avatar": "", "ext": ""],
        ])

      // Entering again counts as a heartbeat, and replaces the nick if a new one is given.
      #expect(try broker.ask("POST", path + "/attendees", as: lea).status == 200)
      #expect(try attendees(broker, path, as: lou)["lea"]?["nick"] == "Lea")
      #expect(try broker.ask("POST", path + "/attendees", as: lou, #"{"nick":"Lou"}"#).status == 200)
      #expect(try attendees(broker, path, as: lea)["lou"]?["nick"] == "Lou")
      // A room does not know an attendee who has left.
      #expect(try broker.ask("DELETE", path + "/attendees/lea", as: lea).status == 204)
      #expect(try broker.ask("POST", path + "/attendees", as: lea).status == 200)
      seen = try attendees(broker, path, as: lou)
      #expect(seen["lea"] != nil && seen["lea"]?["nick"] == nil)
      let long = String(repeating: "n", count: 65)
      let refused = try broker.ask("POST", path + "/attendees", as: lea, #"{"nick":"\#(long)"}"#)
      #expect(refused.status == 400 && refused.field == "nick")
    }
  }

  /// The record of one room cannot be read. Its attendee stays present in the other one all the same.
  @Test func aHeartbeatReachesTheOtherRoomsOfTheAccount() async throws {
    try await withBroker { broker in
      let hal = try broker.token("hal")
      let rooms = try ["Bells", "Ropes"].map { subject in
        let made = try broker.ask("POST", "/v1/rooms", as: hal, #"{"subject":"\#(subject)"}"#)
        return try #require(made.json["roomId"]?.text)
      }
      let presences = try rooms.map { try broker.redis.command("KEYS", "belfry:*:presence:room:\($0)") }
      // Both orders, since one room is tried before the other.
      for (broken, other) in [(0, 1), (1, 0)] {
        let settings = try broker.redis.command("KEYS", "belfry:*:settings:room:\(rooms[broken])")
        let record = try broker.redis.command("HGET", settings, "settings")
        try broker.redis.command("HSET", settings, "settings", "unreadable")
        try broker.redis.command("HSET", presences[other], "hal", "1")
        #expect(try broker.ask("PUT", "/v1/rooms/presence", as: hal).status >= 500)
        #expect(try broker.redis.command("HGET", presences[other], "hal") != "1")
        try broker.redis.command("HSET", settings, "settings", record)
      }
      #expect(try broker.ask("PUT", "/v1/rooms/presence", as: hal).status == 200)
    }
  }

  @Test func theHostChangesWhatTheRoomIsAbout() async throws {
    try await withBroker { broker in
      let (hal, lea) = (try broker.token("hal"), try broker.token("lea"))
      let made = try broker.ask("POST", "/v1/rooms", as: hal, #"{"subject":"Bells"}"#)
      let path = "/v1/rooms/" + (try #require(made.json["roomId"]?.text))
      _ = try broker.ask("POST", path + "/attendees", as: lea)
      #expect(try broker.ask("PATCH", path, as: lea, #"{"subject":"Mine"}"#).status == 403)
      let changed = try broker.ask("PATCH", path, as: hal, #"{"subject":"Ropes","ext":"{}"}"#)
      #expect(
        changed.status == 200 && changed.json["subject"] == "Ropes" && changed.json["attendeeCount"] == 2)
      let told = try broker.ask("GET", "/v1/notifications", as: lea).json["notifications"]?.elements ?? []
      let info = told.first { $0["type"] == 409 }?["attach"]?["roomInfo"]
      #expect(info?["subject"] == "Ropes" && info?["ext"] == "{}")
      try await eventually {
        let listed = try broker.ask("GET", "/v1/rooms", as: lea).json["rooms"]?[0]
        return listed?["attendeeCount"] == 2 && listed?["subject"] == "Ropes"
      }
    }
  }

  @Test func theHostLowersHands() async throws {
    try await withBroker { broker in
      let (hal, lea, lou) = (try broker.token("hal"), try broker.token("lea"), try broker.token("lou"))
      let made = try broker.ask("POST", "/v1/rooms", as: hal, #"{"subject":"Bells"}"#)
      let path = "/v1/rooms/" + (try #require(made.json["roomId"]?.text))
      for token in [lea, lou] { _ = try broker.ask("POST", path + "/attendees", as: token) }
      #expect(try broker.ask("PUT", path + "/hands/lea", as: lea).status == 204)
      #expect(try broker.ask("PUT", path + "/hands/lea", as: hal).status == 403)
      #expect(try broker.ask("DELETE", path + "/hands/lea", as: lou).status == 403)
      #expect(try broker.ask("GET", path + "/hands", as: hal).json["hands"]?.elements.count == 1)
      for _ in 0..<2 { #expect(try broker.ask("DELETE", path + "/hands/lea", as: hal).status == 204) }
      #expect(try broker.ask("GET", path + "/hands", as: hal).json["hands"] == [])
      let told = try broker.ask("GET", "/v1/notifications", as: lou).json["notifications"]?.elements ?? []
      let hands = told.filter { $0["type"] == 403 }
      #expect(hands.map { $0["attach"]?["raised"] } == [true, false])
      #expect(hands.last?["fromAccount"] == "hal" && hands.last?["attach"]?["accid"] == "lea")
      #expect(try broker.ask("DELETE", path + "/hands/nobody", as: hal).status == 404)
    }
  }
}
