import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// Which tokens are void, and how brokers learn of it.
@Suite struct RevocationStoreTests {
  @Test func theLaterOfTwoRevocationsHolds() async throws {
    try await withBroker { broker, _ in
      try await broker.store.revoke(Revocation(of: "bob", before: 2_000))
      try await broker.store.revoke(Revocation(of: "bob", before: 1_000))
      try await broker.store.revoke(Revocation(of: "carol", before: 3_000))
      #expect(try await broker.store.revocations(of: ["dave", "carol", "bob"]) == [nil, 3_000, 2_000])
    }
  }

  @Test func whatWasRevokedSinceIsTold() async throws {
    try await withBroker { broker, server in
      let store = broker.store
      var (news, last) = try await store.revocations(since: nil)
      #expect(news == .nothing && last == nil)
      let some = [Revocation(of: "bob", before: 1_000), Revocation(of: "carol", before: 2_000)]
      for revocation in some { try await store.revoke(revocation) }
      (news, last) = try await store.revocations(since: nil)
      #expect(news == .some(some))
      #expect(try await store.revocations(since: last).news == .nothing)
      try await store.revoke(some[0])
      let next = try await store.revocations(since: last)
      #expect(next.news == .some([some[0]]))
      // Trimmed beyond what was seen last, or lost: anything may have been revoked.
      let key = "belfry:{\(Partitions.standard.hashTags[0])}:revocations"
      try await store.revoke(some[1])
      try server.command("XTRIM", key, "MAXLEN", "1")
      (news, last) = try await store.revocations(since: last)
      #expect(news == .unknown && last != nil)
      #expect(try await store.revocations(since: last).news == .nothing)
      try server.command("DEL", key)
      (news, last) = try await store.revocations(since: last)
      #expect(news == .unknown && last == nil)
      #expect(try await store.revocations(since: last).news == .nothing)
    }
  }

  @Test func whatCannotBeReadMayBeAnybodys() async throws {
    try await withBroker { broker, server in
      let key = "belfry:{\(Partitions.standard.hashTags[0])}:revocations"
      var last: String?
      for fields in [["a", "b"], ["account", "?", "before", "1"], ["account", "bob", "before", "x"]] {
        try server.command(["XADD", key, "*"] + fields)
        let found = try await broker.store.revocations(since: last)
        #expect(found.news == .unknown)
        last = found.last
        #expect(try await broker.store.revocations(since: last).news == .nothing)
      }
    }
  }

  @Test func moreThanAreReadAtOnceAreNotRead() async throws {
    try await withBroker { broker, _ in
      let store = broker.store
      try await store.revoke(Revocation(of: "bob", before: 1))
      let last = try await store.revocations(since: nil).last
      for _ in 0..<RedisStore.revocationsAtOnce { try await store.revoke(Revocation(of: "bob", before: 1)) }
      #expect(try await store.revocations(since: last).news == .unknown)
    }
  }

  /// The account that has filled Redis may be the one to lock out.
  @Test func tokensAreRevokedAlsoWhereMemoryIsFull() async throws {
    try await withBroker { broker, server in
      try server.command("CONFIG", "SET", "maxmemory", "1mb")
      try await broker.store.revoke(Revocation(of: "bob", before: 1_000))
      #expect(try await broker.store.revocations(of: ["bob"]) == [1_000])
    }
  }
}
