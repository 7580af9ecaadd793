import BelfryModel

/// The text that the format record has, instead of the format, while `belfry move` takes the keyspace from
/// one Redis to another. So no broker works on it, not even one of an earlier release: none knows such a
/// format.
///
/// The source's record decides which Redis has the keyspace. From `moving` it becomes the format again, or
/// `moved`. Only after that may the target's become the format.
package struct MoveRecord: Sendable, Hashable {
  package enum Stage: String, Sendable {
    /// On the source: the keyspace is being copied.
    case moving
    /// On the source: the target has everything, and is open or about to be.
    case moved
    /// On the target: the keyspace is being copied to it.
    case arriving
    /// On the target: the move was given up, and its data is to be removed.
    case cancelled
  }

  package var stage: Stage
  /// The format that the record has when the keyspace is open: the version of its data and its number of
  /// partitions.
  package let format: String
  /// Names the move on both sides: letters and digits.
  package let id: String
  /// The time at which the move began, milliseconds since 1970.
  package let since: Int64
  /// The other side; holds no password.
  package let other: String

  package init(_ stage: Stage, format: String, id: String, since: Int64, other: String) {
    (self.stage, self.format, self.id, self.since, self.other) = (stage, format, id, since, other)
  }

  /// Nil for a format that brokers work on, and for a text that is no record of a move.
  package init?(_ text: String) {
    let words = text.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: false)
    guard words.count == 6, let stage = Stage(rawValue: String(words[0])), let since = Int64(words[4]) else {
      return nil
    }
    self.init(
      stage, format: "\(words[1]) \(words[2])", id: String(words[3]), since: since, other: String(words[5]))
  }

  package var text: String { "\(stage.rawValue) \(format) \(id) \(since) \(other)" }

  package func becoming(_ stage: Stage) -> MoveRecord {
    var record = self
    record.stage = stage
    return record
  }

  /// The reason why a broker does not work on such a keyspace, and the remedy.
  package var refusal: String {
    switch stage {
    case .moving:
      "this keyspace is being moved to \(other): wait until belfry move ends; if it was interrupted, run it again to "
        + "finish the move, or with --cancel to undo it"
    case .moved:
      "this keyspace was moved to \(other): start brokers with the new address"
    case .arriving:
      "this keyspace is being moved here from \(other), and is not complete: wait until belfry move ends; if it "
        + "was interrupted, run it again to finish the move, or with --cancel to undo it"
    case .cancelled:
      "this Redis has copies left by a cancelled move from \(other): run belfry move with this target to move again "
        + "from the beginning, or with --cancel to only remove the copies"
    }
  }
}

extension MoveRecord {
  /// The words of a refusal without the addresses of Redis in them, and without the `to` or `from` before each. Every sender may
  /// read these; the log has the whole.
  package static func withoutAddresses(_ words: String) -> String {
    var kept: [Substring] = []
    for word in words.split(separator: " ", omittingEmptySubsequences: false) {
      guard word.starts(with: "redis://") || word.starts(with: "rediss://") else {
        kept.append(word)
        continue
      }
      if let before = kept.last, before == "to" || before == "from" { kept.removeLast() }
      let mark = word.suffix(1)
      if [":", ","].contains(mark), let before = kept.popLast() { kept.append(before + mark) }
    }
    return kept.joined(separator: " ")
  }
}

// MARK: - The record as `belfry move` reads and writes it

/// The fields of the format record.
package enum FormatRecordField {
  package static let key = RedisLayout.format
  package static let format = "format"
  /// The id of the last move that this Redis took part in.
  package static let move = "move"
  /// The field that says that the hashes of all partitions were made.
  package static let hashes = RedisLayout.hashesField
  package static let hashesMade = PartitionHashes.made
}

extension KeyspaceKey {
  /// The function library that a node has when brokers of this release use it.
  package static var functionLibrary: [UInt8] { FunctionLibrary.code }
}
