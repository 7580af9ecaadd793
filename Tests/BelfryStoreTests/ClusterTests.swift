import BelfryBytes
import BelfryLoop
import BelfryModel
import BelfryRedis
import ModelSamples
import Synchronization
import TestKit
import Testing

@testable import BelfryStore

/// A keyspace on a Redis Cluster, while slots move and masters fail.
@Suite struct ClusterTests {
  @Test func eachPartitionLiesAtTheNodeOfItsSlot() async throws {
    try await withRedisCluster { cluster in
      try await withBroker(of: try #require(cluster.nodes[1].tcpURL)) { broker in
        try await broker.eventually { $0.store.state == .ready }
        for space in spaceOfEachPartition { try await broker.append("ding", in: space) }
        for space in spaceOfEachPartition {
          #expect(try await broker.log(space).map(\.body) == ["ding"], "\(layout.partition(of: space))")
        }
        // One pipeline over all nodes, in the order asked for.
        let ends = try await broker.store.ends(of: spaceOfEachPartition)
        #expect(!ends.contains { $0.appended == .zero })
      }
      for master in cluster.masters { #expect(try master.keys("belfry:{*log*").count > 10) }
      #expect(try cluster.nodes.map { try $0.keys(RedisLayout.format).count }.reduce(0, +) == 1)
    }
  }

  /// The function library is loaded at a master that joins, and at one that was emptied of it.
  @Test func theLibraryIsLoadedWhereASlotArrives() async throws {
    try await withRedisCluster { cluster in
      try await withBroker(of: cluster) { broker in
        try await broker.append("ding", in: space)
        let slot = layout.slot(of: layout.partition(of: space))
        let source = try cluster.owner(ofSlot: slot)
        let target = try #require(cluster.masters.first { $0 !== source })
        try target.command("FUNCTION", "FLUSH")
        try cluster.move(slot: slot, to: target)
        try await broker.append("dong", in: space)
        #expect(try await broker.log(space).map(\.body) == ["ding", "dong"])
      }
    }
  }

  @Test func whatIsPublishedIsHeardAtWhicheverNodeASlotIs() async throws {
    try await withRedisCluster { cluster in
      try await withBroker(of: try #require(cluster.nodes[0].tcpURL)) { broker in
        try await broker.eventually { $0.store.state == .ready }
        let other = try #require(spaceOfEachPartition.first { $0 != space })
        for each in [space, other] { try await broker.feed.subscribe(each) }
        let partition = layout.partition(of: space)
        for round in 1...3 {
          let source = try cluster.owner(ofSlot: layout.slot(of: partition))
          let target = try #require(cluster.masters.first { $0 !== source })
          try cluster.move(slot: layout.slot(of: partition), to: target)
          // Listeners are told that messages may be missing, and when none are missing any more.
          try await broker.eventually {
            $0.hearing.filter { $0.partitions == [partition] }.map(\.isHeard)
              == Array(repeating: [false, true], count: round).flatMap(\.self)
          }
          let id = try await broker.append("at the other", in: space)
          try await broker.eventually { $0.messages.contains { $0.entry?.id == id } }
        }
        #expect(!broker.hearing.contains { $0.partitions == [layout.partition(of: other)] })
        let id = try await broker.append("still here", in: other)
        try await broker.eventually { $0.messages.contains { $0.entry?.id == id } }
      }
    }
  }

  enum Half: CaseIterable {
    case hashOfPartition, allElse
  }

  /// One part of a partition's keys is at one node, the other at another: each function that writes waits, and is carried
  /// out once.
  @Test(arguments: Half.allCases)
  func whatIsWrittenWaitsWhileAPartitionIsHalfMoved(first: Half) async throws {
    try await withRedisCluster { cluster in
      try await withBroker(of: cluster) { broker in
        try await broker.makeServer(["bob"])
        let partition = layout.partition(of: space)
        let reader = try #require(
          (1...).lazy.compactMap { AccountID("reader\($0)") }.first { layout.partition(of: $0) == partition })
        try await broker.mark(5, by: reader)
        let slot = layout.slot(of: partition)
        let source = try cluster.owner(ofSlot: slot)
        let target = try #require(cluster.masters.first { $0 !== source })
        try cluster.beginMoving(slot: slot, from: source, to: target)
        let hash = layout.partitionHash(partition)
        let moved = try cluster.moveKeys(ofSlot: slot, from: source, to: target) {
          ($0 == hash) == (first == .hashOfPartition)
        }
        #expect(moved > 0)
        async let sent = broker.append("ding")
        async let read = broker.log()
        async let mark = broker.mark(6, by: reader)
        async let added: Void = broker.add(["carol"])
        try await broker.loop.sleep(for: .milliseconds(300))
        async let batch: Void = broker.send(["one", "two"])
        try await broker.loop.sleep(for: .milliseconds(300))
        while try cluster.moveKeys(ofSlot: slot, from: source, to: target) > 0 {}
        try cluster.finishMoving(slot: slot, to: target)
        let id = try await sent
        _ = try await (read, mark, added, batch)
        #expect(try await broker.log().contains { $0.id == id && $0.body == "ding" })
        let bodies = try await broker.log().compactMap(\.body).sorted()
        #expect(bodies == ["ding", "one", "two"])
        #expect(try await broker.members() == 3)
        #expect(try await broker.store.wholeReadState(of: reader).above == [5, 6])
      }
    }
  }
}

/// While something is done to the cluster, sends go on, each with an id of its own that is repeated until there is an answer.
@Suite struct ClusterUnderLoadTests {
  @Test func aSlotThatMovesBackAndForthLosesAndDoublesNothing() async throws {
    try await expectEverySendOnce(replicas: false) { cluster, slot in
      for _ in 0..<6 {
        let source = try cluster.owner(ofSlot: slot)
        guard let target = cluster.masters.first(where: { $0 !== source }) else { return }
        try cluster.beginMoving(slot: slot, from: source, to: target)
        while try cluster.moveKeys(ofSlot: slot, from: source, to: target, atMost: 3) > 0 {
          try await Task.sleep(for: .milliseconds(2))
        }
        try cluster.finishMoving(slot: slot, to: target)
        try await Task.sleep(for: .milliseconds(100))
      }
    }
  }

  @Test func aReplicaThatTakesOverInAgreementLosesAndDoublesNothing() async throws {
    try await expectEverySendOnce(replicas: true) { cluster, slot in
      for _ in 0..<3 {
        let master = try cluster.owner(ofSlot: slot)
        let index = try #require(cluster.nodes.firstIndex { $0 === master })
        let other = cluster.nodes[(index + cluster.masterCount) % cluster.nodes.count]
        try await cluster.untilConverged()
        try await cluster.failOver(to: other)
        try await Task.sleep(for: .milliseconds(300))
      }
    }
  }

  /// The master is killed. Nothing that its replica has is lost, and what it did not have was not acknowledged for long:
  /// nobody is told of another id for the same send.
  @Test func aSendGoesOnWhenAMasterDies() async throws {
    try await withRedisCluster(replicas: true) { cluster in
      try await withBroker(of: try #require(cluster.nodes[0].tcpURL)) { broker in
        try await broker.eventually { $0.store.state == .ready }
        let slot = layout.slot(of: layout.partition(of: space))
        let master = try cluster.owner(ofSlot: slot)
        let other = try #require(
          spaceOfEachPartition.first {
            try cluster.owner(ofSlot: layout.slot(of: layout.partition(of: $0))) !== master
          })
        for each in [space, other] { try await broker.feed.subscribe(each) }
        let before = try await broker.append("before", in: space)
        let index = try #require(cluster.nodes.firstIndex { $0 === master })
        try await TestKit.eventually { try cluster.replica(of: index).keys("*log:\(space.key)").count == 1 }
        await master.kill()
        let error = await broker.storeError { try await $0.append("while nobody is there", in: space) }
        #expect(error?.code == .unavailable)
        // The others are served as ever.
        let elsewhere = try await broker.append("elsewhere", in: other)
        let after = try await broker.sendUntilAnswered("after", in: space)
        let log = try await broker.log(space)
        #expect(log.map(\.id).contains(before) && log.last?.id == after)
        try await broker.eventually {
          $0.hearing.last { $0.partitions == [layout.partition(of: space)] }?.isHeard == true
        }
        let heard = try await broker.append("heard", in: space)
        try await broker.eventually { $0.messages.contains { $0.entry?.id == heard } }
        #expect(broker.messages.contains { $0.entry?.id == elsewhere })
        #expect(!broker.hearing.contains { $0.partitions == [layout.partition(of: other)] && !$0.isHeard })
      }
    }
  }

  @Test func thePartitionsOfALostNodeAreCounted() async throws {
    try await withRedisCluster { cluster in
      try await withBroker(of: cluster) { broker in
        try await broker.eventually { $0.store.state == .ready }
        let master = try cluster.owner(ofSlot: layout.slot(of: layout.partition(of: space)))
        let lost = try spaceOfEachPartition.count {
          try cluster.owner(ofSlot: layout.slot(of: layout.partition(of: $0))) === master
        }
        try await TestKit.eventually { try await broker.store.readRoom().partitionsAway == 0 }
        await master.kill()
        try await TestKit.eventually { try await broker.store.readRoom().partitionsAway == lost }
      }
    }
  }

  /// - Parameter disturbance: what is done meanwhile, to the slot of the space in which is sent.
  private func expectEverySendOnce(
    replicas: Bool,
    _ disturbance: @Sendable @escaping (RedisClusterServers, _ slot: Int) async throws -> Void
  ) async throws {
    try await withRedisCluster(replicas: replicas) { cluster in
      try await withBroker(of: try #require(cluster.nodes[0].tcpURL)) { broker in
        try await broker.eventually { $0.store.state == .ready }
        try await broker.feed.subscribe(space)
        let slot = layout.slot(of: layout.partition(of: space))
        let disturbing = Task { try await disturbance(cluster, slot) }
        let isOver = Flag()
        let watching = Task {
          _ = await disturbing.result
          isOver.raise()
        }
        var sent: [MessageID] = []
        var number = 0
        while !isOver.isRaised || number < 200 {
          number += 1
          sent.append(try await broker.sendUntilAnswered("ding \(number)", in: space))
        }
        _ = await watching.value
        try await disturbing.value
        // One more than were sent, so that one that was doubled shows. How many were depends on the machine.
        let log = try await broker.log(space, limit: sent.count + 1)
        #expect(log.map(\.id) == sent, "each once, in the order in which they were sent")
        let last = try await broker.append("the last", in: space)
        try await broker.eventually { $0.messages.contains { $0.entry?.id == last } }
      }
    }
  }
}

private final class Flag: Sendable {
  private let value = Atomic(false)
  var isRaised: Bool { value.load(ordering: .relaxed) }
  func raise() { value.store(true, ordering: .relaxed) }
}

extension Broker {
  func mark(_ id: MessageID, by account: AccountID) async throws {
    _ = try await store.marked(ReadMark(items: [id]), by: account)
  }

  /// In one batch.
  func send(_ bodies: [String]) async throws {
    for result in await store.commit(bodies.map { .send($0) }) { _ = try result.get().commit }
  }

  /// As a producer that repeats what it has no answer to.
  func sendUntilAnswered(_ body: String, in space: SpaceID) async throws -> MessageID {
    let deadline = ContinuousClock.now + .seconds(60)
    while true {
      do {
        switch try await store.commit(.send(body, to: Audience(.all), in: space, clientId: body)) {
        case .committed(let commit): return commit.ids[0]
        case .duplicate(let id, _): return id
        case let other: throw CommitOutcome.NotCommitted(outcome: other)
        }
      } catch let error as StoreError where ContinuousClock.now < deadline {
        _ = error
        try await loop.sleep(for: .milliseconds(20))
      }
    }
  }
}

/// A server in each partition.
let spaceOfEachPartition: [SpaceID] = {
  var spaces: [Partition: SpaceID] = [:]
  var id: UInt64 = 2
  while spaces.count < layout.partitions.count {
    let space = SpaceID.server(EntityID(bits: id))
    spaces[layout.partition(of: space)] = spaces[layout.partition(of: space)] ?? space
    id += 2
  }
  return layout.partitions.all.compactMap { spaces[$0] }
}()
