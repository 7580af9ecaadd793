import BelfryModel

/// What the format record says of a keyspace that `belfry move` takes from one Redis to another, in place of the format
/// itself. So no broker works on it, of earlier releases either: they know of no such format.
///
/// The source's record decides where the keyspace is. From `moving` it becomes the format again, or `moved`; only after that
/// the target's may become the format.
package struct MoveRecord: Sendable, Hashable {
  package enum Stage: String, Sendable {
    /// Of the source: being copied.
    case moving
    /// Of the source: all is at the target, which is open or about to be.
    case moved
    /// Of the target: being copied to.
    case arriving
    /// Of the target: what is there was given up, and is to be removed.
    case cancelled
  }

  package var stage: Stage
  /// What the record says when the keyspace is open: the version of its data and its number of partitions.
  package let format: String
  /// Names the move on both sides: letters and digits.
  package let id: String
  /// Milliseconds since 1970.
  package let since: Int64
  /// The other side; holds no password.
  package let other: String

  package init(_ stage: Stage, format: String, id: String, since: Int64, other: String) {
    (self.stage, self.format, self.id, self.since, self.other) = (stage, format, id, since, other)
  }

  /// Nil of a format that brokers work on, and of what is no record of a move.
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

  /// Why a broker does not work on such a keyspace, and what to do.
  var refusal: String {
    switch stage {
    case .moving:
      "this keyspace is being moved to \(other): wait for the end of belfry move, or if that was interrupted, run it "
        + "again, or with --cancel"
    case .moved:
      "this keyspace was moved to \(other): start brokers with that address"
    case .arriving:
      "this keyspace is being moved here from \(other), and is not complete: wait for the end of belfry move, or if "
        + "that was interrupted, run it again, or with --cancel"
    case .cancelled:
      "this is what is left of a move from \(other) that was cancelled: belfry move removes it when it is run to here "
        + "again, or with --cancel"
    }
  }
}

// MARK: - The record as `belfry move` reads and writes it

/// The fields of the format record.
package enum FormatRecordField {
  package static let key = RedisLayout.format
  package static let format = "format"
  /// The id of the last move that this Redis took part in.
  package static let move = "move"
  /// That the hashes of all partitions were made.
  package static let hashes = RedisLayout.hashesField
  package static let hashesMade = PartitionHashes.made
}

extension KeyspaceKey {
  /// The library of functions that a node of this release's brokers has.
  package static var functionLibrary: [UInt8] { FunctionLibrary.code }
}
