import BelfryRedis
import BelfryStore
import BelfrySystem

/// A move under way, between two places that are connected.
///
/// A record is changed only if it is still the record that was read (``MoveSide/setRecord(_:ifFormatIs:)``),
/// and only in this order. So of two commands only one continues, and the keyspace is never open on both
/// sides:
///
///     source   3 64       moving             moved
///     target          arriving                      3 64
///
/// The target's record has the number of partitions that the keyspace gets: `3 256` while keys are copied to
/// it. Once the target is open, the record also tells how the keyspace grew.
struct MoveRun: Sendable {
  let source: MoveSide
  let target: MoveSide
  /// The number of partitions that the keyspace is to have; nil: no change.
  let partitionsWanted: Int?
  let progress: @Sendable (MoveProgress) -> Void

  /// The state of both sides at the beginning.
  private enum Standing {
    /// The source is open. The leftover is the target's record, if it has one that may be replaced.
    case open(format: String, leftover: MoveRecord?)
    /// An earlier command has paused the source, and claimed the target.
    case moving(MoveRecord, claim: MoveRecord)
    /// An earlier command has decided the move, and has perhaps opened the target.
    case moved(MoveRecord, claim: MoveRecord?)
  }

  /// - Parameter whenBegun: called before the first change, with the source's record, which is needed to undo
  ///   the move.
  func run(whenBegun: (MoveRecord) -> Void) async throws(BackupError) -> MoveReport {
    try await checkAreTwo()
    try await OtherCommands.moves.refuseOthers(at: source.nodes + target.nodes)
    let standing = try await standing()
    switch standing {
    case .moved(let record, let claim): return try await finish(record, claim)
    case .open(let format, let leftover): return try await begin(format, leftover, whenBegun)
    case .moving(let record, let claim):
      let outline = try await outline(ofFormat: record.format, claimed: claim.format)
      try await checkNodes()
      progress(.found(try await measure(outline)))
      whenBegun(record)
      return try await carryOut(record, outline, isAgain: true)
    }
  }

  private func begin(
    _ format: String, _ leftover: MoveRecord?, _ whenBegun: (MoveRecord) -> Void
  ) async throws(BackupError) -> MoveReport {
    let outline = try await outline(ofFormat: format)
    try await checkNodes()
    progress(.found(try await measure(outline)))
    let record = MoveRecord(
      .moving, format: format, id: Self.newID(), since: WallClock.nowMilliseconds(), other: target.place)
    // This is written before the target is claimed, so that the source always shows the owner of a claim.
    guard try await source.setRecord([(FormatRecordField.move, record.id)], ifFormatIs: format) else {
      throw overtaken(source)
    }
    try await claim(record, KeyspaceFormat(outline.after).text, leftover)
    whenBegun(record)
    return try await carryOut(record, outline, isAgain: false)
  }

  private static func newID() -> String {
    (0..<16).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined()
  }

  private func claim(
    _ record: MoveRecord, _ format: String, _ leftover: MoveRecord?
  ) async throws(BackupError) {
    let claim = MoveRecord(
      .arriving, format: format, id: record.id, since: record.since, other: source.place)
    let fields = [(FormatRecordField.format, claim.text), (FormatRecordField.move, claim.id)]
    guard try await target.setRecord(fields, ifFormatIs: leftover?.text) else { throw overtaken(target) }
    if leftover != nil {
      progress(.removingKeys)
      try await target.removeKeys()
    }
    // Somebody may have written to the target since it was checked.
    do throws(BackupError) {
      try await refuseKeys()
    } catch {
      _ = try await target.removeRecord(ifFormatIs: claim.text)
      throw error
    }
  }

  func overtaken(_ side: MoveSide) -> BackupError {
    BackupError(
      .moveUnderWay, "its format record was meanwhile changed by another belfry move or a broker",
      at: side.place, advice: "run this command again")
  }

  private func refuseKeys() async throws(BackupError) {
    try await target.scan { index, keys throws(BackupError) in
      throw BackupError(
        .keyspaceExists,
        "it already holds Belfry keys (\(String(decoding: keys.first ?? [], as: UTF8.self))), and nothing is overwritten",
        at: target.nodes[index].endpoint.description,
        advice: "move to another Redis, or remove the keys belfry:* of this one first")
    }
  }

  /// Carries out the move, from the pause to the end.
  private func carryOut(
    _ record: MoveRecord, _ outline: MoveOutline, isAgain: Bool
  ) async throws(BackupError) -> MoveReport {
    for node in target.nodes {
      _ = try await node.ask(RedisCommand("FUNCTION", "LOAD", "REPLACE", KeyspaceKey.functionLibrary))
    }
    try await pause(record, isAgain: isAgain)
    var report = MoveReport(
      outcome: .moved, from: source.place, to: target.place, partitions: outline.after.count,
      partitionsBefore: outline.before.count, pausedAt: record.since)
    try await makeMissingHashes(outline.before)
    let plan = try await plan(outline)
    try await copy(plan, isAgain: isAgain, &report)
    try await compare(plan, &report)
    progress(.waitingForReplicasAndDisks)
    try await settleTarget(&report)
    let moved = record.becoming(.moved)
    guard try await source.setRecord([(FormatRecordField.format, moved.text)], ifFormatIs: record.text)
    else { throw overtaken(source) }
    report.remarks += try await settleSource()
    try await open(moved)
    report.endedAt = WallClock.nowMilliseconds()
    return report
  }

  /// Writes that the keyspace is being moved, and then closes every connection that may have been made before
  /// that.
  private func pause(_ record: MoveRecord, isAgain: Bool) async throws(BackupError) {
    let before = isAgain ? record.text : record.format
    guard try await source.setRecord([(FormatRecordField.format, record.text)], ifFormatIs: before) else {
      throw overtaken(source)
    }
    for node in source.nodes {
      _ = try await node.ask(RedisCommand("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"))
    }
    try await settleReplicasOfSource()
    progress(.paused(since: record.since, byEarlier: isAgain))
  }

  /// Opens the target, which the source's record now allows.
  private func open(_ moved: MoveRecord) async throws(BackupError) {
    let claim = try await target.readRecord()
    guard let arriving = claim.record, arriving.stage == .arriving, arriving.id == moved.id else {
      throw overtaken(target)
    }
    let own = [FormatRecordField.format, FormatRecordField.move, FormatRecordField.hashes]
    var fields = try await source.readRecord().all.filter { !own.contains($0.name) }
    fields += try await hashesField(try partitions(ofFormat: moved.format, claimed: arriving.format).before)
    fields.append((FormatRecordField.format, try await openFormat(moved, arriving)))
    let isOpened = try await target.setRecord(fields, ifFormatIs: arriving.text)
    guard isOpened else { throw overtaken(target) }
  }

  /// - Parameter claim: the target's record while it is not open.
  private func finish(_ record: MoveRecord, _ claim: MoveRecord?) async throws(BackupError) -> MoveReport {
    var format = claim?.format
    if format == nil { format = try await target.readRecord().format }
    let (before, after) = try partitions(ofFormat: record.format, claimed: format)
    var report = MoveReport(
      outcome: .movedBefore, from: source.place, to: target.place, partitions: after.count,
      partitionsBefore: before.count, pausedAt: record.since)
    guard claim != nil else { return report }
    report.remarks = try await settleSource()
    try await open(record)
    return report
  }
}

// MARK: - Where both sides stand

extension MoveRun {
  private func standing() async throws(BackupError) -> Standing {
    let (here, there) = (try await source.readRecord(), try await target.readRecord())
    guard let format = here.format else {
      throw BackupError(
        .nothingThere, "it has no Belfry keyspace in database \(source.endpoint.database)",
        at: source.place,
        advice: "--from names the Redis that the brokers use, with the same URL")
    }
    guard let record = here.record else { return try await standing(open: format, here, there) }
    if let claim = there.record, claim.stage == .arriving, claim.id == record.id {
      if record.stage == .moving { return .moving(record, claim: claim) }
      if record.stage == .moved { return .moved(record, claim: claim) }
    }
    switch record.stage {
    case .moved where there.isOpen(after: record.id): return .moved(record, claim: nil)
    // The source has lost its latest record.
    case .moving where there.isOpen(after: record.id):
      let moved = record.becoming(.moved)
      guard try await source.setRecord([(FormatRecordField.format, moved.text)], ifFormatIs: record.text)
      else { throw overtaken(source) }
      return .moved(moved, claim: nil)
    case .moving:
      throw BackupError(
        .moveUnderWay, "it is being moved to \(record.other), and \(target.place) has no record of this move",
        at: source.place,
        advice: "--to \(record.other) continues the move, and --cancel gives the keyspace back")
    case .moved:
      throw BackupError(.movedAlready, "its keyspace was moved to \(record.other)", at: source.place)
    case .arriving, .cancelled:
      throw BackupError(
        .moveUnderWay, "the keyspace is being moved to this Redis from \(record.other), and is not complete",
        at: source.place)
    }
  }

  private func standing(
    open format: String, _ here: MoveFormatFields, _ there: MoveFormatFields
  ) async throws(BackupError) -> Standing {
    guard let text = there.format else {
      try await refuseKeys()
      return .open(format: format, leftover: nil)
    }
    guard let leftover = there.record else {
      throw BackupError(
        .keyspaceExists, "it already holds a keyspace, and nothing is overwritten", at: target.place,
        advice: "move to another Redis, or remove the keys belfry:* of this one first")
    }
    switch leftover.stage {
    // An earlier command of this source left this record behind, or its move was cancelled.
    case .cancelled: return .open(format: format, leftover: leftover)
    case .arriving where leftover.id == here.move: return .open(format: format, leftover: leftover)
    // The source was probably started again from older data. It may be open to brokers, so the command does
    // nothing by itself.
    case .arriving where leftover.other == source.place:
      throw BackupError(
        .moveUnderWay,
        "it is the target of a move from \(leftover.other), which no longer has a record of that move",
        at: target.place,
        advice: "run the same command with --cancel, which removes what was copied, and then without it")
    case .moved:
      throw BackupError(
        .keyspaceExists, "its keyspace was moved to \(leftover.other), and its keys are still here",
        at: target.place, advice: "move to another Redis, or remove the keys belfry:* of this one first")
    case .arriving, .moving:
      throw BackupError(
        .moveUnderWay, "its format record says \"\(text)\": it takes part in another move", at: target.place,
        advice: "let that move finish, or cancel it")
    }
  }
}
