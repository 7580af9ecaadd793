package import BelfryModel
import BelfryRedis

extension RedisStore {
  /// Members read from a removed space's roster in one step. In a large roster they lie far apart in Redis's memory, so a
  /// step takes some tenths of a millisecond.
  private static let rosterStep = 200
  /// Members whose indexes forget a removed space in one round: at least eight for each partition, so that they share a
  /// call, and few enough that sorting them takes the loop less than a millisecond.
  private static let membersAtOnce = 8_000
  /// Keys scanned side by side, each in steps of a hundred records.
  private static let scansAtOnce = 100

  package func beginSweep(
    of partition: Partition, everyMilliseconds interval: Int64
  ) async throws(StoreError) -> Bool {
    let place = "sweep \(partition.number)"
    var call = layout.call(.beginSweep, in: partition)
    call.append(interval)
    let reply = try await self.call(call, at: place)
    return try reading(at: place) { () throws(RedisError) in try reply.integer() == 1 }
  }

  package func sweepReading(of partition: Partition) async throws(StoreError) -> SweepReading {
    let place = "sweep \(partition.number)"
    let reply = try await call(layout.call(.sweepTime, in: partition), at: place)
    return try reading(at: place) { () throws(RedisError) in
      let parts = try reply.array(count: 2)
      guard let time = Int64(try parts[0].string()) else {
        throw RedisError(.unexpectedReply, cause: "expected a time", place: place)
      }
      return SweepReading(timeMilliseconds: time, sweptAtMilliseconds: Int64(try parts[1].string()))
    }
  }

  package func sweep(_ partition: Partition) async throws(StoreError) {
    try await sweep(partition, nowMilliseconds: try await nowMilliseconds())
  }

  /// Sweeps in steps of at most a millisecond of Redis's time. Data that is added meanwhile, or is left
  /// because this broker dies, is found by the next sweep.
  package func sweep(_ partition: Partition, nowMilliseconds now: Int64) async throws(StoreError) {
    let bounds = SweepBounds(nowMilliseconds: now, limits)
    var dedupe = layout.call(.sweepDedupe, in: partition)
    dedupe.append(limits.dedupeWindowMilliseconds)
    _ = try await checked([dedupe], at: "sweep \(partition.number)")
    try await sweepStreams(of: partition)
    try await sweepCopies(of: partition, bounds)
    try await endStrayReaders(of: partition)
    var walk = rosterWalks[partition] ?? RosterWalk(from: .random(in: .min ... .max))
    walk.beginRound()
    try await scanSpaces(of: partition) { (page: [PartitionSpace]) throws(StoreError) in
      let spaces = page.map(\.space)
      try await self.sweepAccounts(spaces.filter { $0.kind == .account }, bounds)
      let left = try await self.sweepSpaces(spaces, bounds)
      walk.offer(left)
    }
    try await compareRosters(of: partition, &walk, bounds)
    rosterWalks[partition] = walk
  }

  private func sweepCopies(of partition: Partition, _ bounds: SweepBounds) async throws(StoreError) {
    var call = layout.call(.sweepCopies, in: partition)
    call.append(bounds.floor.streamForm)
    var trimmed: Int64 = 0
    repeat {
      let reply = try await checked([call], at: "sweep copies")[0]
      trimmed = try reading(at: "sweep copies") { () throws(RedisError) in try reply.integer() }
    } while trimmed > 0
  }

  // MARK: Accounts

  private func sweepAccounts(_ spaces: [SpaceID], _ bounds: SweepBounds) async throws(StoreError) {
    let steps: [(StoreFunction, [String])] = [
      (.sweepIndex, [bounds.floor.streamForm, bounds.forgotten.streamForm]),
      (.sweepRead, [bounds.floor.text]),
      (.sweepDelivered, [String(limits.retentionMilliseconds)]),
    ]
    for (step, ends) in steps {
      try await run(spaces.map { SweepScan(step, in: layout.partition(of: $0), through: [$0.name], ends) })
    }
  }

  // MARK: Spaces

  /// - Returns: the spaces that are left.
  private func sweepSpaces(
    _ spaces: [SpaceID], _ bounds: SweepBounds
  ) async throws(StoreError) -> [SpaceID] {
    let calls = spaces.map { space in
      var call = layout.call(.sweepSpace, in: layout.partition(of: space))
      call.append(space.key)
      call.append(bounds.floor.streamForm)
      call.append(limits.entriesPerSpace)
      call.append(bounds.forgotten.streamForm)
      call.append(contentsOf: space.kind.countedTables.map(\.name))
      return call
    }
    let replies = try await checked(calls, at: "sweep spaces")
    let states = try reading(at: "sweep spaces") { () throws(RedisError) in
      try zip(spaces, replies).map { space, reply throws(RedisError) in try SweptSpace(space, reply) }
    }
    // A removed space is kept until its losses are no longer told.
    let empty = states.filter { $0.first == .zero && $0.lost < bounds.forgotten }
    let over = try await spacesThatAreOver(among: empty.map(\.space))
    let left = states.filter { over[$0.space] == nil }
    try await run(
      left.filter { $0.tables.contains(.updates) }.map {
        .throughUpdates(of: $0.space, in: layout.partition(of: $0.space), bounds, $0.first)
      })
    let channels = try await existingChannels(of: left.filter(\.mayNameChannels).map(\.space))
    try await removeRecordsThatAreOver(from: left.flatMap(\.judgedTables), bounds, channels)
    try await sweepChannels(channels, bounds)
    try await trimWhatAllHaveRead(
      left.filter { $0.first > .zero }.map { ($0.space, $0.first) }, bounds.floor,
      nowMilliseconds: bounds.nowMilliseconds)
    for (space, settings) in over { try await retire(space, settings) }
    return left.map(\.space)
  }

  private func sweepChannels(
    _ channels: [SpaceID: ExistingChannels], _ bounds: SweepBounds
  ) async throws(StoreError) {
    let tables = channels.flatMap { space, channels in
      channels.ids.flatMap { RecordTable.of($0) }.filter(\.expires).map { TableAddress(space, $0) }
    }
    let lengths = try await counts(tables)
    try await removeRecordsThatAreOver(
      from: zip(tables, lengths).filter { $1 > 0 }.map(\.0), bounds, channels)
  }

  /// The spaces that were removed, with the settings that say so.
  private func spacesThatAreOver(among spaces: [SpaceID]) async throws(StoreError) -> [SpaceID: String] {
    let addresses = spaces.filter(\.kind.hasMembers).map { RecordAddress.settings($0) }
    if addresses.isEmpty { return [:] }
    let records = try await records(addresses)
    var over: [SpaceID: String] = [:]
    for address in addresses {
      guard let text = records.text(address), SpaceDates(text)?.removedAt != nil else { continue }
      over[address.tableAddress.space] = text
    }
    return over
  }

  /// Removes a space that its owner has removed and in which nothing is left to see. It leaves its members'
  /// indexes and its directory first, by the roster. The roster is removed last, so an interrupted call can
  /// begin again. The scan of the roster starts again if Redis was restarted, since its order has changed.
  private func retire(_ space: SpaceID, _ settings: String) async throws(StoreError) {
    let place = "retire \(space)"
    let roster = layout.table(TableAddress(space, .roster))
    var hashScan = HashScan()
    var isComplete = false
    var accounts: [AccountID] = []
    repeat {
      let scan = RedisCommand("HSCAN", roster, hashScan.cursor, "COUNT", Self.rosterStep)
      let (reply, mark) = try await scanStep(scan, in: layout.partition(of: space), at: place)
      let (next, members) = try reading(at: place) { () throws(RedisError) in try reply.scanned() }
      guard hashScan.take(next, of: mark) else {
        accounts = []
        continue
      }
      accounts += members.compactMap { AccountID($0.0) }
      if next == "0" || accounts.count >= Self.membersAtOnce {
        try await forget(space, accounts)
        accounts = []
      }
      isComplete = next == "0"
    } while !isComplete
    if let directory = ListingChange.Directory(of: space.kind), let dates = SpaceDates(settings) {
      var unlist = layout.call(.unlist, in: layout.partition(of: directory))
      unlist.append(directory.rawValue)
      unlist.append(DirectoryPlace(space, createdAtMilliseconds: dates.createdAt).text)
      _ = try await checked([unlist], at: place)
    }
    let channels = try await existingChannels(of: [space])[space]?.ids ?? []
    var drop = layout.call(.dropSpace, in: layout.partition(of: space))
    drop.append(space.key)
    drop.append(settings)
    drop.append(
      contentsOf: (RecordTable.ofSpace + channels.sorted().flatMap { RecordTable.of($0) }).map(\.name))
    _ = try await checked([drop], at: place)
  }

  /// Removes the space from the accounts' indexes, with one call for the accounts of a partition. Others wait
  /// for a call and for a pipeline, so both are bounded.
  private func forget(_ space: SpaceID, _ accounts: [AccountID]) async throws(StoreError) {
    let sorted = accounts.map { (partition: layout.partition(of: $0), account: $0) }
      .sorted { $0.partition < $1.partition }
    for first in stride(from: 0, to: sorted.count, by: OutboxRounds.roundMax) {
      var calls: [RedisCommand] = []
      var last: Partition?
      for (partition, account) in sorted[first..<min(first + OutboxRounds.roundMax, sorted.count)] {
        if partition != last {
          var call = layout.call(.forgetSpace, in: partition)
          call.append(space.key)
          calls.append(call)
          last = partition
        }
        calls[calls.count - 1].append(account.text)
      }
      _ = try await checked(calls, at: "forget \(space)")
    }
  }

  // MARK: Steps

  /// Repeats the step of each scan until the scan ends.
  private func run(_ scans: [SweepScan]) async throws(StoreError) {
    var rest = scans[...]
    while !rest.isEmpty {
      var underWay = rest.prefix(Self.scansAtOnce).map { (scan: $0, cursor: "0") }
      rest = rest.dropFirst(Self.scansAtOnce)
      while !underWay.isEmpty {
        let replies = try await checked(underWay.map { $0.scan.step(from: $0.cursor, layout) }, at: "sweep")
        let cursors = try reading(at: "sweep") { () throws(RedisError) in
          try replies.map { reply throws(RedisError) in try reply.string() }
        }
        underWay = zip(underWay, cursors).filter { $1 != "0" }.map { (scan: $0.scan, cursor: $1) }
      }
    }
  }

  /// The replies of the calls.
  /// - Throws: the error of the first call that failed.
  func checked(_ calls: [RedisCommand], at place: String) async throws(StoreError) -> [RedisReply] {
    let replies = try await call(calls, at: place)
    try Self.refuseErrors(replies, at: place)
    return replies
  }
}

/// The ends of retention, as ids.
struct SweepBounds {
  var nowMilliseconds: Int64
  /// Entries before it are beyond retention.
  var floor: MessageID
  /// Losses before it are no longer told: one more retention.
  var forgotten: MessageID

  init(nowMilliseconds: Int64, _ limits: Limits) {
    self.nowMilliseconds = nowMilliseconds
    floor = limits.retentionFloor(nowMilliseconds: nowMilliseconds)
    forgotten = limits.forgottenFloor(nowMilliseconds: nowMilliseconds)
  }
}

/// A function that scans one key, a step at a time.
private struct SweepScan {
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

  /// - Parameter first: the first entry of the space's log. Updates of earlier entries are of no use.
  static func throughUpdates(
    of space: SpaceID, in partition: Partition, _ bounds: SweepBounds, _ first: MessageID
  ) -> SweepScan {
    SweepScan(
      .sweepUpdates, in: partition, through: [space.key, RecordTable.updates.name],
      [max(bounds.floor, first).text])
  }

  func step(from cursor: String, _ layout: RedisLayout) -> RedisCommand {
    var call = layout.call(function, in: partition)
    call.append(contentsOf: subject)
    call.append(cursor)
    call.append(contentsOf: bounds)
    return call
  }
}

extension SpaceKind {
  /// The tables whose sizes show that there is work for the sweep.
  fileprivate var countedTables: [RecordTable] { sweptTables + (hasMembers ? [.channels] : []) }
}

/// The reply of `sweep_space`.
private struct SweptSpace {
  var space: SpaceID
  /// The first entry left; zero if there is none.
  var first: MessageID
  /// The last entry that was lost; zero if none was.
  var lost: MessageID
  /// The tables that have records.
  var tables: Set<RecordTable>

  init(_ space: SpaceID, _ reply: RedisReply) throws(RedisError) {
    self.space = space
    let parts = try reply.array(count: 3)
    first = try parts[0].bytes().isEmpty ? .zero : parts[0].messageID()
    lost = try parts[2].bytes().isEmpty ? .zero : parts[2].messageID()
    tables = []
    for (table, length) in zip(space.kind.countedTables, try parts[1].array()) where try length.integer() > 0
    {
      tables.insert(table)
    }
  }

  /// True if records of the space name channels, which may have been removed.
  var mayNameChannels: Bool {
    tables.contains(.channels) || space.kind == .server && tables.contains(.former)
  }

  /// The tables whose records the model judges.
  var judgedTables: [TableAddress] {
    space.kind.sweptTables.filter { $0 != .updates && tables.contains($0) }
      .map { TableAddress(space, $0) }
  }
}
