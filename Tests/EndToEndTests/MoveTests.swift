import Foundation
import TestKit
import Testing

extension EndToEnd {
  /// `belfry move`, with brokers, producers and consumers on the Redis that is moved from.
  @Suite struct Moves {
    private func move(_ from: String, _ to: String, _ more: [String] = [], in broker: Broker) throws
      -> CommandRun
    {
      try CommandRun(["move", "--from", from, "--to", to] + more, in: broker)
    }

    private func isReady(_ broker: Broker) -> Bool {
      (try? Wire(port: broker.port).request("GET", "/readyz"))?.status == 200
    }

    @Test func aKeyspaceGoesToAClusterWhileProducersAndStreamsGoOn() async throws {
      try await withWorld(brokers: 2, redis: .onTCP) { world in
        try await withRedisCluster { cluster in
          let (from, to) = (try #require(world.redis.tcpURL), cluster.url)
          let scene = try MoveScene(at: world[0])
          let bob = try Person("bob", at: world[0])
          let stream = try bob.stream()
          var text = ""
          let refused = try await scene.whileSending(at: world[1], untilRefused: true) {
            text = try await move(from, to, in: world[0]).end()
          }
          #expect(text.contains("moved from \(from) to \(to)\n"), "\(text)")
          #expect(text.contains("  differing        0\n"), "\(text)")
          // The old brokers say so, without the address. A new broker on the old Redis ends and names it.
          let words =
            "this keyspace was moved: start brokers with the new address (the broker's log has the address)"
          let logged = "this keyspace was moved to \(to): start brokers with the new address"
          try await eventually { try bob.call("GET", "/v1/notifications")["detail"] == words }
          try await eventually { try Wire(port: world[1].port).request("GET", "/readyz")["detail"] == words }
          let answer = try Person("alice", at: world[1]).send("no", ["serverId": scene.servers[0]])
          #expect(answer.status == 503 && answer.headers["retry-after"] != nil)
          let late = try Broker(redisURL: from)
          try await late.start(waits: false)
          #expect(await late.hasEnded())
          #expect(late.log.contains("keyspaceRefused: \(from): \(logged)"), "\(late.log)")
          #expect(!late.log.contains(" is ready "), "\(late.log)")
          await late.remove()

          let cursor = try #require(stream.cut().last { $0.id != nil }?.id)
          let shown = Set(stream.bodies)
          let new = try await Broker.started(redisURL: to)
          try scene.check(at: new, refused: refused)
          let latest = try #require(scene.sent.compactMap { Int64($0.id) }.max())
          let resumed = try bob.stream(after: cursor, at: new)
          try scene.checkDedupe(at: new, refused: refused)
          let next = try Person("alice", at: new).mustSend("after", ["serverId": scene.servers[1]])
          #expect(try #require(Int64(next)) > latest)
          #expect(resumed.wait(forBody: "after"))
          #expect(!resumed.all.contains { $0.name == "gap" })
          let live = resumed.bodies.filter { $0.hasPrefix("live") }
          #expect(Set(live).count == live.count)
          #expect(shown.isDisjoint(with: live), "what was shown is not shown again")
          #expect(shown.union(live).isSuperset(of: scene.sent.map(\.key)), "and nothing is passed over")
          let ticketed = try EventStream(
            port: new.port, path: "/v1/notifications/stream?ticket=\(scene.ticket)", headers: [:])
          #expect(ticketed.status == 200)
          await new.remove()
        }
      }
    }

    @Test func anEmbeddedRedisGoesToAnotherRedisWhetherItsBrokerRunsOrNot() async throws {
      for runs in [true, false] {
        let broker = try await Broker.started(redisURL: nil)
        let scene = try MoveScene(at: broker)
        let cursor = try #require(Person("carol", at: broker).call("GET", "/v1/notifications")["cursor"])
        try Person("alice", at: broker).mustSend("not seen yet", ["serverId": scene.servers[4]])
        try await withRedisServer(.onTCP) { redis in
          if !runs { await broker.stop() }
          let url = try #require(redis.tcpURL)
          let run = try CommandRun(
            ["move", "--data", broker.folder + "/data", "--to", url, "--json"], in: broker)
          let text = try await run.end()
          let line = try #require(text.split(separator: "\n").last { $0.hasPrefix("{") }, "\(text)")
          let facts = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
          #expect(facts?["outcome"] as? String == "moved", "\(text)")
          #expect(facts?["differing"] as? Int == 0)
          #expect(facts?["copied"] as? Int == facts?["compared"] as? Int)
          #expect(facts?["entries"] as? Int ?? 0 > 10)
          if runs { try await eventually { !isReady(broker) } }
          let new = try await Broker.started(redisURL: url)
          try scene.check(at: new)
          // A cursor names the history of the Redis that gave it, and no notification is lost here.
          try Person("alice", at: new).mustSend("sent there", ["serverId": scene.servers[5]])
          let page = try Person("carol", at: new).call("GET", "/v1/notifications?after=\(cursor)")
          #expect(page.object["gap"] == nil, "\(page)")
          #expect(page.notifications.compactMap { $0["body"] as? String } == ["not seen yet", "sent there"])
          await new.remove()
          if !runs {
            try await broker.start(waits: false)
            #expect(await broker.hasEnded())
            #expect(broker.log.contains("this keyspace was moved to \(url)"))
          }
        }
        await broker.remove()
      }
    }

    /// A move that is killed at any point can go on or be cancelled. Nothing is lost, and the keyspace is
    /// never in two places.
    @Test func whatIsKilledAnywhereGoesOnOrIsGivenBack() async throws {
      var random = SeededGenerator(seed: TestEnvironment.seed)
      try await withRedisCluster { cluster in
        for round in 0..<8 {
          // The cluster is emptied, as if it were another one each time.
          for master in cluster.masters { try master.transaction(["FLUSHALL"], ["FUNCTION", "FLUSH"]) }
          try await withWorld(redis: .onTCP) { world in
            let comment = "BELFRY_SEED=\(TestEnvironment.seed), round \(round)"
            let (from, to) = (try #require(world.redis.tcpURL), cluster.url)
            let scene = try MoveScene(at: world[0])
            for master in cluster.masters { try master.command("CONFIG", "SET", "latency-tracking", "no") }
            let isGivenBack = round.isMultiple(of: 2)
            let limit = random.below(260)
            var refused = try await scene.whileSending(at: world[0]) {
              let run = try move(from, to, in: world[0])
              try await Task.sleep(for: .milliseconds(limit))
              run.process.signal(SIGKILL)
              #expect(await run.process.hasEnded(within: Broker.patience))
              try oneServes(world.redis, cluster, comment)
              let again = try move(from, to, isGivenBack ? ["--cancel"] : [], in: world[0])
              let text = try await again.end()
              let isFinished =
                text.contains("was moved to") || text.contains("moved from")
                || text.contains(" finished")
              let isCancelled =
                text.contains("has its keyspace again") || text.contains("it is not being moved")
              #expect(isFinished != isCancelled, "\(comment): \(text)")
              #expect(isGivenBack || isFinished, "\(comment): \(text)")
              if isCancelled {
                try await eventually(comment) { self.isReady(world[0]) }
                for master in cluster.masters {
                  let left = try master.command("KEYS", "belfry:*")
                  #expect(left == "", "\(comment)")
                }
              }
            }
            if isReady(world[0]) {
              try scene.check(at: world[0], refused: refused)
              // The move is run once more, to the end.
              refused += try await scene.whileSending(at: world[0]) {
                let text = try await move(from, to, in: world[0]).end()
                #expect(text.contains("moved from"), "\(comment): \(text)")
              }
            }
            try oneServes(world.redis, cluster, comment)
            let new = try await Broker.started(redisURL: to)
            try scene.check(at: new, refused: refused)
            try scene.checkDedupe(at: new, refused: refused)
            await new.remove()
          }
        }
      }
    }

    private func oneServes(_ redis: RedisServer, _ cluster: RedisClusterServers, _ comment: String) throws {
      let here = try redis.command("HGET", "belfry:format", "format")
      var there = ""
      for master in cluster.masters {
        if let found = try? master.command("HGET", "belfry:format", "format"), !found.isEmpty {
          there = found
        }
      }
      #expect(here != "3 64" || there != "3 64", "\(comment): both are open")
    }

    @Test func aTargetThatDiesGivesTheKeyspaceBack() async throws {
      try await withWorld(redis: .onTCP) { world in
        let from = try #require(world.redis.tcpURL)
        let scene = try MoveScene(at: world[0])
        try await withRedisServer(.onTCP) { other in
          // The target stops accepting writes once the keyspace is paused, and the command is killed then.
          let to = try #require(other.tcpURL)
          other.pause()
          other.resume()
          let run = try move(from, to, in: world[0])
          try await eventually { run.text.contains("paused at") }
          await other.kill()
          let text = try await run.end()
          if text.contains("moved from") { return }
          #expect(text.contains("the keyspace was given back: brokers continue"), "\(text)")
          try await eventually { isReady(world[0]) }
          try scene.check(at: world[0])
          // Without the target, there is nothing else to give back.
          let again = try await move(from, to, ["--cancel"], in: world[0]).end()
          #expect(
            again.contains("it is not being moved") || again.contains("has its keyspace again"), "\(again)")
        }
      }
    }
  }
}
