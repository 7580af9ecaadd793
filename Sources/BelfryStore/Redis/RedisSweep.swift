package import BelfryModel
import BelfryRedis

extension RedisStore {
  /// Members taken out of a removed server's roster in one step.
  private static let rosterStep = 200

  /// Walks through the partition in steps that Redis does not feel; what comes meanwhile, or is left
  /// because this broker dies, the next sweep finds.
  package func sweep(_ partition: Partition) async throws(StoreError) {
    let floor = limits.retentionFloor(nowMilliseconds: try await nowMilliseconds())
    var dedupe = RedisCommand(calling: .sweepDedupe, in: partition)
    dedupe.append(limits.dedupeWindowMilliseconds)
    _ = try await checked([dedupe], at: "sweep \(partition.number)")
    try await scanClock(of: partition) { (page: [ClockField]) throws(StoreError) in
      try await self.sweepAccounts(page.map(\.space), floor)
      try await self.sweepSpaces(page, floor)
    }
  }

  // MARK: Accounts

  private func sweepAccounts(_ spaces: [SpaceID], _ floor: MessageID) async throws(StoreError) {
    let accounts = spaces.filter { $0.kind == .account }
    try await walk(.sweepIndex, accounts, named: \.name, until: floor.streamForm)
    try await walk(.sweepRead, accounts, named: \.name, until: floor.text)
  }

  // MARK: Spaces

  private func sweepSpaces(_ page: [ClockField], _ floor: MessageID) async throws(StoreError) {
    let calls = page.map { field in
      var call = RedisCommand(calling: .sweepSpace, in: field.space.partition)
      call.append(field.space.key)
      call.append(floor.streamForm)
      call.append(limits.entriesPerSpace)
      return call
    }
    let replies = try await checked(calls, at: "sweep spaces")
    for (field, reply) in zip(page, replies) {
      let state = try reading(at: "sweep \(field.space)") { () throws(RedisError) in try SweptSpace(reply) }
      if state.isOver {
        try await retire(field)
        continue
      }
      if state.formerMembers > 0 {
        try await walk(.sweepFormer, [field.space], named: \.key, until: floor.streamForm)
      }
      if state.amendments > 0 {
        try await walk(.sweepAmendments, [field.space], named: \.key, until: max(floor, state.first).text)
      }
    }
  }

  /// A removed space of which nothing is left to see. Its members' indexes still name it: they are told
  /// first, from the roster, which goes only afterwards; so whoever is interrupted can begin again.
  private func retire(_ field: ClockField) async throws(StoreError) {
    let place = "retire \(field.space)"
    let roster = RedisLayout.table(TableAddress(field.space, .roster))
    var cursor = "0"
    repeat {
      let scan = RedisCommand("HSCAN", roster, cursor, "COUNT", Self.rosterStep)
      let reply = try await pipeline([scan], at: place)[0]
      let (next, members) = try reading(at: place) { () throws(RedisError) in try reply.scanned() }
      cursor = next
      let accounts = members.compactMap { AccountID($0.0) }
      try await relay(IndexChange(.left, accounts), of: field.space, version: field.last)
    } while cursor != "0"
    var drop = RedisCommand(calling: .dropSpace, in: field.space.partition)
    drop.append(field.space.key)
    _ = try await checked([drop], at: place)
  }

  // MARK: Steps

  /// Repeats a step for each space until its scan is at the end.
  private func walk(
    _ step: StoreFunction, _ spaces: [SpaceID], named name: KeyPath<SpaceID, String>, until floor: String
  ) async throws(StoreError) {
    var rest = spaces.map { (space: $0, cursor: "0") }
    while !rest.isEmpty {
      let calls = rest.map { place in
        var call = RedisCommand(calling: step, in: place.space.partition)
        call.append(place.space[keyPath: name])
        call.append(place.cursor)
        call.append(floor)
        return call
      }
      let replies = try await checked(calls, at: step.rawValue)
      let cursors = try reading(at: step.rawValue) { () throws(RedisError) in
        try replies.map { reply throws(RedisError) in try reply.string() }
      }
      rest = zip(rest, cursors).filter { $1 != "0" }.map { (space: $0.space, cursor: $1) }
    }
  }

  /// The replies of calls none of which may fail.
  private func checked(_ calls: [RedisCommand], at place: String) async throws(StoreError) -> [RedisReply] {
    let replies = try await call(calls, at: place)
    for case .error(let message) in replies { throw StoreError(.unavailable, message, at: place) }
    return replies
  }
}

/// What `sweep_space` found.
private struct SweptSpace {
  /// The first entry left; zero if there is none.
  var first: MessageID
  var formerMembers: Int64
  var amendments: Int64
  var isOver: Bool

  init(_ reply: RedisReply) throws(RedisError) {
    let parts = try reply.array(count: 4)
    first = try parts[0].bytes().isEmpty ? .zero : parts[0].messageID()
    formerMembers = try parts[1].integer()
    amendments = try parts[2].integer()
    isOver = try parts[3].integer() == 1
  }
}
