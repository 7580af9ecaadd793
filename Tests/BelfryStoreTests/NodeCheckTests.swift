import BelfryModel
import BelfryRedis
import TestKit
import Testing

@testable import BelfryStore

/// A broker works on a single Redis that takes writes, and says so of any other.
@Suite struct NodeCheckTests {
  @Test func aReplicaIsRefusedAndItsMasterNamed() async throws {
    try await withRedisPair { master, replica in
      try await expectRefusal(by: replica, saying: "a replica of 127.0.0.1:\(master.port ?? 0)")
    }
  }

  /// A failover elsewhere: the one that was the master goes on answering, and is no place for anything any more.
  @Test func aMasterThatBecomesAReplicaIsLeftUntilItIsMasterAgain() async throws {
    try await withRedisPair { other, redis in
      try redis.command("REPLICAOF", "NO", "ONE")
      try await withBroker(of: redis) { broker in
        try await broker.append("ding", to: Audience(.all))
        try redis.command("REPLICAOF", "127.0.0.1", "\(other.port ?? 0)")
        let error = await broker.storeError { try await $0.append("dong", to: Audience(.all)) }
        #expect(error?.code == .unavailable)
        try await broker.eventually { $0.refusal?.contains("it is a replica of") == true }
        try redis.command("REPLICAOF", "NO", "ONE")
        try await broker.eventually { $0.store.state == .ready }
        try await broker.append("dong", to: Audience(.all))
      }
    }
  }

  /// A broker that only reads meets no refusal, and looks twice a minute.
  @Test func aReplicaIsFoundByLooking() async throws {
    try await withRedisPair { other, redis in
      try redis.command("REPLICAOF", "NO", "ONE")
      try await withBroker(of: redis) { broker in
        try await broker.store.compareFormat()
        try redis.command("REPLICAOF", "127.0.0.1", "\(other.port ?? 0)")
        #expect(await broker.storeError { try await $0.store.compareFormat() }?.code == .unavailable)
        try await broker.eventually { $0.refusal?.contains("it is a replica of") == true }
      }
    }
  }

  private func expectRefusal(by redis: RedisServer, saying words: String) async throws {
    try await withBroker(of: redis) { broker in
      try await broker.eventually { $0.refusal?.contains(words) == true }
      // It lets one subscribe, and what it hears may end at any time.
      #expect(!broker.connections.contains(true))
      #expect(await broker.storeError { _ = try await $0.append("ding") }?.code == .unavailable)
    }
  }

  /// The second is a replica of the first.
  private func withRedisPair(_ body: (_ master: RedisServer, _ replica: RedisServer) async throws -> Void)
    async throws
  {
    var options = RedisServer.Options.debuggable
    options.listensOnTCP = true
    try await withRedisServer(options) { master in
      try await withRedisServer(options) { replica in
        try replica.command("REPLICAOF", "127.0.0.1", "\(master.port ?? 0)")
        try await body(master, replica)
      }
    }
  }
}

extension Broker {
  fileprivate var refusal: String? {
    if case .lost(let error) = store.state, error.code == .unsuitable { error.cause } else { nil }
  }
}
