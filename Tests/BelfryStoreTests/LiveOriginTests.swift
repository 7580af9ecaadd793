import BelfryLoop
import BelfryModel
import BelfryRedis
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// A live message names the process that published it.
@Suite struct LiveOriginTests {
  /// The replica's message comes to the master's listeners, as the messages of a former master do that has not
  /// heard yet that it is one.
  @Test func aMessageThatAnotherNodePublishedIsNotHeard() async throws {
    try await withRedisCluster(replicas: true) { cluster in
      try await withBroker(of: cluster) { broker in
        try await broker.feed.subscribe(space)
        let first = try await broker.append("first")
        let content = try #require(try await broker.log().last).contentJSON
        let master = try cluster.owner(ofSlot: layout.slot(of: layout.partition(of: space)))
        let index = try #require(cluster.nodes.firstIndex { $0 === master })
        let replica = cluster.replica(of: index)
        for (node, body) in [(replica, "of the replica"), (master, "of the master")] {
          let id = try #require(first.successor).streamForm
          let message =
            "from \(try node.history())\nephemeral \(id)\nall\n\(content.replacing("first", with: body))"
          try replica.command("SPUBLISH", layout.live(space), message)
        }
        try await broker.eventually { $0.messages.contains { $0.entry?.body == "of the master" } }
        #expect(broker.messages.compactMap(\.entry?.body) == ["first", "of the master"])
      }
    }
  }

  @Test func allThatFunctionsPublishNamesItsProcess() async throws {
    try await withBroker { broker, redis in
      try await broker.makeServer(["bob"])
      let heard = Payloads()
      let subscriber = RedisSubscriber(loop: broker.loop, endpoint: try RedisEndpoint(url: redis.url))
      subscriber.onMessage = { heard.all.append(String(decoding: $1, as: UTF8.self)) }
      subscriber.start()
      defer { subscriber.close() }
      for each in [space, .personal("bob"), .personal("carol")] {
        try await subscriber.subscribe(layout.live(each))
      }

      let id = try await broker.append("alone")
      let update = try UpdateNotification(
        try #require(try await broker.log().last), in: space, by: app, body: "new", ext: nil, status: 10_001)
      _ = try await broker.runner.run(update)
      _ = await broker.store.commit((0..<3).map { .send("run \($0)") })
      let several: [AccountID] = ["bob", "carol"]
      _ = await broker.store.commit(several.map { .send("for one", to: Audience(.named, named: [$0])) })
      try await broker.add(["carol"])
      _ = try await broker.store.marked(ReadMark(items: [id]), by: "bob")

      let kinds = ["appended", "updated", "run", "several\nmemberships", "read", "index"]
      let origin = "from \(try redis.history())\n"
      try await TestKit.eventually {
        kinds.allSatisfy { kind in heard.all.contains { $0.hasPrefix(origin + kind) } }
      }
      #expect(heard.all.allSatisfy { $0.hasPrefix(origin) }, "\(heard.all)")
    }
  }
}

/// The messages as Redis passes them on.
private final class Payloads {
  var all: [String] = []
}
