import BelfryFeed
import BelfryHTTP
import BelfryInterface
import BelfryModel
import BelfryStore

/// Shows operators the log of a server: everything that happened in the server and its channels, for all receivers.
enum ServerLog {
  static let handlers: [Handler] = [OperatorRoutes.serverLog.handled(by: page)]

  private enum Start {
    case cursor(LogCursor)
    /// So many entries before the end.
    case last(Int)
    case oldest
  }

  private struct Reading {
    var page: ServerLogPage
    var cursor: LogCursor
    var gap: FeedGap?
  }

  private static func page(
    _ request: Request, _ services: LoopServices, server: EntityID, limit: Int, after cursor: LogCursor?,
    last: Int?
  ) async throws(Refusal) -> HTTPResponse {
    guard cursor == nil || last == nil else {
      throw .invalid("last", "cannot be combined with after; give only one of them")
    }
    let start = cursor.map { Start.cursor($0) } ?? last.map { Start.last($0) } ?? .oldest
    let space = SpaceID.server(server)
    _ = try await services.records([.settings(space)]).settings(ServerRecord.self, space)
    let found = try await reading { () async throws(StoreError) in
      try await read(space, from: start, limit: limit, services.administration)
    }
    var text = JSONText(capacity: 1_024 * (found.page.rows.count + 1))
    text.field("entries", json: found.page.json(history: found.cursor.history))
    text.field("cursor", found.cursor.text)
    text.appendGap(found.gap)
    return .json(text)
  }

  private static func read(
    _ space: SpaceID, from start: Start, limit: Int, _ store: RedisStore
  ) async throws(StoreError) -> Reading {
    let history = store.history
    // Before the end: an entry that is appended in between is then not counted. Its reader may be told of a gap in which
    // nothing was, and never misses an entry in silence.
    let extent = try await store.extent(ofLogOf: space)
    let end = try await store.ends(of: [space])[0]
    var (place, gap) = try await place(of: start, in: space, end, store)
    var page = ServerLogPage(after: place)
    var first: MessageID?
    while page.rows.count < limit, place < end.appended {
      let wanted = limit - page.rows.count
      let request = LogRequest(space, after: place, through: end.appended, limit: wanted)
      let entries = try await store.entries([request])[0]
      for entry in entries { page.add(entry) }
      first = first ?? entries.first?.id
      place = entries.count < wanted ? end.appended : entries.last?.id ?? end.appended
    }
    if case .cursor(let cursor) = start, cursor.place < end.appended,
      try await mayMiss(after: cursor, space, store)
    {
      let next = first?.predecessor ?? end.appended
      if cursor.place < next { gap.extend(from: cursor.place, to: next) }
    }
    // The end of this log and not of its partition, so that the next page can ask whether this entry is still there.
    let isComplete = place >= end.appended
    let cursor = LogCursor(
      place: min(place, end.appended), appendedCount: isComplete ? extent.appendedCount : nil,
      history: history)
    return Reading(page: page, cursor: cursor, gap: gap)
  }

  /// The id before the first entry of a page, and the ids that the store has lost since it gave the cursor.
  private static func place(
    of start: Start, in space: SpaceID, _ end: LogEnd, _ store: RedisStore
  ) async throws(StoreError) -> (MessageID, FeedGap?) {
    switch start {
    case .oldest: return (.zero, nil)
    case .last(let count): return (try await store.place(beforeLast: count, inLogOf: space), nil)
    case .cursor(let cursor):
      let kept = FeedSnapshot.Bound(end).lastKept(before: cursor.place, of: cursor.history)
      guard let kept else { return (cursor.place, nil) }
      return (kept, FeedGap(from: kept, to: cursor.place))
    }
  }

  /// Asked after the entries were read, so that every trim before that is noticed.
  private static func mayMiss(
    after cursor: LogCursor, _ space: SpaceID, _ store: RedisStore
  ) async throws(StoreError) -> Bool {
    let request = LogRequest(space, after: cursor.place.predecessor, through: cursor.place, limit: 1)
    let isPlaceKept = try await store.entries([request])[0].isEmpty == false
    let extent = try await store.extent(ofLogOf: space)
    let lostThrough = try await store.ends(of: [space])[0].lostThrough
    return cursor.mayMissEntries(
      isPlaceKept: isPlaceKept, trimmedCount: extent.trimmedCount, lostThrough: lostThrough)
  }
}
