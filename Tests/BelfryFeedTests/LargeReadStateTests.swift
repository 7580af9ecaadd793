import BelfryModel
import BelfryRedis
import ModelSamples
import TestKit
import Testing

@testable import BelfryFeed
@testable import BelfryStore

/// The questions that pages, counts, marks and `explain` ask the store depend on the entries they look at. Earlier marks of the
/// account cost nothing.
@Suite struct LargeReadStateTests {
  private static let bob: AccountID = "bob"
  private static let server: EntityID = 14

  /// The commands that Redis was sent, and how much it answered, in bytes.
  private struct Cost {
    var calls: [String: Int]
    var bytes: Int
  }

  @Test func questionsDoNotGrowWithMarks() async throws {
    try await withRedisServer { redis in
      try await withReader(of: redis.url) { reader, store in
        let ids = try await sendToServer(30, by: store)
        #expect(try await reader.markRead(account: Self.bob, device: nil, items: Array(ids[..<10])) == 10)
        let few = try await cost(of: ids, reader, redis)
        #expect(few.calls["smismember", default: 0] > 0, "\(few)")
        let key = store.layout.read(of: Self.bob)
        for batch in 0..<60 as Range<Int64> {
          let others = (1...1_000 as ClosedRange<Int64>).map { "\(ids[29].raw + batch * 1_000 + $0)" }
          try redis.command(["SADD", key] + others)
        }
        let many = try await cost(of: ids, reader, redis)
        #expect(try redis.command("SCARD", key) == "60010")
        #expect(many.calls == few.calls)
        // Times and the like differ by some digits. All marks have more than a million bytes.
        #expect(abs(many.bytes - few.bytes) < 1_000, "\(few) and \(many)")
      }
    }
  }

  private func cost(of ids: [MessageID], _ other: FeedReader, _ redis: RedisServer) async throws -> Cost {
    // One that has read nothing yet, and keeps nothing that saves it a question.
    let reader = FeedReader(store: other.store, limits: other.limits, loop: other.loop, scope: other.scope)
    try redis.command("CONFIG", "RESETSTAT")
    let page = try await reader.page(for: Self.bob, after: nil, limit: 100)
    #expect(page.notifications.map(\.id) == Array(ids[10...]))
    let next = try await reader.page(for: Self.bob, after: page.cursor, limit: 100)
    #expect(next.notifications.isEmpty)
    #expect(try await reader.count(for: Self.bob).counts.unread == 20)
    #expect(try await reader.markRead(account: Self.bob, device: nil, items: [ids[0]]) == 0)
    #expect(try await reader.explain(ids[0], account: Self.bob).reason == "read")
    #expect(try await reader.explain(ids[10], account: Self.bob).visible)
    var cost = Cost(calls: [:], bytes: 0)
    let names: Set = [
      "hget", "hmget", "hgetall", "smembers", "smismember", "sscan", "scard", "sismember", "xrange",
    ]
    for line in try redis.command("INFO", "everything").split(whereSeparator: \.isNewline) {
      if line.hasPrefix("total_net_output_bytes:") { cost.bytes = Int(line.drop { !$0.isNumber }) ?? 0 }
      guard line.hasPrefix("cmdstat_"), let colon = line.firstIndex(of: ":") else { continue }
      let name = String(line[..<colon].dropFirst("cmdstat_".count))
      let count = line[colon...].dropFirst(":calls=".count).prefix { $0.isNumber }
      if names.contains(name) { cost.calls[name] = Int(count) }
    }
    return cost
  }

  /// Between the snapshot and the fetching of entries, marks are made, and some move under a watermark and out of the set.
  @Test func whatIsMarkedWhileAPageIsReadIsHidden() async throws {
    try await withRedisServer { redis in
      try await withReader(of: redis.url) { reader, store in
        let ids = try await sendToServer(6, by: store)
        #expect(try await reader.markRead(account: Self.bob, device: nil, items: [ids[0], ids[5]]) == 2)
        let snapshot = try await FeedSnapshot.take(of: Self.bob, from: store)
        #expect(try await reader.markRead(account: Self.bob, device: nil, items: [ids[1]]) == 1)
        #expect(try await reader.markRead(account: Self.bob, device: nil, upTo: ids[2]) == 1)
        #expect(try redis.command("SCARD", store.layout.read(of: Self.bob)) == "1")
        let page = try await reader.page(of: snapshot, after: nil, limit: 100)
        #expect(page.notifications.map(\.id) == [ids[3], ids[4]])
        #expect(try await reader.count(in: snapshot).counts.unread == 2)
      }
    }
  }

  /// Servers of several partitions, more entries than one question has, and marks of every other one.
  @Test func marksInSeveralPartitions() async throws {
    try await withRedisServer { redis in
      try await withReader(of: redis.url) { reader, store in
        var ids: [MessageID] = []
        for server in [14, 15, 16] as [EntityID] {
          ids += try await sendToServer(401, server, by: store)
        }
        #expect(Set(ids.map(\.partition)).count == 3)
        ids.sort()
        let marked = ids.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
        #expect(try await reader.markRead(account: Self.bob, device: nil, items: marked) == marked.count)
        let left = ids.filter { !marked.contains($0) }
        #expect(try await reader.count(for: Self.bob).counts.unread == left.count)
        var (shown, cursor): ([MessageID], FeedCursor?) = ([], nil)
        while true {
          let page = try await reader.page(for: Self.bob, after: cursor, limit: 150)
          if page.notifications.isEmpty { break }
          shown += page.notifications.map(\.id)
          cursor = page.cursor
        }
        #expect(shown == left)
        // As many ids as one question has, and one more.
        for count in [1_000, 1_001] {
          let read = try await store.readState(of: Self.bob, among: Array(ids.suffix(count)))
          #expect(read.above == Set(marked).intersection(ids.suffix(count)))
        }
      }
    }
  }

  /// Sends to all members of a new server. Bob is a member.
  private func sendToServer(
    _ count: Int, _ server: EntityID = server, by store: RedisStore
  ) async throws -> [MessageID] {
    let space = SpaceID.server(server)
    var joining = Transaction(space)
    joining.changes[.member(Self.bob, of: space)] = .some("m 0-0")
    joining.indexChanges = [IndexChange(.joined, [Self.bob])]
    _ = try await store.commit(joining)
    for partition in try await store.partitionsToRelay() { try await store.relayOutbox(of: partition) }
    let content = NotificationContent(type: Catalogue.custom.code, toType: .server)
    var sending = Transaction(space)
    sending.announcements = Array(repeating: Announcement(content, to: Audience(.all)), count: count)
    guard case .committed(let commit) = try await store.commit(sending) else { return [] }
    return commit.ids
  }
}
