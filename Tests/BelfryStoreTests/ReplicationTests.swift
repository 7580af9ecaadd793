import BelfryBytes
import BelfryLoop
import BelfryModel
import BelfryRedis
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// Belfry acknowledges nothing before replicas have it.
@Suite struct ReplicationTests {
  /// On a busy machine a replica may take longer to answer than a broker waits.
  private static let patientPromise = {
    var promise = ReplicationPromise(replicas: 1)
    promise.timeout = .milliseconds(1_500)
    return promise
  }()

  @Test func aWriteThatNoReplicaHasIsNotAcknowledged() async throws {
    try await withRedisCluster(replicas: true) { cluster in
      try await withBroker(of: cluster, promise: ReplicationPromise(replicas: 1)) { broker in
        try await broker.makeServer(["bob"])
        let sent = try await broker.append("ding")
        let partition = layout.partition(of: space)
        let master = try cluster.owner(ofSlot: layout.slot(of: partition))
        let index = try #require(cluster.nodes.firstIndex { $0 === master })
        let replica = cluster.replica(of: index)
        #expect(try replica.keys("*log:\(space.key)").count == 1)
        replica.pause()
        defer { replica.resume() }
        let error = await broker.storeError { try await $0.append("dong") }
        #expect(error?.code == .unavailable && error?.description.contains("0 of 1 replicas") == true)
        // It may have happened, and here it has; nobody is shown what may be lost yet.
        let unread = await broker.storeError { _ = try await $0.log() }
        #expect(unread?.code == .unavailable && unread?.description.contains("0 of 1 replicas") == true)
        // In another master's slots everything goes on.
        let other = try #require(
          spaceOfEachPartition.first {
            try cluster.owner(ofSlot: layout.slot(of: layout.partition(of: $0))) !== master
          })
        try await broker.append("elsewhere", in: other)
        #expect(try await broker.log(other).map(\.body) == ["elsewhere"])
        // The repetition is not acknowledged either, though the send is known at this point.
        let again = Transaction.send("known", clientId: "known")
        _ = await broker.storeError { _ = try await $0.store.commit(again) }
        let repeated = await broker.storeError { _ = try await $0.store.commit(again) }
        #expect(repeated?.code == .unavailable)
        replica.resume()
        try await broker.eventuallyCommits(again)
        #expect(try await broker.log().count(where: { $0.body == "known" }) == 1)
        #expect(try await broker.log().contains { $0.id == sent })
      }
    }
  }

  /// A live message leaves its master at once. It is held until what it tells cannot be lost any more.
  @Test func nobodyHearsWhatNoReplicaHas() async throws {
    try await withRedisCluster(replicas: true) { cluster in
      try await withBroker(of: cluster, promise: ReplicationPromise(replicas: 1)) { broker in
        try await broker.makeServer(["bob"])
        try await broker.feed.subscribe(space)
        try await broker.append("ding")
        try await broker.eventually { $0.messages.count { $0.entry?.body == "ding" } == 1 }
        let master = try cluster.owner(ofSlot: layout.slot(of: layout.partition(of: space)))
        let index = try #require(cluster.nodes.firstIndex { $0 === master })
        let replica = cluster.replica(of: index)
        replica.pause()
        defer { replica.resume() }
        // Another broker, which is promised nothing, has its answers at once.
        try await withBroker(of: cluster) { other in
          for number in 0..<3 { try await other.append("unsafe \(number)") }
        }
        try await broker.loop.sleep(for: .seconds(1))
        #expect(broker.messages.last?.entry?.body == "ding")
        replica.resume()
        // In their order, each once, and nobody has to read anything again.
        try await broker.eventually { $0.messages.last?.entry?.body == "unsafe 2" }
        #expect(
          broker.messages.compactMap { $0.entry?.body }.suffix(4)
            == ["ding", "unsafe 0", "unsafe 1", "unsafe 2"])
        #expect(!broker.hearing.contains { !$0.isHeard })
      }
    }
  }

  /// One batch asks a master for two partitions, and one of them is elsewhere now. The answer about the other
  /// may still be lost.
  @Test func aRedirectionBesideItDoesNotAcknowledgeAnything() async throws {
    try await withRedisCluster(replicas: true) { cluster in
      try await withBroker(of: cluster, promise: ReplicationPromise(replicas: 1)) { broker in
        let slots = Dictionary(
          uniqueKeysWithValues: spaceOfEachPartition.map { ($0, layout.slot(of: layout.partition(of: $0))) })
        let master = try cluster.owner(ofSlot: layout.slot(of: layout.partition(of: space)))
        let two = try spaceOfEachPartition.filter { try cluster.owner(ofSlot: slots[$0] ?? 0) === master }
        let (stays, goes) = (two[0], two[1])
        for each in [stays, goes] { try await broker.append("ding", in: each) }
        let target = try #require(cluster.masters.first { $0 !== master })
        try cluster.move(slot: try #require(slots[goes]), to: target)
        let index = try #require(cluster.nodes.firstIndex { $0 === master })
        let replica = cluster.replica(of: index)
        replica.pause()
        defer { replica.resume() }
        let error = await broker.storeError { _ = try await $0.store.ends(of: [stays, goes]) }
        #expect(error?.code == .unavailable && error?.description.contains("0 of 1 replicas") == true)
        // A space that has moved does not depend on that replica.
        #expect(try await broker.store.ends(of: [goes]).count == 1)
      }
    }
  }

  /// A node is asked by a write in a slot of its own. The first that comes to hand may be on its way to another node.
  @Test func aSlotThatLeavesDoesNotKeepOthersFromBeingAcknowledged() async throws {
    try await withRedisCluster(replicas: true) { cluster in
      try await withBroker(of: cluster, promise: Self.patientPromise) { broker in
        try await broker.append("ding")
        let master = try cluster.owner(ofSlot: layout.slot(of: layout.partition(of: space)))
        let index = try #require(cluster.masters.firstIndex { $0 === master })
        let first = cluster.firstSlot(ofMaster: index)
        let target = try #require(cluster.masters.first { $0 !== master })
        try cluster.beginMoving(slot: first, from: master, to: target)
        try await broker.append("dong")
        try cluster.finishMoving(slot: first, to: target)
        try await broker.append("dang")
        #expect(try await broker.log().map(\.body) == ["ding", "dong", "dang"])
      }
    }
  }

  /// A new node receives its first partition. That node's replicas acknowledge the part that it has already.
  @Test func aNodeWithoutSlotsAcknowledgesWhatIsOnItsWayThere() async throws {
    try await withRedisCluster(replicas: true) { cluster in
      try await withBroker(of: cluster, promise: ReplicationPromise(replicas: 1)) { broker in
        try await broker.append("ding")
        let target = try await cluster.addMaster()
        let replica = try await cluster.addReplica(of: target)
        let slot = layout.slot(of: layout.partition(of: space))
        let source = try cluster.owner(ofSlot: slot)
        try cluster.beginMoving(slot: slot, from: source, to: target)
        while try cluster.moveKeys(ofSlot: slot, from: source, to: target) > 0 {}
        // A write waits for the rest of the slot; a log is read where it is. The new replica may not have the keys yet.
        try await eventually { try await broker.store.ends(of: [space]).count == 1 }
        replica.pause()
        defer { replica.resume() }
        let error = await broker.storeError { _ = try await $0.store.ends(of: [space]) }
        #expect(error?.code == .unavailable && error?.description.contains("0 of 1 replicas") == true)
        replica.resume()
        try cluster.finishMoving(slot: slot, to: target)
        try await broker.append("last")
        #expect(try await broker.log().map(\.body) == ["ding", "last"])
      }
    }
  }

  /// A change that another partition learns of must not be lost in the partition that it came from.
  @Test func nothingIsRelayedBeforeReplicasHaveIt() async throws {
    try await withRedisCluster(replicas: true) { cluster in
      try await withBroker(of: cluster, promise: ReplicationPromise(replicas: 1)) { broker in
        try await broker.makeServer()
        let partition = layout.partition(of: space)
        let master = try cluster.owner(ofSlot: layout.slot(of: partition))
        let index = try #require(cluster.nodes.firstIndex { $0 === master })
        // Somebody who is told of it at another partition.
        let bob = try #require(
          (0..<1_000).lazy.compactMap { AccountID("bob\($0)") }.first {
            layout.partition(of: $0) != partition
          })
        cluster.replica(of: index).pause()
        defer { cluster.replica(of: index).resume() }
        var joining = Transaction(space)
        joining.indexChanges = [IndexChange(.joined, [bob])]
        let unacknowledged = joining
        #expect(await broker.storeError { _ = try await $0.store.commit(unacknowledged) } != nil)
        let error = await broker.storeError { try await $0.store.relayOutbox(of: partition) }
        #expect(error != nil)
        #expect(try await broker.store.index(of: bob).isEmpty)
        cluster.replica(of: index).resume()
        try await TestKit.eventually {
          try await broker.store.relayOutbox(of: partition)
          return try await broker.store.index(of: bob).count == 1
        }
      }
    }
  }

  /// A node that lacks its replicas does not keep accounts at other nodes from learning what concerns them.
  @Test func oneNodeWithoutReplicasHoldsUpNoOthersRelays() async throws {
    try await withRedisCluster(replicas: true) { cluster in
      try await withBroker(of: cluster, promise: ReplicationPromise(replicas: 1)) { broker in
        try await broker.makeServer()
        let home = try cluster.owner(ofSlot: layout.slot(of: layout.partition(of: space)))
        let others = cluster.masters.filter { $0 !== home }
        let accounts = try others.map { master in
          try #require(
            try (0..<1_000).lazy.compactMap { AccountID("bob\($0)") }.first {
              try cluster.owner(ofSlot: layout.slot(of: layout.partition(of: $0))) === master
            })
        }
        let lacking = cluster.replica(of: try #require(cluster.nodes.firstIndex { $0 === others[0] }))
        lacking.pause()
        defer { lacking.resume() }
        for account in accounts {
          var joining = Transaction(space)
          joining.indexChanges = [IndexChange(.joined, [account])]
          _ = try await broker.store.commit(joining)
        }
        let partition = layout.partition(of: space)
        let error = await broker.storeError { try await $0.store.relayOutbox(of: partition) }
        #expect(error?.description.contains("0 of 1 replicas") == true)
        #expect(try await broker.store.index(of: accounts[1]).count == 1)
        #expect(try home.command("XLEN", layout.outbox(partition)) == "1")
        lacking.resume()
        try await TestKit.eventually {
          try await broker.store.relayOutbox(of: partition)
          return try await broker.store.index(of: accounts[0]).count == 1
        }
      }
    }
  }
}

extension Broker {
  func eventuallyCommits(_ transaction: Transaction) async throws {
    try await TestKit.eventually {
      if case .duplicate = try await self.store.commit(transaction) { true } else { false }
    }
  }
}
