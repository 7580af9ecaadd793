package import BelfryModel
import BelfryRedis

extension RedisStore {
  /// Members read from a removed space's roster in one step. Those of a large one lie far apart in Redis's
  /// memory: it takes some tenths of a millisecond.
  private static let rosterStep = 200
  /// Members told together. Eight for each partition there is, so that they share the cost of a call; and
  /// neither a megabyte here nor, to be sorted, more than a millisecond of the loop.
  private static let membersAtOnce = 8_000
  /// Keys gone through side by side, each some steps of a hundred records.
  private static let walksAtOnce = 100

  /// Walks through the partition in steps that Redis does not feel; what comes meanwhile, or is left
  /// because this broker dies, the next sweep finds.
  package func sweep(_ partition: Partition) async throws(StoreError) {
    let bounds = SweepBounds(nowMilliseconds: try await nowMilliseconds(), limits)
    var dedupe = RedisCommand(calling: .sweepDedupe, in: partition)
    dedupe.append(limits.dedupeWindowMilliseconds)
    _ = try await checked([dedupe], at: "sweep \(partition.number)")
    try await scanClock(of: partition) { (page: [ClockField]) throws(StoreError) in
      let spaces = page.map(\.space)
      try await self.sweepAccounts(spaces.filter { $0.kind == .account }, bounds)
      try await self.sweepSpaces(spaces, bounds)
    }
  }

  // MARK: Accounts

  private func sweepAccounts(_ spaces: [SpaceID], _ bounds: SweepBounds) async throws(StoreError) {
    let steps: [(StoreFunction, String)] = [
      (.sweepIndex, bounds.floor.streamForm), (.sweepRead, bounds.floor.text),
      (.sweepArrived, String(limits.retentionMilliseconds)),
    ]
    for (step, bound) in steps {
      try await walk(spaces.map { SweepWalk(step, in: $0.partition, through: [$0.name], [bound]) })
    }
  }

  // MARK: Spaces

  private func sweepSpaces(_ spaces: [SpaceID], _ bounds: SweepBounds) async throws(StoreError) {
    let calls = spaces.map { space in
      var call = RedisCommand(calling: .sweepSpace, in: space.partition)
      call.append(space.key)
      call.append(bounds.floor.streamForm)
      call.append(limits.entriesPerSpace)
      call.append(contentsOf: space.kind.countedTables.map(\.name))
      return call
    }
    let replies = try await checked(calls, at: "sweep spaces")
    var walks: [SweepWalk] = []
    var withChannels: [SpaceID] = []
    for (space, reply) in zip(spaces, replies) {
      let state = try reading(at: "sweep \(space)") { () throws(RedisError) in
        try SweptSpace(reply, space.kind)
      }
      if state.isOver {
        try await retire(space)
        continue
      }
      for table in space.kind.sweptTables where state.tables.contains(table) {
        walks.append(.through(TableAddress(space, table), bounds, first: state.first))
      }
      if state.tables.contains(.channels) { withChannels.append(space) }
    }
    try await walk(walks)
    try await sweepChannels(of: withChannels, bounds)
  }

  private func sweepChannels(of spaces: [SpaceID], _ bounds: SweepBounds) async throws(StoreError) {
    let channels = try await channels(of: spaces)
    let tables = zip(spaces, channels).flatMap { space, channels in
      channels.flatMap { RecordTable.of($0) }.filter(\.expires).map { TableAddress(space, $0) }
    }
    let lengths = try await counts(tables)
    try await walk(zip(tables, lengths).filter { $1 > 0 }.map { .through($0.0, bounds, first: .zero) })
  }

  private func channels(of spaces: [SpaceID]) async throws(StoreError) -> [[EntityID]] {
    let commands = spaces.map { RedisCommand("HKEYS", RedisLayout.table(TableAddress($0, .channels))) }
    let replies = try await pipeline(commands, at: "channels")
    return try reading(at: "channels") { () throws(RedisError) in
      try replies.map { reply throws(RedisError) in
        try reply.array().map { name throws(RedisError) in try name.string() }.compactMap { EntityID($0) }
      }
    }
  }

  /// A removed space of which nothing is left to see. Its members' indexes and its directory still name
  /// it: it is taken out of them first, by the roster, which goes only afterwards; so whoever is
  /// interrupted can begin again.
  private func retire(_ space: SpaceID) async throws(StoreError) {
    let place = "retire \(space)"
    let roster = RedisLayout.table(TableAddress(space, .roster))
    var cursor = "0"
    var accounts: [AccountID] = []
    repeat {
      let scan = RedisCommand("HSCAN", roster, cursor, "COUNT", Self.rosterStep)
      let reply = try await pipeline([scan], at: place)[0]
      let (next, members) = try reading(at: place) { () throws(RedisError) in try reply.scanned() }
      cursor = next
      accounts += members.compactMap { AccountID($0.0) }
      if cursor == "0" || accounts.count >= Self.membersAtOnce {
        try await forget(space, accounts)
        accounts = []
      }
    } while cursor != "0"
    if let directory = ListingChange.Directory(of: space.kind) { try await unlist(space, from: directory) }
    let channels = try await channels(of: [space])[0]
    var drop = RedisCommand(calling: .dropSpace, in: space.partition)
    drop.append(space.key)
    drop.append(contentsOf: (RecordTable.ofSpace + channels.flatMap { RecordTable.of($0) }).map(\.name))
    _ = try await checked([drop], at: place)
  }

  /// Takes the space out of the accounts' indexes, with one call for those of a partition. A call and a
  /// pipeline are for as many accounts at most as others can wait for.
  private func forget(_ space: SpaceID, _ accounts: [AccountID]) async throws(StoreError) {
    let sorted = accounts.map { (partition: SpaceID.personal($0).partition, account: $0) }
      .sorted { $0.partition < $1.partition }
    for first in stride(from: 0, to: sorted.count, by: Self.relaysPerPipeline) {
      var calls: [RedisCommand] = []
      var last: Partition?
      for (partition, account) in sorted[first..<min(first + Self.relaysPerPipeline, sorted.count)] {
        if partition != last {
          var call = RedisCommand(calling: .forgetSpace, in: partition)
          call.append(space.key)
          calls.append(call)
          last = partition
        }
        calls[calls.count - 1].append(account.text)
      }
      _ = try await checked(calls, at: "forget \(space)")
    }
  }

  private func unlist(_ space: SpaceID, from directory: ListingChange.Directory) async throws(StoreError) {
    let settings = RecordAddress.settings(space)
    guard let text = try await records([settings]).text(settings),
      let dates = RecordJSON.value(SpaceDates.self, text)
    else { return }
    try await list(space, ListingChange(directory, isListed: false, createdAt: dates.createdAt))
  }

  // MARK: Steps

  /// Repeats the step of each walk until its scan is at the end.
  private func walk(_ walks: [SweepWalk]) async throws(StoreError) {
    var rest = walks[...]
    while !rest.isEmpty {
      var underWay = rest.prefix(Self.walksAtOnce).map { (walk: $0, cursor: "0") }
      rest = rest.dropFirst(Self.walksAtOnce)
      while !underWay.isEmpty {
        let replies = try await checked(underWay.map { $0.walk.step(from: $0.cursor) }, at: "sweep")
        let cursors = try reading(at: "sweep") { () throws(RedisError) in
          try replies.map { reply throws(RedisError) in try reply.string() }
        }
        underWay = zip(underWay, cursors).filter { $1 != "0" }.map { (walk: $0.walk, cursor: $1) }
      }
    }
  }

  /// The replies of calls none of which may fail.
  private func checked(_ calls: [RedisCommand], at place: String) async throws(StoreError) -> [RedisReply] {
    let replies = try await call(calls, at: place)
    for case .error(let message) in replies { throw StoreError(.unavailable, message, at: place) }
    return replies
  }
}

/// What is older is over.
private struct SweepBounds {
  var nowMilliseconds: Int64
  var floor: MessageID

  init(nowMilliseconds: Int64, _ limits: Limits) {
    self.nowMilliseconds = nowMilliseconds
    floor = limits.retentionFloor(nowMilliseconds: nowMilliseconds)
  }
}

/// A function that goes through one key, a step at a time.
private struct SweepWalk {
  private let function: StoreFunction
  private let partition: Partition
  private let subject: [String]
  private let bounds: [String]

  init(_ function: StoreFunction, in partition: Partition, through subject: [String], _ bounds: [String]) {
    self.function = function
    self.partition = partition
    self.subject = subject
    self.bounds = bounds
  }

  /// - Parameter first: the first entry of the space's log; an amendment of an earlier one is of no use.
  static func through(_ address: TableAddress, _ bounds: SweepBounds, first: MessageID) -> SweepWalk {
    let (function, until): (StoreFunction, [String]) =
      switch address.table {
      case .former: (.sweepFormer, [bounds.floor.streamForm, String(bounds.nowMilliseconds)])
      case .amendments: (.sweepAmendments, [max(bounds.floor, first).text])
      default: (.sweepExpired, [String(bounds.nowMilliseconds)])
      }
    return SweepWalk(
      function, in: address.space.partition, through: [address.space.key, address.table.name], until)
  }

  func step(from cursor: String) -> RedisCommand {
    var call = RedisCommand(calling: function, in: partition)
    call.append(contentsOf: subject)
    call.append(cursor)
    call.append(contentsOf: bounds)
    return call
  }
}

extension SpaceKind {
  /// The tables that tell, by having records at all, what there is to do.
  fileprivate var countedTables: [RecordTable] { sweptTables + (isRemovable ? [.channels] : []) }
}

/// What `sweep_space` found.
private struct SweptSpace {
  /// The first entry left; zero if there is none.
  var first: MessageID
  var isOver: Bool
  /// Those that have records.
  var tables: Set<RecordTable>

  init(_ reply: RedisReply, _ kind: SpaceKind) throws(RedisError) {
    let parts = try reply.array(count: 3)
    first = try parts[0].bytes().isEmpty ? .zero : parts[0].messageID()
    isOver = try parts[1].integer() == 1
    tables = []
    for (table, length) in zip(kind.countedTables, try parts[2].array()) where try length.integer() > 0 {
      tables.insert(table)
    }
  }
}
