import Foundation
import Glibc
import TestKit
import Testing

extension EndToEnd {
  /// Starting, draining, and refusing to start.
  @Suite struct Lifecycle {
    @Test func drainsOnSIGTERM() async throws {
      try await withWorld(brokers: 2) { world in
        let alice = try Person("alice", at: world[0])
        let stream = try alice.stream()
        let server = try alice.createServer()
        try alice.mustSend("before", ["serverId": server])
        #expect(stream.wait(forBody: "before"))
        let waiting = Box<Answer>()
        let cursor = try #require(try Person("bob", at: world[0]).call("GET", "/v1/notifications")["cursor"])
        let waiter = DispatchGroup()
        waiter.enter()
        Thread.detachNewThread {
          defer { waiter.leave() }
          let path = "/v1/notifications?wait=60&after=\(cursor)"
          if let answer = try? Person("bob", at: world[0]).call("GET", path) { waiting.add(answer) }
        }
        // A waiting request has subscribed to the account's channel.
        try await eventually { try !world.redis.command("PUBSUB", "SHARDCHANNELS", "*:account:bob").isEmpty }
        world[0].signal(SIGTERM)
        #expect(stream.waitUntilOver())
        let kicked = try #require(stream.all.last)
        #expect(kicked.name == "kicked")
        #expect(kicked.object["retry"] as? Bool == true)
        waiter.wait()
        #expect(waiting.values.first?.status == 200, "a request in flight finishes")
        #expect(await world[0].hasEnded())
        let moved = try alice.stream(after: stream.lastID, at: world[1])
        try Person("alice", at: world[1]).mustSend("after", ["serverId": server])
        #expect(moved.wait(forBody: "after"))
        #expect(moved.bodies == ["after"])
      }
    }

    @Test func aSecondBrokerOnTheSameFolderRefusesToStart() async throws {
      let broker = try await Broker.started(redisURL: nil)
      let output = broker.folder + "/second.log"
      var environment = broker.environment
      environment["BELFRY_LISTEN"] = "127.0.0.1:\(try findFreePort())"
      let second = try ChildProcess(
        [Broker.executable, "serve"], environment: environment, output: output,
        folder: broker.folder + "/none")
      #expect(await second.hasEnded(within: Broker.patience))
      let reason = try String(contentsOfFile: output, encoding: .utf8)
      #expect(reason.contains("\(try #require(broker.processID))"), "\(reason)")
      #expect(try Wire(port: broker.port).request("GET", "/readyz").status == 200)
      await broker.remove()
    }

    @Test func theEmbeddedRedisKeepsWhatWasSent() async throws {
      let broker = try await Broker.started(redisURL: nil)
      let alice = try Person("alice", at: broker)
      let server = try alice.createServer()
      try alice.mustSend("kept", ["serverId": server])
      await broker.stop()
      try await broker.start()
      #expect(try alice.unreadBodies() == ["kept"])
      // The broker does not end in order either.
      try alice.mustSend("kept as well", ["serverId": server])
      await broker.kill()
      try await broker.start()
      #expect(try alice.unreadBodies() == ["kept", "kept as well"])
      await broker.stop()
      await broker.remove()
    }

    @Test func aStreamEndsWhenItsTokenExpires() async throws {
      try await withWorld { world in
        let stream = try Person("alice", at: world[0], ttlSeconds: 2).stream()
        #expect(stream.waitUntilOver())
        let last = try #require(stream.all.last)
        #expect(last.name == "kicked")
        #expect(last.object["reason"] as? String == "tokenExpired")
      }
    }
  }
}
