import BelfryBytes
import BelfryModel
import BelfryRedis
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// The hashes of all partitions are made with the keyspace. One that is missing later is at another node, and nothing is
/// written or found missing in its partition.
@Suite struct PartitionHashTests {
  @Test func allAreMadeWithTheKeyspace() async throws {
    try await withBroker { broker, redis in
      try await broker.eventually { $0.store.state == .ready }
      #expect(try redis.lastOfEachPartition() == layout.partitions.all.map { _ in "0-0" })
      #expect(try redis.command("HGET", RedisLayout.format, RedisLayout.hashesField) == PartitionHashes.made)
    }
  }

  @Test func nothingIsWrittenOrFoundMissingWithoutOne() async throws {
    try await withBroker { broker, redis in
      try await broker.makeServer(["bob"])
      let id = try await broker.append("ding")
      let partition = space.partition
      // None of these has a log there.
      let other = SpaceID.server(try #require(partition.servers.first { SpaceID.server($0) != space }))
      let reader = try #require(
        (1...).lazy.compactMap { AccountID("reader\($0)") }.first { layout.partition(of: $0) == partition })
      try redis.command("DEL", layout.partitionHash(partition))
      let before = try redis.digest()
      var change = Transaction(other)
      change.changes[.settings(other)] = "{}"
      let attempts: [(String, (isolated Broker) async throws -> Void)] = [
        ("send to the space", { try await $0.append("dong") }),
        ("first send to another", { try await $0.append("dong", in: other) }),
        ("commit", { _ = try await $0.store.commit(change) }),
        ("send to an account", { try await $0.append("dong", in: .personal(reader)) }),
        ("mark", { _ = try await $0.store.markRead(ReadMark(items: [id]), by: reader) }),
        ("begin a sweep", { _ = try await $0.store.beginSweep(of: partition, everyMilliseconds: 1) }),
        ("sweep", { try await $0.store.sweep(partition) }),
        ("locate", { _ = try await $0.store.locate(id) }),
        ("settings that are nowhere", { _ = try await $0.store.records([.settings(other)]) }),
        ("ends of logs", { _ = try await $0.store.ends(of: [.personal(reader)]) }),
      ]
      for (name, attempt) in attempts {
        let error = await broker.storeError { try await attempt($0) }
        #expect(error?.code == .incomplete, "\(name): \(error?.detail ?? "no error")")
        #expect(error?.detail.contains("is missing") == true, "\(name): \(error?.detail ?? "no error")")
      }
      #expect(try redis.digest() == before, "something was written")
      // Nor does a new connection make it, or a look at the format record.
      try redis.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
      try await TestKit.eventually {
        try await broker.store.compareFormat()
        return true
      }
      #expect(try redis.digest() == before, "something was written")
    }
  }

  @Test func thoseThatAnEarlierReleaseDidNotMakeAreMadeOnce() async throws {
    try await withRedisServer { redis in
      try await withBroker(of: redis) { _ = try await $0.append("ding") }
      let id = try #require(
        MessageID(streamForm: try redis.command("HGET", layout.partitionHash(space.partition), "last")))
      try redis.command("HDEL", RedisLayout.format, RedisLayout.hashesField)
      for partition in layout.partitions.all where partition != space.partition {
        try redis.command("DEL", layout.partitionHash(partition))
      }
      try await withBroker(of: redis) { broker in
        let next = try await broker.append("dong")
        #expect(next > id)
        #expect(try redis.lastOfEachPartition().count { $0 == "0-0" } == layout.partitions.count - 1)
        #expect(
          try redis.command("HGET", RedisLayout.format, RedisLayout.hashesField) == PartitionHashes.made)
      }
    }
  }

  // MARK: On a cluster

  @Test func allAreMadeAtEachNodeOfACluster() async throws {
    try await withRedisCluster { cluster in
      try await withBroker(of: try #require(cluster.nodes[0].tcpURL)) { broker in
        try await broker.appendToEachPartition()
        try await broker.eventually { _ in try cluster.hashesField() == PartitionHashes.made }
      }
    }
  }

  /// The hash of a partition has moved to another node, and the one that knew of the move has forgotten it.
  @Test func noneIsMadeWhereTheOldOneMayBeElsewhere() async throws {
    try await withRedisCluster { cluster in
      try await withBroker(of: try #require(cluster.nodes[0].tcpURL)) { broker in
        _ = try await broker.sendUntilAnswered("ding", in: space)
        try await broker.eventually { _ in try cluster.hashesField() == PartitionHashes.made }
        let hash = layout.partitionHash(space.partition)
        let source = try cluster.leaveHalfMoved(layout.slot(of: space.partition)) { $0 == hash }
        let record = try cluster.owner(ofSlot: ClusterSlot.of(key: RedisLayout.format))
        // As of an earlier release, with another one that never was.
        try record.command("HDEL", RedisLayout.format, RedisLayout.hashesField)
        let unused = try #require(layout.partitions.all.first { $0 != space.partition })
        let owner = try cluster.owner(ofSlot: layout.slot(of: unused))
        try owner.command("DEL", layout.partitionHash(unused))
        let error = await broker.storeError { try await $0.store.compareFormat() }
        #expect(error?.detail.contains("the hash of partition \(space.partition.number) is missing") == true)
        #expect(try source.command("EXISTS", hash) == "0")
        #expect(try cluster.hashesField() == "")
        #expect(await broker.storeError { try await $0.append("dong") }?.code == .incomplete)
        // Once the slot is whole again, what is missing never was.
        try cluster.move(slot: layout.slot(of: space.partition), from: source)
        try await TestKit.eventually {
          try await broker.store.compareFormat()
          return true
        }
        #expect(try owner.command("HGET", layout.partitionHash(unused), "last") == "0-0")
        #expect(try cluster.hashesField() == PartitionHashes.made)
        try await broker.append("dong")
      }
    }
  }

  /// Its data is lost. The broker says so, and an operator lets it go on.
  @Test func aNodeThatCameBackEmptyIsTold() async throws {
    try await withRedisCluster { cluster in
      try await withBroker(of: try #require(cluster.nodes[0].tcpURL)) { broker in
        try await broker.appendToEachPartition()
        try await broker.eventually { _ in try cluster.hashesField() == PartitionHashes.made }
        let record = try cluster.owner(ofSlot: ClusterSlot.of(key: RedisLayout.format))
        let lost = try #require(
          spaceOfEachPartition.first { space in
            try cluster.owner(ofSlot: layout.slot(of: space.partition)) !== record
          })
        try cluster.owner(ofSlot: layout.slot(of: lost.partition)).command("FLUSHALL")
        let error = await broker.storeError { try await $0.store.compareFormat() }
        #expect(error?.code == .incomplete && error?.detail.contains("partitions have no hash") == true)
        #expect(await broker.storeError { try await $0.append("dong", in: lost) }?.code == .incomplete)
        // As docs/cluster.md has the operator do.
        try record.command("HDEL", RedisLayout.format, RedisLayout.hashesField)
        try await broker.store.compareFormat()
        for space in spaceOfEachPartition { try await broker.append("dong", in: space) }
        #expect(try cluster.hashesField() == PartitionHashes.made)
      }
    }
  }

  /// The hash is left and names a space whose settings are at another node: that is no space that does not exist.
  @Test func aSpaceWhoseSettingsAreElsewhereIsNotMissing() async throws {
    try await withRedisCluster { cluster in
      try await withBroker(of: try #require(cluster.nodes[0].tcpURL)) { broker in
        try await broker.makeServer()
        let settings = layout.table(TableAddress(space, .settings)).text
        _ = try cluster.leaveHalfMoved(layout.slot(of: space.partition)) { $0 == settings }
        let error = await broker.storeError { _ = try await $0.store.records([.settings(space)]) }
        #expect(error?.code == .incomplete)
        let other = SpaceID.server(
          try #require(space.partition.servers.first { SpaceID.server($0) != space }))
        #expect(try await broker.text(.settings(other)) == nil)
      }
    }
  }
}

extension RedisServer {
  fileprivate func lastOfEachPartition() throws -> [String] {
    try layout.partitions.all.map { try command("HGET", layout.partitionHash($0), "last") }
  }
}

extension RedisClusterServers {
  fileprivate func hashesField() throws -> String {
    try owner(ofSlot: ClusterSlot.of(key: RedisLayout.format))
      .command("HGET", RedisLayout.format, RedisLayout.hashesField)
  }

  /// Moves some keys of the slot, and has both nodes forget that it was moved, as a replica does that takes over from the
  /// source.
  /// - Returns: the node that still serves the slot.
  fileprivate func leaveHalfMoved(
    _ slot: Int, where isMoved: (String) -> Bool
  ) throws -> RedisServer {
    let source = try owner(ofSlot: slot)
    let target = try #require(masters.first { $0 !== source })
    try beginMoving(slot: slot, from: source, to: target)
    #expect(try moveKeys(ofSlot: slot, from: source, to: target, where: isMoved) > 0)
    for node in [source, target] { try node.command("CLUSTER", "SETSLOT", "\(slot)", "STABLE") }
    return source
  }

  /// Moves what the slot has at the source to the node that has the rest, and the slot with it.
  fileprivate func move(slot: Int, from source: RedisServer) throws {
    let target = try #require(
      masters.first { try $0 !== source && $0.command("CLUSTER", "COUNTKEYSINSLOT", "\(slot)") != "0" })
    try beginMoving(slot: slot, from: source, to: target)
    while try moveKeys(ofSlot: slot, from: source, to: target) > 0 {}
    try finishMoving(slot: slot, to: target)
  }
}

extension Broker {
  /// A node of a cluster that was set up before the first key was found is set up once more, and refuses meanwhile.
  fileprivate func appendToEachPartition() async throws {
    for space in spaceOfEachPartition { _ = try await sendUntilAnswered("ding", in: space) }
  }
}
