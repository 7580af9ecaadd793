import BelfryModel
import BelfryRedis

extension RedisStore {
  /// Records read from a table in one step. A small table comes as a whole, of some hundreds.
  private static let scanStep = 100
  /// The number of tables that are read side by side. One step of all of them gives some hundreds of
  /// kilobytes at most.
  private static let scansAtOnce = 16
  /// Records removed in one call.
  private static let removalsPerCall = 200

  /// Reads the tables a step at a time, lets the model judge each record, and removes those that are over.
  /// - Parameter channels: those of servers, as far as they are known.
  func removeRecordsThatAreOver(
    from tables: [TableAddress], _ bounds: SweepBounds, _ channels: [SpaceID: ExistingChannels]
  ) async throws(StoreError) {
    var rest = tables[...]
    while !rest.isEmpty {
      var underWay = rest.prefix(Self.scansAtOnce).map { (table: $0, cursor: "0") }
      rest = rest.dropFirst(Self.scansAtOnce)
      while !underWay.isEmpty {
        let replies = try await pipeline(
          underWay.map {
            RedisCommand("HSCAN", layout.table($0.table), $0.cursor, "COUNT", Self.scanStep)
          },
          at: "sweep")
        var removals: [RedisCommand] = []
        var further: [(table: TableAddress, cursor: String)] = []
        for ((table, _), reply) in zip(underWay, replies) {
          let (next, records) = try reading(at: "sweep \(table.space)") { () throws(RedisError) in
            try reply.scanned()
          }
          let over = records.filter { table.table.isOver($0.1, bounds, channels[table.space]) }
          for first in stride(from: 0, to: over.count, by: Self.removalsPerCall) {
            removals.append(
              removal(of: over[first..<min(first + Self.removalsPerCall, over.count)], from: table))
          }
          if next != "0" { further.append((table, next)) }
        }
        _ = try await checked(removals, at: "sweep")
        underWay = further
      }
    }
  }

  /// The call that removes those records that still have these texts.
  func removal(of records: ArraySlice<(String, String)>, from table: TableAddress) -> RedisCommand {
    var call = layout.call(.removeUnchanged, in: layout.partition(of: table.space))
    call.append(table.space.key)
    call.append(table.table.name)
    for (field, text) in records {
      call.append(field)
      call.append(text)
    }
    return call
  }
}
