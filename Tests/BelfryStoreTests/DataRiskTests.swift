import TestKit
import Testing

@testable import BelfryStore

/// Settings of Redis by which it may lose what it has acknowledged.
@Suite struct DataRiskTests {
  @Test func aLookAtRedisTellsThem() async throws {
    try await withBroker { broker, redis in
      #expect(try await broker.store.readRoom().risks == [.noLog])
      try redis.command("CONFIG", "SET", "appendonly", "yes")
      #expect(try await broker.store.readRoom().risks == [])
      // Without a limit no key is dropped.
      try redis.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
      #expect(try await broker.store.readRoom().risks == [])
      try redis.command("CONFIG", "SET", "maxmemory", "1gb")
      #expect(try await broker.store.readRoom().risks == [.eviction])
      try redis.command("CONFIG", "SET", "appendonly", "no")
      #expect(try await broker.store.readRoom().risks == [.noLog, .eviction])
      try redis.command("CONFIG", "SET", "maxmemory-policy", "noeviction")
      #expect(try await broker.store.readRoom().risks == [.noLog])
    }
  }
}
