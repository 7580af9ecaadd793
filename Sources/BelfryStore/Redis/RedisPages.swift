package import BelfryModel
import BelfryRedis

extension RedisStore {
  /// Steps for one page. A table that many have left is mostly holes until Redis makes it smaller; a page
  /// that finds little in so many steps comes short rather than late.
  private static let stepsPerPage = 16

  package func page(of table: TableAddress, after cursor: PageCursor?, limit: Int) async throws(StoreError)
    -> RecordPage
  {
    let place = "page \(table.space) \(table.table.name)"
    var scan = TableScan()
    if let cursor {
      guard let place = TableScan(text: cursor.text) else {
        throw StoreError(.badCursor, "no cursor of this store", at: place)
      }
      scan = place
    }
    let limit = max(1, limit)
    var page = RecordPage(records: [], next: nil)
    var seen: Set<String> = []
    for _ in 0..<Self.stepsPerPage {
      let missing = limit - page.records.count
      let count = scan.count ?? missing
      let command = RedisCommand("HSCAN", RedisLayout.table(table), scan.cursor, "COUNT", count)
      let reply = try await pipeline([command], at: place)[0]
      let (next, fields) = try reading(at: place) { () throws(RedisError) in try reply.scannedPage() }
      var step = scan.rest(of: fields, next: next).filter { seen.insert($0.field).inserted }
      if step.count > missing {
        step.sort { $0.field < $1.field }
        page.records += step.prefix(missing)
        let last = step[missing - 1].field
        page.next = PageCursor(text: scan.isCut(after: last, count: count, next: next).text)
        return page
      }
      page.records += step
      guard let rest = scan.ended(next: next) else { return page }
      scan = rest
      if page.records.count == limit { break }
    }
    page.next = PageCursor(text: scan.text)
    return page
  }
}

extension RedisReply {
  fileprivate func scannedPage() throws(RedisError) -> (UInt64, [(field: String, text: String)]) {
    let (next, fields) = try scanned()
    guard let cursor = UInt64(next) else {
      throw RedisError(.unexpectedReply, cause: "wanted a scan's cursor", place: "reply")
    }
    return (cursor, fields.map { (field: $0.0, text: $0.1) })
  }
}
