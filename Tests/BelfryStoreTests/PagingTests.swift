import BelfryModel
import BelfryRedis
import ModelSamples
import RedisFixture
import Testing

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

  /// Between any two pages some come and some go, so that the table grows, shrinks and changes its
  /// encoding. Who is there all the time must be found, on whatever page.
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
    "1~99999999999.3.a", "1.2", "1~1.1.a~1.1.a~1.1.a~1.1.a~1.1.a", "🔔", "after bob",
  ])
  func aForeignCursorIsRefused(text: String) async throws {
    try await withBroker { broker, _ in
      await #expect(throws: StoreError.self) {
        _ = try await broker.store.page(of: Self.table, after: PageCursor(text: text), limit: 10)
      }
    }
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
  private func command(_ name: String, _ numbers: Range<Int>, _ words: (Int) -> [String]) async throws {
    if numbers.isEmpty { return }
    try await command([name, RedisLayout.table(TableAddress(space, .roster)).text] + numbers.flatMap(words))
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
