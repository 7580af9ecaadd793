import BelfryModel
import BelfryStore

// A server's records, as lines.
extension World {
  func serverLines(_ space: SpaceID) async throws -> [String] {
    var lines: [String] = []
    var tables: [RecordTable] = [.settings, .roster, .former, .channels, .amendments]
    tables += cast.channels.map { .channelRoster($0) }
    let counts = try await store.counts(tables.map { TableAddress(space, $0) })
    for (table, count) in zip(tables, counts) {
      let records = try await allPages(of: TableAddress(space, table))
      guard records.count == count else {
        throw Broken("\(space) \(table.name): \(records.count) of \(count)")
      }
      for (field, text) in records {
        lines.append("\(space) \(table.name) \(try words(field, text, of: table))")
      }
    }
    return lines.sorted()
  }

  private func allPages(of table: TableAddress) async throws -> [String: String] {
    var records: [String: String] = [:]
    var cursor: PageCursor?
    var pages = 0
    repeat {
      let page = try await store.page(of: table, after: cursor, limit: 3)
      for record in page.records { records[record.field] = record.text }
      cursor = page.next
      pages += 1
      guard pages < 1_000 else { throw Broken("\(table.space) \(table.table.name) has no end") }
    } while cursor != nil
    return records
  }

  private func words(_ field: String, _ text: String, of table: RecordTable) throws -> String {
    switch table {
    case .settings:
      guard var server = RecordJSON.value(ServerRecord.self, text) else { throw Broken(text) }
      server.createdAt = 0
      server.removedAt = server.removedAt.map { _ in 0 }
      return try RecordJSON.text(server)
    case .channels:
      guard var channel = RecordJSON.value(ChannelRecord.self, text) else { throw Broken(text) }
      channel.createdAt = 0
      return "\(field) \(try RecordJSON.text(channel))"
    case .roster, .former:
      guard let record = MemberRecord(text: text) else { throw Broken(text) }
      return "\(field) \(record.role) \(shape(record.standing))"
    case .channelRoster, .channelMuted, .channelAllowed, .channelBlocked, .muted, .allowed, .banned, .presence,
      .hands, .requests, .codes, .profiles, .files:
      return field
    case .amendments:
      guard var amendment = RecordJSON.value(AmendmentRecord.self, text), let id = MessageID(field) else {
        throw Broken(text)
      }
      amendment.updateTime = 0
      return "\(try words(id)) \(try RecordJSON.text(amendment))"
    }
  }

  /// How many stays and subscriptions, and whether the last one lasts. Their ends are ids, which the feeds
  /// put to the test.
  private func shape(_ standing: Standing) -> String {
    func shape(_ intervals: Intervals) -> String {
      "\(intervals.all.count)\(intervals.current == nil ? "" : "+")"
    }
    let channels = standing.channels.sorted { $0.key < $1.key }
    return "\(shape(standing.belonging)) \(shape(standing.subscription))"
      + channels.map { " \($0.key):\(shape($0.value.belonging))/\(shape($0.value.subscription))" }.joined()
  }
}
