import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// Every broker sweeps, and all of them together no more often than one would.
@Suite struct BeginSweepTests {
  private static let intervalMilliseconds: Int64 = 3_600_000

  @Test func threeBrokersSweepOnce() async throws {
    try await withRedisServer { redis in
      try await withBroker(of: redis) { broker in
        try await broker.makeServer(["bob", "carol"])
        try await broker.append("ding")
        try redis.command("CONFIG", "RESETSTAT")
        try await broker.store.sweep(space.partition)
      }
      let once = try redis.calls()["fcall", default: 0]
      #expect(once > 1)
      try redis.command("CONFIG", "RESETSTAT")
      try await withThrowingTaskGroup { group in
        for _ in 0..<3 {
          group.addTask {
            try await withBroker(of: redis) { broker in
              for _ in 0..<2 { _ = try await broker.sweepIfDue(Self.intervalMilliseconds) }
            }
          }
        }
        try await group.waitForAll()
      }
      // Each asks twice, once it has told every partition that it is here.
      let calls = once + 3 * (2 + Partition.allCases.count)
      #expect(try redis.calls()["fcall"] == calls, "six have asked, and one has swept")
    }
  }

  @Test func itIsDueAgainAfterTheIntervalAndWhenTheClockWentBack() async throws {
    try await withBroker { broker, redis in
      let now = try await broker.store.nowMilliseconds()
      let memory = MemoryStore(limits: Limits(), clockMilliseconds: now)
      for (sweptAt, isDue) in [
        (nil, true), (now - Self.intervalMilliseconds + 60_000, false),
        (now - Self.intervalMilliseconds - 60_000, true), (now + 60_000, true),
      ] as [(Int64?, Bool)] {
        let clock = layout.partitionHash(space.partition)
        if let sweptAt { try redis.command("HSET", clock, "swept-at", "\(sweptAt)") }
        memory.sweptAt[space.partition] = sweptAt
        for store in [broker.store as any Store, memory] {
          for expected in [isDue, false] {
            let isToBegin = try await store.beginSweep(
              of: space.partition, everyMilliseconds: Self.intervalMilliseconds)
            #expect(isToBegin == expected, "\(sweptAt.map(String.init) ?? "never")")
          }
        }
      }
    }
  }

  @Test func itIsDueAboveMaxmemoryToo() async throws {
    try await withBroker { broker, redis in
      try await broker.append("ding")
      try redis.command("CONFIG", "SET", "maxmemory", "1mb")
      #expect(try await broker.sweepIfDue(Self.intervalMilliseconds))
    }
  }
}

extension Broker {
  fileprivate func sweepIfDue(_ intervalMilliseconds: Int64) async throws -> Bool {
    guard try await store.beginSweep(of: space.partition, everyMilliseconds: intervalMilliseconds) else {
      return false
    }
    try await store.sweep(space.partition)
    return true
  }
}
