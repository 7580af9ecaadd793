import BelfryModel
import BelfryStore

// The records of spaces, as lines.
extension World {
  func tableLines(_ spaces: [SpaceID]) async throws -> [String] {
    let tables = spaces.flatMap { space in
      (RecordTable.ofSpace + cast.channels(of: space).flatMap { RecordTable.of($0) }).map {
        TableAddress(space, $0)
      }
    }
    var lines: [String] = []
    for (table, count) in zip(tables, try await store.counts(tables)) where count > 0 {
      // Small pages, so that most tables have several.
      let records = try await allPages(of: table, limit: 3)
      guard records.count == count else { throw Broken("\(table): \(records.count) of \(count)") }
      for (field, text) in records {
        lines.append("\(table.space) \(table.table.name) \(try words(field, text, of: table.table))")
      }
    }
    return lines.sorted()
  }

  func allPages(of table: TableAddress, limit: Int = 100) async throws -> [String: String] {
    var records: [String: String] = [:]
    var cursor: PageCursor?
    var pages = 0
    repeat {
      let page = try await store.page(of: table, after: cursor, limit: limit)
      for record in page.records { records[record.field] = record.text }
      cursor = page.next
      pages += 1
      guard pages < 1_000 else { throw Broken("\(table.space) \(table.table.name) has no end") }
    } while cursor != nil
    return records
  }

  private func words(_ field: String, _ text: String, of table: RecordTable) throws -> String {
    switch table {
    case .roster, .former:
      guard let record = MemberRecord(text: text) else { throw Broken(text) }
      return "\(field) \(record.role) \(shape(record))"
    case .updates:
      guard let id = MessageID(field) else { throw Broken(text) }
      return "\(try words(id)) \(try timeless(text))"
    default: return "\(field) \(try timelessRecord(text))"
    }
  }

  /// A time, an id, JSON, or a time and JSON.
  private func timelessRecord(_ text: String) throws -> String {
    if text.hasPrefix("{") { return try timeless(text) }
    if MessageID(streamForm: text) != nil { return "an id" }
    guard let expiring = ExpiringText(text: text) else { return text }
    return "a time" + (expiring.rest.isEmpty ? "" : " and \(try timelessRecord(expiring.rest))")
  }

  /// How many stays and subscriptions, and whether the last one lasts. Their ends are ids, which the feeds
  /// put to the test.
  private func shape(_ record: MemberRecord) -> String {
    func shape(_ intervals: Intervals) -> String {
      "\(intervals.all.count)\(intervals.current == nil ? "" : "+")"
    }
    let membership = record.membership
    let all = [membership.intervals, membership.subscription, membership.stopped.intervals].map(shape)
    let channels = membership.channels.sorted { $0.key < $1.key }.map { id, channel in
      " \(id):\([channel.intervals, channel.subscription, channel.allowed, channel.blocked.intervals].map(shape).joined(separator: "/"))"
    }
    var words = all + channels
    if record.rights.mutedUntilMilliseconds != nil { words.append("muted") }
    if record.rights.isAllowListed { words.append("allowed") }
    return (words + record.channelMutes.keys.sorted().map { "muted in \($0)" }).joined(separator: " ")
  }
}
