import Foundation
import TestKit
import Testing

extension EndToEnd {
  /// Redis comes back without its last acknowledged writes, and brokers and readers continue with newer
  /// cursors.
  @Suite struct LostTail {
    @Test func whoStandsAtWhatWasLostIsToldAndMissesNothingNew() async throws {
      try await play { scene in
        let kept = try scene.send("kept", 3)
        let stream = try scene.reader.stream(at: scene.world[1])
        #expect(stream.wait(forBody: "kept 2"))
        let end = try scene.world.redis.appendOnlyBytes()
        let lost = try scene.send("lost", 3)
        #expect(stream.wait(forBody: "lost 2"))
        let atLost = try #require(stream.lastID)
        let page = try scene.reader.call("GET", "/v1/notifications?limit=100")
        let pageCursor = try #require(page["cursor"])
        let mark = try scene.reader.call("POST", "/v1/notifications/read", ["upTo": lost[2]])
        #expect(mark["read"] == "6")

        try await scene.restart(losingAfter: end)
        #expect(stream.wait(forEvent: "gap"))
        // This holds even before a new id is given.
        #expect(try GapRange(scene.page(after: pageCursor)).contains(lost))
        let new = try scene.send("new", 3)
        #expect(new.allSatisfy { $0 > lost[2] }, "ids are beyond all that were given before")
        #expect(stream.wait(forBody: "new 2"))
        let gaps = stream.all.filter { $0.name == "gap" }
        #expect(gaps.count == 1)
        let gap = try #require(gaps.first.flatMap { GapRange($0.object) })
        #expect(gap.contains(lost) && gap.from >= (Int64(kept[2]) ?? .max))
        #expect(stream.bodies == Scene.bodies("kept", 3) + Scene.bodies("lost", 3) + Scene.bodies("new", 3))

        let back = try scene.reader.stream(after: atLost, at: scene.world[0])
        #expect(back.wait(forBody: "new 2"))
        let gapOfBack = back.all.first { $0.name == "gap" }.flatMap { GapRange($0.object) }
        #expect(try #require(gapOfBack).contains(lost))
        #expect(back.bodies.suffix(3) == Scene.bodies("new", 3)[...])
        #expect(Set(back.bodies).count == back.bodies.count)
        let next = try scene.page(after: pageCursor)
        #expect(next.notifications.compactMap { $0["body"] as? String } == Scene.bodies("new", 3))
        #expect(try GapRange(next).contains(lost))
        // The mark is lost with the rest, and hides nothing new.
        #expect(try scene.reader.unreadBodies() == Scene.bodies("kept", 3) + Scene.bodies("new", 3))
        let after = try scene.page(after: next["cursor"])
        #expect(after.object["gap"] == nil && after.notifications.isEmpty)
      }
    }

    /// Redis loses its tail more often than the broker can tell apart.
    @Test func howOftenSoeverItHappensNothingNewIsMissed() async throws {
      try await play { scene in
        _ = try scene.send("first", 1)
        let stream = try scene.reader.stream(at: scene.world[1])
        #expect(stream.wait(forBody: "first 0"))
        var atLost: [String] = []
        for round in 0..<20 {
          let end = try scene.world.redis.appendOnlyBytes()
          _ = try scene.send("lost \(round)", 2)
          #expect(stream.wait(forBody: "lost \(round) 1"))
          atLost.append(try #require(stream.lastID))
          try await scene.restart(losingAfter: end)
          _ = try scene.send("new \(round)", 1)
          #expect(stream.wait(forBody: "new \(round) 0"))
        }
        let new = (0..<20).map { "new \($0) 0" }
        let shown = stream.bodies.filter { $0.hasPrefix("new") }
        #expect(shown == new)
        #expect(stream.all.filter { $0.name == "gap" }.count == 20)
        for round in [0, 1, 10, 19] {
          let back = try scene.reader.stream(after: atLost[round])
          #expect(back.wait(forBody: "new 19 0"))
          #expect(back.all.contains { $0.name == "gap" })
          #expect(Set(new[round...]).isSubset(of: back.bodies), "lost in round \(round)")
        }
      }
    }

    @Test func whoLostNothingIsToldOfNoGap() async throws {
      try await play { scene in
        _ = try scene.send("before", 3)
        let stream = try scene.reader.stream(at: scene.world[1])
        #expect(stream.wait(forBody: "before 2"))
        let cursor = try #require(stream.lastID)
        let page = try #require(try scene.page(after: nil)["cursor"])
        for round in 0..<2 {
          try await scene.restart(losingAfter: try scene.world.redis.appendOnlyBytes())
          _ = try scene.send("after \(round)", 1)
          #expect(stream.wait(forBody: "after \(round) 0"))
        }
        let back = try scene.reader.stream(after: cursor)
        #expect(back.wait(forBody: "after 1 0"))
        for one in [stream, back] {
          #expect(!one.all.contains { $0.name == "gap" })
          #expect(one.bodies.suffix(2) == ["after 0 0", "after 1 0"])
          #expect(Set(one.bodies).count == one.bodies.count)
        }
        #expect(try scene.page(after: page).object["gap"] == nil)
      }
    }

    private func play(_ body: (Scene) async throws -> Void) async throws {
      var durable = RedisServer.Options()
      durable.appendOnly = .always
      try await withWorld(brokers: 2, redis: durable) { world in
        try await body(try Scene(world))
      }
    }
  }
}

/// A range that a gap names.
private struct GapRange {
  let from: Int64
  let to: Int64

  init?(_ object: [String: Any]) {
    guard let from = (object["from"] as? String).flatMap({ Int64($0) }),
      let to = (object["to"] as? String).flatMap({ Int64($0) })
    else { return nil }
    (self.from, self.to) = (from, to)
  }

  init(_ page: Answer) throws {
    let object = try #require(page.object["gap"] as? [String: Any], "\(page)")
    self = try #require(GapRange(object))
  }

  /// True if the range begins at the last entry that is left, and holds all of these.
  func contains(_ ids: [String]) -> Bool {
    ids.allSatisfy { id in Int64(id).map { from < $0 && $0 <= to } ?? false }
  }
}

private struct Scene {
  let world: World
  let owner: Person
  let reader: Person
  let server: String

  init(_ world: World) throws {
    self.world = world
    owner = try Person("owner", at: world[0])
    reader = try Person("alice", at: world[0])
    server = try owner.createServer()
    try Person.app(at: world[0]).add(["alice"], to: server)
    // She first reads the announcements of joining.
    let ids = try reader.unread().compactMap { $0["messageServerId"] as? String }
    if let last = ids.last { _ = try reader.call("POST", "/v1/notifications/read", ["upTo": last]) }
  }

  static func bodies(_ word: String, _ count: Int) -> [String] { (0..<count).map { "\(word) \($0)" } }

  func send(_ word: String, _ count: Int) throws -> [String] {
    try Self.bodies(word, count).map { try owner.mustSend($0, ["serverId": server]) }
  }

  func page(after cursor: String?) throws -> Answer {
    try reader.call("GET", "/v1/notifications?limit=100" + (cursor.map { "&after=\($0)" } ?? ""))
  }

  func restart(losingAfter bytes: UInt64) async throws {
    try await world.redis.restart(losingAfter: bytes)
    try await eventually {
      try world.brokers.allSatisfy { try Wire(port: $0.port).request("GET", "/readyz").status == 200 }
    }
  }
}
