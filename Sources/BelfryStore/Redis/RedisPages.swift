import BelfryBytes
package import BelfryModel
import BelfryRedis

extension RedisStore {
  /// Steps for one page. A table that many records have left is sparse until Redis shrinks it; a page that finds little
  /// in so many steps is short rather than slow.
  private static let stepsPerPage = 16

  package func page(of table: TableAddress, after cursor: PageCursor?, limit: Int) async throws(StoreError)
    -> RecordPage
  {
    let place = "page \(table.space) \(table.table.name)"
    var (mark, scan): (UTF8Text?, TableScan) = (nil, TableScan())
    if let cursor {
      guard let found = ScanPlace(text: cursor.text) else {
        throw StoreError(.badCursor, "it is not a cursor of this store", at: place)
      }
      (mark, scan) = (found.mark, found.scan)
    }
    let limit = max(1, limit)
    var page = RecordPage(records: [], next: nil)
    var seen: Set<UTF8Text> = []
    for _ in 0..<Self.stepsPerPage {
      let missing = limit - page.records.count
      let count = scan.count ?? missing
      let command = RedisCommand("HSCAN", layout.table(table), scan.cursor, "COUNT", count)
      let (reply, process) = try await scanStep(command, in: layout.partition(of: table.space), at: place)
      guard let process = process.map({ UTF8Text($0) }), mark == nil || mark == process else {
        // The records so far are void, and so is the cursor that the page began at.
        if cursor == nil { return try await self.page(of: table, after: nil, limit: limit) }
        throw StoreError(
          .badCursor, "Redis was restarted after it gave this cursor: begin again without a cursor", at: place
        )
      }
      mark = process
      let (next, fields) = try reading(at: place) { () throws(RedisError) in try reply.scannedPage() }
      var step = scan.rest(of: fields, next: next).filter { seen.insert(UTF8Text($0.field)).inserted }
      if step.count > missing {
        step.sort { UTF8Text($0.field) < UTF8Text($1.field) }
        page.records += step.prefix(missing)
        let last = step[missing - 1].field
        page.next =
          ScanPlace(process, scan.isCut(after: last, count: count, next: next)).cursor
        return page
      }
      page.records += step
      guard let rest = scan.ended(next: next) else { return page }
      scan = rest
      if page.records.count == limit { break }
    }
    page.next = mark.map { ScanPlace($0, scan).cursor }
    return page
  }
}

/// The place where a listing goes on, and the process of Redis that it is valid for: `<mark>.<scan>`.
struct ScanPlace: Hashable {
  var mark: UTF8Text
  var scan: TableScan

  init(_ mark: UTF8Text, _ scan: TableScan) {
    self.mark = mark
    self.scan = scan
  }

  var cursor: PageCursor { PageCursor(text: "\(mark).\(scan.text)") }

  /// Nil when `text` was not made by ``cursor``.
  init?(text: String) {
    let parts = text.parts(between: ".", most: 2)
    guard parts.count == 2, !parts[0].isEmpty, let scan = TableScan(text: String(parts[1])) else {
      return nil
    }
    self.init(UTF8Text(parts[0]), scan)
  }
}

extension RedisReply {
  fileprivate func scannedPage() throws(RedisError) -> (UInt64, [(field: String, text: String)]) {
    let (next, fields) = try scanned()
    guard let cursor = UInt64(next) else {
      throw RedisError(.unexpectedReply, cause: "expected a scan's cursor", place: "reply")
    }
    return (cursor, fields.map { (field: $0.0, text: $0.1) })
  }
}
