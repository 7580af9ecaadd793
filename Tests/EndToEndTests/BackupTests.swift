import Foundation
import TestKit
import Testing

extension EndToEnd {
  /// Backups made with `belfry backup` while brokers work, and what accounts see of them elsewhere.
  @Suite struct Backups {
    @Test func theEmbeddedRedisIsBackedUpWhileSendsGoOnAndRestoredIntoANewFolder() async throws {
      let broker = try await Broker.started(redisURL: nil)
      let scene = try Scene(at: broker)
      let file = broker.folder + "/belfry.backup"
      let sent = try await scene.whileSending {
        _ = try await belfry(["backup", "--data", broker.folder + "/data", file], in: broker)
      }
      await broker.stop()
      // A second backup, of a folder without a running broker. It has everything that was sent.
      _ = try await belfry(["backup", "--data", broker.folder + "/data", file + "2"], in: broker)

      for (file, hasAll) in [(file, false), (file + "2", true)] {
        let other = try Broker(redisURL: nil)
        let text = try await belfry(["restore", "--data", other.folder + "/data", file], in: other)
        #expect(text.contains("\n  servers   1\n  groups    1\n  rooms     1\n"), "\(text)")
        try await other.start()
        try scene.check(at: other, sent, hasAll: hasAll)
        await other.stop()
        await other.remove()
      }
      await broker.remove()
    }

    @Test func aRedisByURLIsBackedUpWhileSendsGoOnAndRestoredIntoAnother() async throws {
      try await withWorld(brokers: 2, redis: .onTCP) { world in
        let scene = try Scene(at: world[0])
        let file = world[0].folder + "/belfry.backup"
        let url = try #require(world.redis.tcpURL)
        let sent = try await scene.whileSending {
          _ = try await belfry(["backup", "--redis", url, file], in: world[0])
        }
        try await withRedisServer { redis in
          _ = try await belfry(["restore", "--redis", redis.url, file], in: world[0])
          let other = try await Broker.started(redisURL: redis.url)
          try scene.check(at: other, sent, hasAll: false)
          await other.remove()
        }
      }
    }

    /// The backup connects as a replica would, and Redis then gives its data another replication id.
    @Test func aBackupIsNoLossToReaders() async throws {
      try await withWorld(redis: .onTCP) { world in
        let (alice, bob, app) = try (
          Person("alice", at: world[0]), Person("bob", at: world[0]), Person.app(at: world[0])
        )
        let servers = try (0..<2).map { _ in try alice.createServer() }
        try app.add(["bob"], to: servers[0])
        let stream = try bob.stream()
        try alice.mustSend("before", ["serverId": servers[0]])
        #expect(stream.wait(forBody: "before"))
        let cursor = try #require(bob.call("GET", "/v1/notifications")["cursor"])
        let url = try #require(world.redis.tcpURL)
        for round in 0..<2 {
          _ = try await belfry(
            ["backup", "--redis", url, world[0].folder + "/\(round).backup"], in: world[0])
          try alice.mustSend("after \(round)", ["serverId": servers[0]])
          #expect(stream.wait(forBody: "after \(round)"))
        }
        // The stream catches up.
        try app.add(["bob"], to: servers[1])
        try alice.mustSend("last", ["serverId": servers[1]])
        #expect(stream.wait(forBody: "last"))
        #expect(stream.bodies.filter { !$0.isEmpty } == ["before", "after 0", "after 1", "last"])
        #expect(!stream.all.contains { $0.name == "gap" })
        let page = try bob.call("GET", "/v1/notifications?after=\(cursor)")
        #expect(page.object["gap"] == nil)
        let bodies = page.notifications.compactMap { $0["body"] as? String }
        #expect(bodies.sorted() == ["after 0", "after 1", "last"])
      }
    }

    @Test func aBackupPutBackBesideItsPlaceIsNotPassedOver() async throws {
      let broker = try Broker(redisURL: nil)
      let stray = broker.folder + "/data/appendonlydir"
      try FileManager.default.createDirectory(atPath: stray, withIntermediateDirectories: true)
      try await broker.start(waits: false)
      #expect(await broker.hasEnded())
      #expect(broker.log.contains("belfry: dataFolderUnusable: \(stray): "), "\(broker.log)")
      await broker.remove()
    }
  }
}

/// Runs the executable, and returns its output. The caller waits for it.
private func belfry(_ words: [String], in broker: Broker) async throws -> String {
  let output = broker.folder + "/command.log"
  let process = try ChildProcess(
    [Broker.executable] + words, environment: ["PATH": TestEnvironment.path], output: output,
    folder: broker.folder + "/none")
  guard await process.hasEnded(within: .seconds(60)) else {
    process.signal(9)
    throw Wire.Failure(description: "belfry \(words) does not end")
  }
  return try String(contentsOfFile: output, encoding: .utf8)
}

/// Accounts in a server, a group and a room, with read and unread notifications.
private struct Scene {
  let broker: Broker
  let server: String
  let group: String

  init(at broker: Broker) throws {
    self.broker = broker
    let alice = try Person("alice", at: broker)
    server = try alice.createServer()
    try Person.app(at: broker).add(["bob", "carol"], to: server)
    let made = try alice.call(
      "POST", "/v1/groups", ["name": "g", "style": "publicOpen"])
    group = try #require(made["groupId"], "\(made)")
    let joined = try Person("bob", at: broker).call("POST", "/v1/groups/\(group)/applications", [:])
    try #require(joined.status < 300, "\(joined)")
    let room = try alice.call("POST", "/v1/rooms", ["subject": "Bells"])
    try #require(room.status == 201, "\(room)")
    let first = try alice.mustSend("first", ["serverId": server])
    let second = try alice.mustSend("second", ["serverId": server])
    try alice.mustSend("to bob", ["toAccids": ["bob"]])
    for (name, body) in [
      ("bob", ["items": [["messageServerId": first, "type": 100]]] as [String: Any]),
      ("carol", ["upTo": second]),
    ] {
      let marked = try Person(name, at: broker).call("POST", "/v1/notifications/read", body)
      try #require(marked.status == 200, "\(marked)")
    }
  }

  /// - Returns: the sends that were acknowledged before, during and after the work, in order.
  func whileSending(_ work: () async throws -> Void) async throws -> [(id: Int64, body: String)] {
    let alice = try Person("alice", at: broker)
    let isOver = Flag()
    let sent = Box<(Int64, String)>()
    let (server, group) = (server, group)
    let thread = DispatchGroup()
    thread.enter()
    Thread.detachNewThread {
      defer { thread.leave() }
      var count = 0
      while !isOver.isSet {
        let place = count.isMultiple(of: 3) ? ["groupId": group] : ["serverId": server]
        if let id = try? alice.mustSend("live \(count)", place) {
          sent.add((Int64(id) ?? 0, "live \(count)"))
        }
        count += 1
      }
    }
    defer {
      isOver.set()
      thread.wait()
    }
    try await eventually("too few sends are acknowledged") { sent.values.count >= 20 }
    try await work()
    let after = sent.values.count
    try await eventually("nothing more is acknowledged") { sent.values.count >= after + 20 }
    isOver.set()
    thread.wait()
    return sent.values.map { (id: $0.0, body: $0.1) }
  }

  /// Every account sees all sends up to one moment, and none after it.
  func check(at other: Broker, _ sent: [(id: Int64, body: String)], hasAll: Bool) throws {
    let bob = try Person("bob", at: other)
    let bodies = try bob.unreadBodies().filter { !$0.hasPrefix("{") }
    let live = bodies.filter { $0.hasPrefix("live") }
    #expect(Set(bodies).isSuperset(of: ["second", "to bob"]))
    #expect(!bodies.contains("first"), "it is read")
    // One thread sent them one after the other, so a backup of one moment has the first ones.
    #expect(Set(live) == Set(sent.prefix(live.count).map(\.body)))
    #expect(hasAll ? live.count == sent.count : (20..<sent.count - 10).contains(live.count))
    let carol = try Person("carol", at: other)
    let seen = try carol.unreadBodies().filter { !$0.hasPrefix("{") }
    #expect(Set(seen).isSubset(of: Set(live)) && !seen.isEmpty)

    let alice = try Person("alice", at: other)
    let newest = try #require(sent.prefix(live.count).map(\.id).max())
    let stream = try bob.stream(after: nil)
    let next = try #require(Int64(try alice.mustSend("after", ["serverId": server])))
    #expect(next > newest)
    #expect(stream.wait(forBody: "after"))
    #expect(try alice.call("GET", "/v1/groups/\(group)").status == 200)
  }
}
