import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryRedis
@testable import BelfryStore

@Suite struct PagingTests {
  private static let table = TableAddress(space, .roster)

  @Test(arguments: [0, 1, 20, 128, 129, 700, 5_000], [1, 7, 100])
  func everyRecordIsOnOnePage(count: Int, limit: Int) async throws {
    guard count / limit <= 1_000 else { return }
    try await withBroker { broker, _ in
      try await broker.fill(0..<count)
      let pages = try await broker.pages(limit: limit)
      #expect(pages.allSatisfy { $0.records.count <= limit })
      let fields = pages.flatMap(\.records).map(\.field)
      #expect(fields.count == count)
      #expect(Set(fields) == Set((0..<count).map { "member\($0)" }))
      #expect(pages.flatMap(\.records).allSatisfy { $0.text == "of \($0.field)" })
    }
  }

  /// Between any two pages some members join and some leave, so that the table grows, shrinks and changes its
  /// encoding. A member who is there all the time must be found, on any page.
  @Test(arguments: 1...12)
  func whoIsThereThroughoutIsFound(seed: UInt64) async throws {
    try await withBroker { broker, _ in
      var random = SeededGenerator(seed: seed)
      let stays = random.pick([5, 60, 300])
      try await broker.fill(0..<stays)
      var comers = stays..<stays
      var found: Set<String> = []
      var cursor: PageCursor?
      repeat {
        let limit = random.pick([1, 3, 20])
        let page = try await broker.store.page(of: Self.table, after: cursor, limit: limit)
        #expect(page.records.count <= limit)
        #expect(Set(page.records.map(\.field)).count == page.records.count)
        found.formUnion(page.records.map(\.field))
        cursor = page.next
        if random.oneIn(3) {
          try await broker.remove(comers)
          comers = comers.upperBound..<comers.upperBound + random.pick([0, 3, 200, 1_500])
          try await broker.fill(comers)
        }
      } while cursor != nil
      let missed = (0..<stays).map { "member\($0)" }.filter { !found.contains($0) }
      #expect(missed == [])
    }
  }

  @Test(arguments: [
    "", "x", "-1", "01", "+1", "1~", "1~2", "1~2.3", "1~0.3.a", "1~x.3.a", "1~2.x.a", "18446744073709551616",
    "1~99999999999.3.a", "0~1001.0.zzzz", "0~2147483647.0.zzzz", "1.2", "1~1.1.a~1.1.a~1.1.a~1.1.a~1.1.a",
    "🔔", "after bob",
  ])
  func aForeignCursorIsRefused(text: String) async throws {
    try await withBroker { broker, _ in
      _ = try await broker.pages(limit: 1)
      for text in [text, broker.store.scanMark(of: layout.partition(of: space)) + "." + text] {
        let error = await #expect(throws: StoreError.self) {
          try await broker.store.page(of: Self.table, after: PageCursor(text: text), limit: 10)
        }
        #expect(error?.code == .badCursor)
      }
    }
  }

  /// The process that is started again goes through its tables in another order: what a cursor of the one before
  /// leads to would be a part of the rest.
  @Test(arguments: [7, 100, 1_000]) func aCursorFromBeforeARestartIsRefused(limit: Int) async throws {
    var options = RedisServer.Options.debuggable
    options.appendOnly = .always
    try await withBroker(Limits(), options) { broker, redis in
      try await broker.fill(0..<3_000)
      var cursor: PageCursor?
      for _ in 0..<2 {
        cursor = try await broker.store.page(of: Self.table, after: cursor, limit: limit).next
      }
      let old = try #require(cursor)
      await redis.stop()
      try await redis.start()
      try await broker.eventually { $0.store.state == .ready }
      let error = await #expect(throws: StoreError.self) {
        try await broker.store.page(of: Self.table, after: old, limit: limit)
      }
      #expect(error?.code == .badCursor)
      let all = try await broker.pages(limit: limit).flatMap(\.records).map(\.field)
      #expect(Set(all) == Set((0..<3_000).map { "member\($0)" }))
      #expect(all.count == 3_000)
    }
  }

  /// Another broker on the same Redis goes on where the first one ended.
  @Test func aCursorIsGoodOnAnyBroker() async throws {
    try await withBroker { broker, redis in
      try await broker.fill(0..<300)
      let first = try await broker.store.page(of: Self.table, after: nil, limit: 100)
      try await withBroker(of: redis) { other in
        let second = try await other.store.page(of: Self.table, after: first.next, limit: 1_000)
        #expect(second.next == nil)
        #expect(Set((first.records + second.records).map(\.field)).count == 300)
      }
    }
  }

  /// In the middle of it the process is another one, as far as the store knows: all is read again, and given once.
  @Test func whatIsNeededWholeIsReadAgain() async throws {
    try await withBroker { broker, redis in
      try await broker.fill(0..<3_000)
      async let reading = broker.fields(perPage: 1)
      try await broker.meetAnotherProcess(of: redis, afterScans: 50)
      let fields = try await reading
      #expect(fields.count == 3_000)
      #expect(Set(fields).count == 3_000)
      #expect(try redis.calls()["hscan"] ?? 0 > 3_040)
    }
  }

  @Test func aWalkStartsOverInAnotherProcess() {
    var hashScan = HashScan()
    var taken = [hashScan.take("5", of: "a"), hashScan.take("9", of: "a")]
    #expect(taken == [true, true] && hashScan.cursor == "9")
    taken = [hashScan.take("0", of: "b")]
    #expect(taken == [false] && hashScan.cursor == "0")
    taken = [hashScan.take("3", of: "b"), hashScan.take("0", of: "b")]
    #expect(taken == [true, true] && hashScan.cursor == "0")
  }

  @Test func cursorsAreReadBack() {
    var scan = TableScan()
    #expect(TableScan(text: scan.text) == scan)
    scan.cursor = .max
    #expect(TableScan(text: scan.text) == scan)
    scan = scan.isCut(after: "a.b.c", count: 100, next: 0)
    #expect(scan.text == "18446744073709551615~100.0.a.b.c")
    #expect(TableScan(text: scan.text) == scan)
    scan = scan.isCut(after: "b", count: 3, next: 1)
    #expect(scan.text == "18446744073709551615~100.0.a.b.c~3.1.b")
    #expect(TableScan(text: scan.text) == scan)
  }

  @Test func aStepDoneAgainGoesOnAfterItsCut() {
    let fields = ["a", "b", "c"].map { (field: $0, text: "") }
    var scan = TableScan()
    #expect(scan.rest(of: fields, next: 4).map(\.field) == ["a", "b", "c"])
    scan = scan.isCut(after: "a", count: 2, next: 4)
    #expect(scan.rest(of: fields, next: 4).map(\.field) == ["b", "c"])
    // Redis counts with the bits reversed: 2 comes before 6, 6 before 1.
    #expect(scan.rest(of: fields, next: 8).map(\.field) == ["b", "c"])
    #expect(scan.rest(of: fields, next: 2).map(\.field) == ["a", "b", "c"])
    #expect(scan.rest(of: fields, next: 0).map(\.field) == ["a", "b", "c"])
    // A shorter step does not lift the cut, the whole one does.
    #expect(scan.ended(next: 8)?.text == "8~2.4.a")
    #expect(scan.ended(next: 4)?.text == "4")
    #expect(scan.ended(next: 2)?.text == "2")
    #expect(scan.ended(next: 0) == nil)
  }

  @Test func aPartOfACutStepHasACutOfItsOwn() {
    let fields = ["a", "b", "c", "d"].map { (field: $0, text: "") }
    let outer = TableScan().isCut(after: "a", count: 9, next: 0)
    let inner = outer.isCut(after: "c", count: 1, next: 8)
    #expect(inner.text == "0~9.0.a~1.8.c" && inner.count == 1)
    #expect(inner.rest(of: fields, next: 8).map(\.field) == ["d"])
    // The fields after the part were never cut at `c`.
    let after = inner.ended(next: 8)
    #expect(after?.text == "8~9.0.a")
    #expect(after?.rest(of: fields, next: 4).map(\.field) == ["b", "c", "d"])
    #expect(inner.isCut(after: "d", count: 1, next: 8).text == "0~9.0.a~1.8.d")
  }

  @Test func theOutermostCutsAreForgotten() {
    var scan = TableScan()
    for end in [0, 1, 2, 4, 8, 16] as [UInt64] { scan = scan.isCut(after: "a", count: 1, next: end) }
    #expect(scan.text == "0~1.2.a~1.4.a~1.8.a~1.16.a")
  }
}

extension Broker {
  func fields(perPage limit: Int) async throws -> [String] {
    try await store.everyRecord(of: TableAddress(space, .roster), perPage: limit).map(\.field)
  }

  /// Once so many steps of scans have been made, the connection leads to another process.
  func meetAnotherProcess(of redis: RedisServer, afterScans scans: Int) async throws {
    try await eventually { _ in try redis.calls()["hscan"] ?? 0 >= scans }
    for node in store.redis.nodes.values { node.process = "another" }
  }

  private func command(_ name: String, _ numbers: Range<Int>, _ words: (Int) -> [String]) async throws {
    if numbers.isEmpty { return }
    try await command([name, layout.table(TableAddress(space, .roster)).text] + numbers.flatMap(words))
  }

  func fill(_ numbers: Range<Int>) async throws {
    try await command("HSET", numbers) { ["member\($0)", "of member\($0)"] }
  }

  func remove(_ numbers: Range<Int>) async throws {
    try await command("HDEL", numbers) { ["member\($0)"] }
  }

  func pages(limit: Int) async throws -> [RecordPage] {
    var pages: [RecordPage] = []
    var cursor: PageCursor?
    repeat {
      let page = try await store.page(of: TableAddress(space, .roster), after: cursor, limit: limit)
      pages.append(page)
      cursor = page.next
    } while cursor != nil
    return pages
  }
}
