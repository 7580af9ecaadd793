import BelfryBytes
import BelfryModel
import BelfryRedis
import BelfryStore

/// A key whose value is the same on both sides, with its name on each side.
struct MovedKey: Hashable {
  let here: [UInt8]
  let there: [UInt8]
}

/// The keys that are moved, and their names on both sides.
struct MovePlan {
  /// All keys whose values do not change.
  var keys: [MovedKey] = []
  /// Nil if the number of partitions does not change.
  var division: MoveDivision?

  var count: Int { keys.count + (division?.keys.count ?? 0) }
}

/// The keys that are divided because the keyspace gets more partitions.
struct MoveDivision {
  let rules: KeyspaceDivision
  var keys: [DividedKey] = []
  /// The last millisecond of all ids that the keyspace has given; nil if it has given none.
  var lastMilliseconds: Int64?
}

extension MoveRun {
  /// The partitions before and after the move, from the format of the keyspace.
  /// - Parameter claimed: the format for which an earlier command has claimed the target.
  func partitions(
    ofFormat text: String, claimed: String?
  ) throws(BackupError) -> (before: Partitions, after: Partitions) {
    guard let format = KeyspaceFormat(text), format.version == Keyspace.dataVersion else {
      throw BackupError(
        .partitionsDiffer,
        "its format record says \"\(text)\", and this release moves data of version \(Keyspace.dataVersion)",
        at: source.place)
    }
    let before = format.partitions
    let begun = claimed.flatMap { KeyspaceFormat($0) }?.partitions.count
    if let begun, let wanted = partitionsWanted, wanted != begun {
      throw BackupError(
        .partitionsDiffer, "it is already being moved to \(begun) partitions", at: source.place,
        advice: "use --partitions \(begun), or --cancel first")
    }
    let count = begun ?? partitionsWanted ?? before.count
    if count == before.count { return (before, before) }
    guard count > before.count, let after = Partitions(count: count) else {
      throw BackupError(
        .partitionsDiffer,
        "this keyspace has \(before.count) partitions; the new number must be a larger power of two, not \(count)",
        at: source.place,
        advice: "use --partitions \(min(2 * before.count, Partition.limit)), or leave it out")
    }
    return (before, after)
  }

  /// All keys to be moved. No more keys are added from now on.
  func plan(_ outline: MoveOutline) async throws(BackupError) -> MovePlan {
    var plan = MovePlan()
    if outline.isDivided {
      let rules = KeyspaceDivision(from: outline.before, to: outline.after)
      try await refuseWaitingChanges(rules)
      plan.division = MoveDivision(
        rules: rules, keys: rules.partitionHashes, lastMilliseconds: try await lastMilliseconds(rules))
    }
    let hashes = Set(plan.division?.keys.map(\.key) ?? [])
    var seen: Set<[UInt8]> = []
    try await source.scan { _, found throws(BackupError) in
      for key in found where seen.insert(key).inserted {
        guard let rules = plan.division?.rules else {
          plan.keys.append(MovedKey(here: key, there: key))
          continue
        }
        let text = String(decoding: key, as: UTF8.self)
        switch rules.destination(of: text) {
        case .whole(let name): plan.keys.append(MovedKey(here: key, there: Array(name.utf8)))
        case .divided(let divided): if !hashes.contains(text) { plan.division?.keys.append(divided) }
        case .nowhere: continue
        case nil:
          throw BackupError(
            .partitionsDiffer, "the partition of its key \(text) is not known", at: source.place,
            advice: "remove the key, if you do not need it")
        }
      }
    }
    return plan
  }

  /// Refuses if a change waits for another partition. Such a change is written with its own ids, and cannot
  /// be divided.
  private func refuseWaitingChanges(_ rules: KeyspaceDivision) async throws(BackupError) {
    let replies = try await source.nodes[0].ask(rules.outboxes.map { RedisCommand("XLEN", $0) })
    let waiting = try MoveSide.reading { () throws(RedisError) in
      try replies.map { reply throws(RedisError) in Int(try reply.integer()) }.reduce(0, +)
    }
    guard waiting == 0 else {
      throw BackupError(
        .partitionsDiffer, "\(waiting) changes are not yet relayed from one partition to others",
        at: source.place,
        advice:
          "run this command again when fewer changes are being made; while brokers run, belfry stats shows how many changes wait"
      )
    }
  }

  /// The latest of all partitions. It is read again when the target is opened, which is safe because nothing
  /// has written since.
  func lastMilliseconds(_ rules: KeyspaceDivision) async throws(BackupError) -> Int64? {
    let replies = try await source.nodes[0].ask(
      rules.partitionHashes.map { RedisCommand("HGET", $0.key, KeyspaceDivision.lastField) })
    return try MoveSide.reading { () throws(RedisError) in
      try replies.map { reply throws(RedisError) in try reply.ifPresent?.string() }
    }.compactMap { $0.flatMap { MessageID(streamForm: $0) } }.filter { $0 > .zero }
      .map(\.unixMilliseconds).max()
  }

  /// Creates the hashes that an earlier release did not create at the source. A single Redis has the whole of
  /// each partition, so a hash that is missing there never existed. At a cluster, nobody could tell.
  func makeMissingHashes(_ partitions: Partitions) async throws(BackupError) {
    let missing = try await hashes(of: partitions).filter { !$0.isMade }.map(\.key)
    // A source that is full refuses this. The target's brokers can also create the hashes.
    _ = try await source.nodes[0].replies(
      to: missing.map { RedisCommand("HSETNX", $0, KeyspaceDivision.lastField, MessageID.zero.streamForm) })
  }

  /// The target's record of the hashes, once it is open.
  func hashesField(_ partitions: Partitions) async throws(BackupError) -> [(name: String, value: String)] {
    guard try await hashes(of: partitions).allSatisfy(\.isMade) else { return [] }
    return [(FormatRecordField.hashes, FormatRecordField.hashesMade)]
  }

  private func hashes(
    of partitions: Partitions
  ) async throws(BackupError) -> [(key: String, isMade: Bool)] {
    let keys = KeyspaceDivision(from: partitions, to: partitions).partitionHashes.map(\.key)
    let replies = try await source.nodes[0].ask(
      keys.map { RedisCommand("HEXISTS", $0, KeyspaceDivision.lastField) })
    return zip(keys, replies).map { ($0, $1 == .integer(1)) }
  }

  /// The format record of the target once it is open.
  func openFormat(_ record: MoveRecord, _ claim: MoveRecord) async throws(BackupError) -> String {
    let (before, after) = try partitions(ofFormat: record.format, claimed: claim.format)
    guard after != before else { return record.format }
    var growths = before.growths
    if let last = try await lastMilliseconds(KeyspaceDivision(from: before, to: after)) {
      growths.append(Partitions.Growth(count: before.count, throughMilliseconds: last))
    }
    let grown = Partitions(count: after.count, growths: growths)
    return KeyspaceFormat(grown ?? after).text
  }
}
