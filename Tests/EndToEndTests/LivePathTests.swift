import Foundation
import TestKit
import Testing

extension EndToEnd {
  /// Events of a stream while something else happens to its account, or to the broker's connection.
  @Suite struct LivePath {
    /// Joining and leaving make the account's streams read again. The operator's other device is still told
    /// of it.
    @Test func theOtherDeviceIsToldOfJoiningAndLeaving() async throws {
      let rounds = 50
      try await withWorld(brokers: 2) { world in
        let phone = try Person("ann", device: "phone", at: world[0])
        let tablet = try Person("ann", device: "tablet", at: world[1])
        let host = try Person("host", at: world[0])
        // An account may join and leave one group only a limited number of times.
        let groups = try (0..<5).map { _ in
          try #require(
            try host.call("POST", "/v1/groups", ["name": "open", "style": "publicOpen"])["groupId"])
        }
        let stream = try tablet.stream()
        try host.mustSend("begin", ["toAccids": ["ann"]])
        #expect(stream.wait(forBody: "begin"))
        for round in 0..<rounds {
          let group = groups[round % groups.count]
          let made = try phone.call("POST", "/v1/groups", ["name": "mine", "style": "publicOpen"])
          #expect(made.status == 201, "\(made)")
          #expect(try phone.call("POST", "/v1/groups/\(group)/applications", [:]).status < 300)
          #expect(try phone.call("DELETE", "/v1/groups/\(group)/members/ann").status < 300)
        }
        let echoes = { (events: [EventStream.Event]) in events.filter { $0.name == "device" } }
        #expect(stream.wait { echoes($0).count >= 3 * rounds }, "\(echoes(stream.all).count)")
        let told = echoes(stream.all).compactMap { $0.object["operation"] as? String }
        #expect(told.count == 3 * rounds)
        #expect(told.count { $0 == "create" } == rounds && told.count { $0 == "leave" } == rounds)
      }
    }

    @Test func marksUpdatesAndMomentsReachWhoJoinsElsewhere() async throws {
      let rounds = 30
      try await withWorld(brokers: 2) { world in
        let play = try Play(world)
        var ids: [String] = []
        for round in 0..<rounds {
          let (read, updated) = try play.sendTwo(round)
          let server = try play.owner.createServer()
          concurrently(4) { number in
            switch number {
            case 0: play.add(to: server)
            case 1: play.mark(read)
            case 2: play.update(updated, to: "new \(round)")
            default:
              _ = try? play.app.send(
                "ephemeral \(round)", ["toAccids": ["ann"], "setting": ["persistEnable": false]])
            }
          }
          ids += [read, updated]
        }
        try play.expectAll(ids)
        // The last one may come a moment after the other operation.
        _ = play.stream.wait { events in
          events.count { ($0.object["body"] as? String)?.hasPrefix("ephemeral ") == true } >= rounds
        }
        let ephemeral = play.stream.bodies.filter { $0.hasPrefix("ephemeral ") }
        #expect(ephemeral.count == rounds && Set(ephemeral).count == rounds, "\(ephemeral)")
      }
    }

    /// The connection of the live channels is cut while marks and updates are under way.
    @Test func marksAndUpdatesAreToldWhenTheChannelsComeBack() async throws {
      try await withWorld(brokers: 2) { world in
        let play = try Play(world)
        var ids: [String] = []
        for round in 0..<6 {
          let (read, updated) = try play.sendTwo(round)
          concurrently(3) { number in
            switch number {
            case 0: _ = try? world.redis.command("CLIENT", "KILL", "TYPE", "pubsub")
            case 1: play.mark(read)
            default: play.update(updated, to: "new \(round)")
            }
          }
          ids += [read, updated]
        }
        try play.expectAll(ids)
        #expect(Set(play.stream.bodies).count == play.stream.bodies.count)
      }
    }

    /// A device that was away is told of an update when it comes back, until its cursor is past it.
    @Test func anUpdateIsToldOnComingBack() async throws {
      try await withWorld(brokers: 2) { world in
        let play = try Play(world)
        let (_, updated) = try play.sendTwo(0)
        let before = try #require(play.stream.lastID)
        play.stream.cut()
        play.update(updated, to: "new")
        for _ in 0..<2 {
          let again = try play.ann.stream(after: before, at: world[1])
          #expect(again.wait { $0.contains { $0.name == "updated" && $0.body == "new" } })
          again.cut()
        }
        let third = try play.ann.stream(after: before, at: world[0])
        #expect(third.wait { $0.contains { $0.name == "updated" } })
        let behind = try #require(third.lastID)
        third.cut()
        let last = try play.ann.stream(after: behind, at: world[1])
        try play.app.mustSend("end", ["toAccids": ["ann"]])
        #expect(last.wait(forBody: "end"))
        #expect(!last.all.contains { $0.name == "updated" })
      }
    }

    /// A live message is unreadable, and its entry must be found in the log. Another server of the same
    /// partition sends after it.
    @Test func anUnreadableMessageIsFoundInTheLog() async throws {
      try await withWorld { world in
        let play = try Play(world)
        let (server, neighbour, prefix) = try play.neighbours()
        try play.app.add(["ann"], to: server)
        try play.app.add(["ann"], to: neighbour)
        for (place, body) in [(server, "first"), (neighbour, "second")] {
          try play.owner.mustSend(body, ["serverId": place])
          #expect(play.stream.wait(forBody: body))
        }
        let redis = world.redis
        for round in 0..<3 {
          let last = try redis.command("HGET", prefix + "partition", "last").split(separator: "-")
          let (time, low) = (try #require(Int(last[0])), try #require(Int(last[1])))
          let id = "\(time + 1)-\(low / 4_096 * 4_096)"
          try redis.command(
            "XADD", prefix + "log:server:\(server)", id, "all",
            #"{"body":"by hand \#(round)","type":100,"toType":1}"#)
          try redis.command("HSET", prefix + "partition", "last", id, "server:\(server)", id)
          try redis.command("SPUBLISH", prefix + "live:server:\(server)", "nobody can read this")
          try play.owner.mustSend("neighbour \(round)", ["serverId": neighbour])
          #expect(play.stream.wait(forBody: "neighbour \(round)"))
          #expect(play.stream.wait(forBody: "by hand \(round)"))
        }
        #expect(Set(play.stream.bodies).count == play.stream.bodies.count)
        #expect(try play.app.call("GET", "/v1/stats").text.contains(#""gapsSeen":3"#))
      }
    }
  }
}

/// Ann, who has a stream; a server of an owner that she is in; and a back end.
private struct Play: Sendable {
  let owner: Person
  let app: Person
  let ann: Person
  let stream: EventStream
  private let server: String
  private let world: World

  init(_ world: World) throws {
    self.world = world
    owner = try Person("owner", at: world[0])
    app = try Person.app(at: world[0])
    ann = try Person("ann", device: "phone", at: world[1])
    server = try owner.createServer()
    try app.add(["ann"], to: server)
    stream = try ann.stream()
    try owner.mustSend("begin", ["serverId": server])
    #expect(stream.wait(forBody: "begin"))
  }

  /// One to be read, and one to be updated.
  func sendTwo(_ round: Int) throws -> (read: String, updated: String) {
    let read = try owner.mustSend("read \(round)", ["serverId": server])
    let updated = try owner.mustSend("old \(round)", ["serverId": server])
    #expect(stream.wait(forBody: "old \(round)"))
    return (read, updated)
  }

  /// Runs next to another operation. It uses another person, because each person has one connection and one
  /// request at a time.
  func add(to server: String) {
    let app = try? Person.app(at: world[0])
    try? app?.add(["ann"], to: server)
  }

  /// Marks on another device.
  func mark(_ id: String) {
    let laptop = try? Person("ann", device: "laptop", at: world[0])
    _ = try? laptop?.call("POST", "/v1/notifications/read", ["items": [["messageServerId": id]]])
  }

  func update(_ id: String, to body: String) {
    let sender = try? Person("owner", at: world[0])
    _ = try? sender?.call("PATCH", "/v1/notifications/\(id)", ["body": body])
  }

  /// Expects that the first notification of each pair is read, and that the second is shown in its present
  /// form.
  func expectAll(_ ids: [String]) throws {
    var missing: [String] = []
    let isComplete = stream.wait { events in
      var read: Set<String> = []
      var updated: Set<String> = []
      for event in events where event.name == "read" {
        read.formUnion(event.object["messageServerIds"] as? [String] ?? [])
      }
      for event in events {
        if event.body?.hasPrefix("new ") == true, let id = event.messageServerId { updated.insert(id) }
      }
      missing = ids.enumerated().filter { !($0.isMultiple(of: 2) ? read : updated).contains($1) }.map(\.1)
      return missing.isEmpty
    }
    #expect(isComplete, "\(missing) of \(ids)")
  }

  /// Two servers of one partition, and the prefix of that partition's keys.
  func neighbours() throws -> (String, String, prefix: String) {
    var servers: [String: String] = [:]
    while servers.count < 1_000 {
      let server = try owner.createServer()
      let key = try world.redis.command("KEYS", "*:log:server:\(server)")
      let prefix = String(key.prefix(through: try #require(key.firstIndex(of: "}")))) + ":"
      if let other = servers[prefix] { return (other, server, prefix) }
      servers[prefix] = server
    }
    throw Wire.Failure(description: "no two of 1,000 servers share a partition")
  }
}
