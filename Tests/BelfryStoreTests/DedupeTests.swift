import BelfryModel
import BelfryRedis
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

@Suite struct DedupeTests {
  @Test func theSameSendTwiceIsOne() async throws {
    try await withBroker { broker, redis in
      let first = try await broker.store.commit(.send("ding", clientId: "a")).commit.ids[0]
      let before = try redis.digest()
      #expect(try await broker.store.commit(.send("ding", clientId: "a")) == .duplicate(of: first))
      #expect(try await broker.store.commit(.send("dong", clientId: "a")) == .differentContent)
      #expect(try redis.digest() == before)
      #expect(try await broker.log().map(\.id) == [first])
    }
  }

  @Test func onlyTheSameSenderInTheSameSpaceRepeatsASend() async throws {
    try await withBroker { broker, _ in
      _ = try await broker.store.commit(.send("ding", clientId: "a")).commit
      var other = Transaction.send("ding", clientId: "a")
      other.dedupe?.sender = "bob"
      _ = try await broker.store.commit(other).commit
      other.dedupe?.sender = nil
      _ = try await broker.store.commit(other).commit
      _ = try await broker.store.commit(.send("ding", in: .server(78), clientId: "a")).commit
      _ = try await broker.store.commit(.send("ding", clientId: "b")).commit
      #expect(try await broker.log().count == 4)
    }
  }

  @Test func aWholeTransactionIsDedupedToo() async throws {
    try await withBroker { broker, redis in
      let directMessage = SpaceID.direct(5)
      var transaction = Transaction.send("ding", in: directMessage, clientId: "a")
      transaction.indexChanges = [IndexChange(.joined, ["bob", "carol"])]
      let first = try await broker.store.commit(transaction).commit.ids[0]
      let before = try redis.digest()
      #expect(try await broker.store.commit(transaction) == .duplicate(of: first))
      transaction.announcements[0].content.body = "dong"
      #expect(try await broker.store.commit(transaction) == .differentContent)
      #expect(try redis.digest() == before)
    }
  }

  /// The partition's clock is put ahead in place of waiting for the window to pass: ids are what counts.
  @Test func aSendIsRepeatedWithinTheWindowOnly() async throws {
    var limits = Limits()
    limits.dedupeWindowMilliseconds = 1_000_000
    try await withBroker(limits) { [limits] broker, redis in
      let window = limits.dedupeWindowMilliseconds
      let start = (try await broker.store.nowMilliseconds() / window + 10) * window
      try redis.setLastID(start + 900_000)
      let first = try await broker.store.commit(.send("ding", clientId: "a")).commit.ids[0]
      try redis.setLastID(start + window + 1)
      #expect(try await broker.store.commit(.send("ding", clientId: "a")).firstID == first)
      try redis.setLastID(start + 900_000 + window - 1)
      #expect(try await broker.store.commit(.send("ding", clientId: "a")).firstID == first)
      try redis.setLastID(start + 900_000 + window)
      let second = try await broker.store.commit(.send("ding", clientId: "a")).commit.ids[0]
      #expect(second > first)
      #expect(try await broker.store.commit(.send("ding", clientId: "a")).firstID == second)
    }
  }

  @Test func oldBucketsGoWithTheFirstSendOfANewOne() async throws {
    var limits = Limits()
    limits.dedupeWindowMilliseconds = 1_000_000
    try await withBroker(limits) { [limits] broker, redis in
      let window = limits.dedupeWindowMilliseconds
      let start = (try await broker.store.nowMilliseconds() / window + 10) * window
      let sends: [(bucket: Int64, left: Set<Int64>)] = [
        (0, [0]), (1, [0, 1]), (2, [1, 2]), (5, [5]), (6, [5, 6]),
      ]
      let prefix = layout.prefix(space.partition) + "dedupe:"
      for (bucket, left) in sends {
        try redis.setLastID(start + bucket * window)
        _ = try await broker.store.commit(.send("ding", clientId: "\(bucket)")).commit
        let keys = try redis.keys(prefix + "*").compactMap { Int64($0.dropFirst(prefix.count)) }
        #expect(Set(keys.map { ($0 - start) / window }) == left)
      }
    }
  }

  /// docs/redis-layout.md and the limits promise 120 bytes.
  @Test func aRecordTakesAtMost120Bytes() async throws {
    try await withBroker { broker, redis in
      for batch in 0..<20 {
        let sends = (0..<1_000).map { Transaction.send("ding", clientId: "\(batch) \($0)") }
        for result in await broker.store.commit(sends) { _ = try result.get() }
      }
      var bytes = 0
      var records = 0
      for key in try redis.keys(layout.prefix(space.partition) + "dedupe:*") {
        bytes += Int(try redis.command("MEMORY", "USAGE", key, "SAMPLES", "0")) ?? 0
        // Less the field that makes it a table.
        records += (Int(try redis.command("HLEN", key)) ?? 0) - 1
      }
      #expect(records == 20_000)
      #expect(bytes <= records * 120, "\(Double(bytes) / Double(records)) bytes each")
    }
  }
}

extension RedisServer {
  /// Makes this the time from which the partition's ids go on.
  func setLastID(_ milliseconds: Int64, of partition: Partition = space.partition) throws {
    let id = MessageID(unixMilliseconds: milliseconds, partition: partition, sequence: 0)
    try setLastID(id)
  }
}
