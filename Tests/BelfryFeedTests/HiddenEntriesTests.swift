import BelfryModel
import BelfryRedis
import ModelSamples
import TestKit
import Testing

@testable import BelfryFeed
@testable import BelfryStore

/// Most of a log may be for others. One account's way through it must not cost much, and the next one's almost nothing.
@Suite struct HiddenEntriesTests {
  private static let members: [AccountID] = ["bob", "carol", "dan"]
  private static let space = SpaceID.server(14)

  @Test func whatOneHasPassedTheNextDoesNotFetch() async throws {
    try await withRedisServer { redis in
      try await withReader(of: redis.url) { reader, store in
        try await join(store)
        let others = Audience(.named, named: ["alice"])
        for _ in 0..<2 { _ = try await append(Array(repeating: others, count: 700), by: store) }
        let last = try await append([Audience(.all)], by: store)
        try redis.command("CONFIG", "RESETSTAT")
        let first = try await reader.page(for: "bob", after: nil, limit: 50)
        #expect(first.notifications.map(\.id) == last)
        #expect(first.entriesRead == 1_401)
        // 50 at a time, these would be 29 round trips.
        #expect(try readings(redis) <= 8)
        for account in ["carol", "dan"] as [AccountID] {
          let next = try await reader.page(for: account, after: nil, limit: 50)
          #expect(next.notifications.map(\.id) == last)
          #expect(next.entriesRead == 2)
          // Its cursor has passed what it did not fetch.
          let place = next.cursor.position(in: Self.space, store.partitions)
          #expect(place == first.cursor.position(in: Self.space, store.partitions))
        }
        // The log goes on, and what was known stays known.
        let more = try await append([others, Audience(.all)], by: store)
        let next = try await reader.page(for: "dan", after: nil, limit: 50)
        #expect(next.notifications.map(\.id) == last + more.suffix(1))
        #expect(next.entriesRead == 4)
        #expect(try await reader.count(for: "carol").counts.unread == 2)
        #expect(try await reader.markRead(account: "bob", device: nil, upTo: .last) == 2)
      }
    }
  }

  /// An account is shown the same by a reader that serves others, too, as by one that knows nothing.
  @Test func everyAccountIsShownWhatIsForIt() async throws {
    try await withRedisServer { redis in
      try await withReader(of: redis.url) { reader, store in
        var random = SeededGenerator(seed: TestEnvironment.seed)
        try await join(store)
        for _ in 0..<12 {
          // Long runs for few, and some for all.
          let named = Self.members[random.below(3)]
          var audiences = Array(
            repeating: Audience(.named, named: [random.oneIn(2) ? named : "alice"]),
            count: random.below(300))
          for _ in 0..<random.below(5) {
            audiences.insert(Audience(.all, except: [named]), at: random.below(audiences.count + 1))
          }
          if !audiences.isEmpty { _ = try await append(audiences, by: store) }
          let limit = 1 + random.below(60)
          for account in Self.members {
            let fresh = FeedReader(
              store: store, limits: reader.limits, loop: reader.loop, scope: reader.scope)
            let expected = try await all(of: account, by: fresh, limit: 500)
            #expect(
              try await all(of: account, by: reader, limit: limit) == expected,
              "seed \(TestEnvironment.seed)")
            #expect(try await reader.count(for: account).counts.unread == expected.count)
          }
        }
      }
    }
  }

  @Test func aLogIsPassedAsFarAsItIsKnown() {
    let hidden = HiddenStretches()
    /// The place of a reader that sees one entry.
    func place(after place: Int, through last: Int, seeing seen: Int = 0, _ now: LogEra) -> MessageID {
      hidden.placePastHidden(after: id(place), through: id(last), in: Self.space, now) { one, _ in
        one == id(seen)
      }
    }
    let (batch, end) = (512, 99_999)
    for start in stride(from: 0, to: 70 * batch, by: batch) {
      let request = LogRequest(Self.space, after: id(start), through: id(end), limit: batch)
      hidden.keepStretch(entries(start + 1...start + batch), of: request, lostThrough: .zero, in: era)
    }
    let known = HiddenStretches.weightPerSpaceMax / batch * batch - batch
    #expect(place(after: 0, through: end, era) == id(known - 1))
    #expect(place(after: known - 7, through: end, era) == id(known - 1))
    #expect(place(after: known, through: end, era) == id(known))
    #expect(place(after: 10, through: 600, era) == id(599))
    #expect(place(after: 10, through: 600, seeing: 100, era) == id(98))
    #expect(place(after: 10, through: 600, seeing: 12, era) == id(10))
    // A log that has lost entries may have others in their place.
    let loss = Rewind(ended: "1", kept: id(5), first: id(700))
    let later = LogEra(LogEnd(allotted: .zero, appended: .zero, rewinds: [loss]))
    #expect(place(after: 0, through: end, later) == id(0))
  }

  /// A reader who passed the trimmed part here would not notice that it missed something.
  @Test(arguments: [(100, 100), (100, 120), (100, 611)])
  func aReaderBeforeATrimFetchesAndNotices(first: Int, lost: Int) {
    let hidden = HiddenStretches()
    let request = LogRequest(Self.space, after: id(0), through: id(9_999), limit: 512)
    hidden.keepStretch(entries(first + 1...first + 512), of: request, lostThrough: id(lost), in: era)
    func place(after place: Int) -> MessageID {
      hidden.placePastHidden(after: id(place), through: id(9_999), in: Self.space, era) { _, _ in false }
    }
    for before in [0, first - 1, lost - 1] { #expect(place(after: before) == id(before)) }
    #expect(place(after: lost) == id(max(lost, first + 511)))
  }

  private let era = LogEra(LogEnd(allotted: .zero, appended: .zero))

  private func id(_ number: Int) -> MessageID {
    MessageID(firstAtUnixMilliseconds: 1_800_000_000_000 + Int64(number))
  }

  private func entries(_ numbers: ClosedRange<Int>) -> [LogEntry] {
    numbers.map { LogEntry(id: id($0), audience: Audience(.named, named: ["alice"]), contentJSON: "{}") }
  }

  private func all(of account: AccountID, by reader: FeedReader, limit: Int) async throws -> [MessageID] {
    var (ids, cursor): ([MessageID], FeedCursor?) = ([], nil)
    while true {
      let page = try await reader.page(for: account, after: cursor, limit: limit)
      if page.notifications.isEmpty { return ids }
      ids += page.notifications.map(\.id)
      cursor = page.cursor
    }
  }

  private func readings(_ redis: RedisServer) throws -> Int {
    let line = try redis.command("INFO", "commandstats").split(whereSeparator: \.isNewline)
      .first { $0.hasPrefix("cmdstat_xrange:") }
    return try #require((line?.drop { $0 != "=" }.dropFirst().prefix { $0.isNumber }).flatMap { Int($0) })
  }

  private func join(_ store: RedisStore) async throws {
    var joining = Transaction(Self.space)
    for account in Self.members { joining.changes[.member(account, of: Self.space)] = .some("m 0-0") }
    joining.indexChanges = [IndexChange(.joined, Self.members)]
    _ = try await store.commit(joining)
    for partition in try await store.partitionsToRelay() { try await store.relayOutbox(of: partition) }
  }

  private func append(_ audiences: [Audience], by store: RedisStore) async throws -> [MessageID] {
    let content = NotificationContent(type: Catalogue.custom.code, toType: .server)
    var sending = Transaction(Self.space)
    sending.announcements = audiences.map { Announcement(content, to: $0) }
    guard case .committed(let commit) = try await store.commit(sending) else { return [] }
    return commit.ids
  }
}
