import BelfryLoop
import BelfryRedis
import BelfryStore

/// Gives a keyspace back to its source, and removes the copies.
struct MoveCancel {
  let source: MoveSide
  /// Nil if it cannot be reached.
  let target: MoveSide?
  let progress: @Sendable (MoveProgress) -> Void

  /// - Parameter id: the id of the move to undo; nil: any move.
  /// - Returns: the remains that it could not remove, in words; nil if there are none.
  func run(_ id: String? = nil) async throws(BackupError) -> String? {
    let fields = try await source.readRecord()
    guard let record = fields.record else { return try await clean(afterOpen: fields, id) }
    if let id, record.id != id { throw nothing("another move of its keyspace has begun") }
    switch record.stage {
    case .moving:
      // A source that has lost its latest record would be open at the same time as its target.
      if let there = try await target?.readRecord(), there.isOpen(after: record.id) {
        throw nothing(
          "the move to \(record.other) has finished, so it cannot be cancelled",
          advice: "run this command again without --cancel; it then records the end of the move here, too")
      }
      try await giveBack(record)
      return await removeCopies(record.id)
    case .moved: return try await undoDecision(record)
    case .arriving, .cancelled:
      throw nothing(
        "the keyspace is being moved to this Redis from \(record.other): name that one with --from")
    }
  }

  private func nothing(_ cause: String, advice: String? = nil) -> BackupError {
    BackupError(.nothingToCancel, cause, at: source.place, advice: advice)
  }

  private func giveBack(_ record: MoveRecord) async throws(BackupError) {
    guard try await source.setRecord([(FormatRecordField.format, record.format)], ifFormatIs: record.text)
    else {
      throw BackupError(
        .moveUnderWay, "its format record was meanwhile changed by another belfry move", at: source.place,
        advice: "run this command again")
    }
  }

  /// Cleans up when the source is open. Either an earlier command got no further than the target or left
  /// something there, or the source has lost its record of the move. A target that is still being moved to
  /// was never open, so only copies are lost there.
  private func clean(afterOpen fields: MoveFormatFields, _ id: String?) async throws(BackupError) -> String? {
    guard let target else {
      throw nothing(
        "it is not being moved", advice: "to remove copies, use --to to name the Redis that has them"
      )
    }
    guard let claim = try await target.readRecord().record,
      claim.stage == .arriving || claim.stage == .cancelled,
      id.map({ claim.id == $0 }) ?? (claim.id == fields.move || claim.other == source.place)
    else {
      throw nothing(
        "it is not being moved to \(target.place), so there is nothing to cancel",
        advice: "to cancel another move, name its addresses with --from and --to")
    }
    return await removeCopies(claim.id)
  }

  /// Undoes a decision, after which the target may be open. The source may open only if the target is not
  /// open and never will be.
  private func undoDecision(_ record: MoveRecord) async throws(BackupError) -> String? {
    guard let target else {
      throw BackupError(
        .nothingToCancel,
        "brokers may already use the target \(record.other), so this command must check the target first",
        at: source.place,
        advice: "name it with --to when it can be reached, or run the move again without --cancel")
    }
    let there = try await target.readRecord()
    guard let claim = there.record, claim.id == record.id else {
      throw nothing("the move to \(record.other) has finished, so it cannot be cancelled")
    }
    if claim.stage == .arriving {
      let fields = [(FormatRecordField.format, claim.becoming(.cancelled).text)]
      guard try await target.setRecord(fields, ifFormatIs: claim.text) else {
        throw nothing("the move to \(record.other) has just finished, so it cannot be cancelled")
      }
    }
    try await giveBack(record)
    return await removeCopies(record.id)
  }

  private func removeCopies(_ id: String) async -> String? {
    guard let target else { return "what was copied is still there; the next move to that Redis removes it" }
    do throws(BackupError) {
      guard let claim = try await target.readRecord().record, claim.id == id else { return nil }
      let cancelled = claim.becoming(.cancelled)
      guard
        try await target.setRecord([(FormatRecordField.format, cancelled.text)], ifFormatIs: claim.text)
      else { return nil }
      progress(.removingKeys)
      try await target.removeKeys()
      _ = try await target.removeRecord(ifFormatIs: cancelled.text)
      return nil
    } catch {
      return
        "what was copied to \(target.place) is still there (\(error.cause)); the next move to that Redis removes it"
    }
  }
}
