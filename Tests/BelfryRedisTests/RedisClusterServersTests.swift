import Foundation
import TestKit
import Testing

/// The cluster that other tests stand on does what it is told.
@Suite struct RedisClusterServersTests {
  @Test func eachSlotIsServedAndEachReplicaLinked() async throws {
    try await withRedisCluster(replicas: true) { cluster in
      #expect(cluster.nodes.count == 6 && cluster.urls.count == 6)
      for (slot, master) in [(0, 0), (5_460, 0), (5_461, 1), (10_921, 1), (10_922, 2), (16_383, 2)] {
        let owner = try cluster.owner(ofSlot: slot)
        #expect(owner === cluster.nodes[master], "slot \(slot)")
      }
      for index in 0..<3 {
        #expect(try cluster.nodes[index].isMaster)
        #expect(try !cluster.replica(of: index).isMaster)
        #expect(try cluster.replica(of: index).command("ROLE").contains("\(cluster.nodes[index].port ?? 0)"))
      }
    }
  }

  @Test func aReplicaTakesOverFromAMasterThatIsKilledOrFrozen() async throws {
    var options = RedisServer.Options()
    options.appendOnly = .everysec
    try await withRedisCluster(replicas: true, options) { cluster in
      let (first, second) = (cluster.nodes[0], cluster.replica(of: 0))
      try first.command("SET", key, "kept")
      try await eventually { try second.command("DBSIZE") == "1" }

      await first.kill()
      #expect(throws: FixtureError.self) { try cluster.owner(ofSlot: slot) }
      try await cluster.untilConverged()
      #expect(try cluster.owner(ofSlot: slot) === second)
      #expect(try second.command("GET", key) == "kept")

      try await first.start()
      try await cluster.untilConverged()
      #expect(try !first.isMaster)

      second.pause()
      try await cluster.untilConverged()
      #expect(try cluster.owner(ofSlot: slot) === first)
      second.resume()
      try await cluster.untilConverged()
      #expect(try !second.isMaster)
      #expect(try first.command("GET", key) == "kept")
    }
  }

  @Test func eachKindOfFailoverChangesTheRoles() async throws {
    try await withRedisCluster(replicas: true) { cluster in
      var (master, replica) = (cluster.nodes[1], cluster.replica(of: 1))
      for kind in RedisClusterServers.Failover.allCases {
        try await cluster.failOver(to: replica, kind)
        #expect(try replica.isMaster, "\(kind)")
        #expect(try !master.isMaster, "\(kind)")
        try await cluster.untilConverged()
        #expect(try cluster.owner(ofSlot: 8_000) === replica, "\(kind)")
        swap(&master, &replica)
      }
    }
  }

  @Test func aSlotIsMovedWholeOrInSteps() async throws {
    var options = RedisServer.Options()
    options.password = "secret"
    try await withRedisCluster(options) { cluster in
      let source = try cluster.owner(ofSlot: slot)
      let target = try #require(cluster.masters.first { $0 !== source })
      let keys = (0..<5).map { "\(key)\($0)" }
      for key in keys { try source.command("SET", key, "value") }

      try cluster.beginMoving(slot: slot, from: source, to: target)
      #expect(try cluster.moveKeys(ofSlot: slot, from: source, to: target, atMost: 2) == 2)
      // Some are at one node and some at the other, and the slot is still the source's.
      #expect(try source.command("CLUSTER", "COUNTKEYSINSLOT", "\(slot)") == "3")
      #expect(try target.command("CLUSTER", "COUNTKEYSINSLOT", "\(slot)") == "2")
      #expect(try cluster.owner(ofSlot: slot) === source)
      let refusal = try #require(throws: FixtureError.self) { try source.command(["MGET"] + keys) }
      #expect(refusal.description.hasPrefix("TRYAGAIN"))
      #expect(try cluster.moveKeys(ofSlot: slot, from: source, to: target) == 3)
      try cluster.finishMoving(slot: slot, to: target)
      #expect(try cluster.owner(ofSlot: slot) === target)
      #expect(
        try target.command(["MGET"] + keys) == Array(repeating: "value", count: 5).joined(separator: "\n"))
      try await cluster.untilConverged()

      try cluster.move(slot: slot, to: source)
      #expect(try cluster.owner(ofSlot: slot) === source)
      #expect(try source.command("CLUSTER", "COUNTKEYSINSLOT", "\(slot)") == "5")

      try cluster.beginMoving(slot: slot, from: source, to: target)
      try cluster.giveUpMoving(slot: slot, from: source, to: target)
      #expect(try source.command("GET", keys[0]) == "value")
      try await cluster.untilConverged()
    }
  }

  @Test func aNodeThatJoinsTakesSlotsOrFollows() async throws {
    try await withRedisCluster { cluster in
      let master = try await cluster.addMaster()
      #expect(cluster.nodes.count == 4)
      try cluster.nodes[0].command("SET", key, "value")
      try cluster.move(slot: slot, to: master)
      #expect(try master.command("GET", key) == "value")
      let replica = try await cluster.addReplica(of: master)
      #expect(try replica.command("DBSIZE") == "1")
    }
  }

  @Test func nothingIsLeftOfItWhenATestFails() async throws {
    struct Failure: Error { let nodes: [RedisServer] }
    let failure = try await #require(throws: Failure.self) {
      try await withRedisCluster { cluster in
        cluster.nodes[0].pause()
        throw Failure(nodes: cluster.nodes)
      }
    }
    #expect(failure.nodes.count == 3)
    for node in failure.nodes {
      #expect(!node.answers && !FileManager.default.fileExists(atPath: node.folder))
    }
  }
}

/// A key of slot 1, which is the first master's.
private let key = "{emj}"
private let slot = 1
