package import BelfryModel
import BelfryRedis

/// The facts that a move has found before it changes anything.
package struct MoveOutline: Sendable, Hashable {
  package var from: String
  package var to: String
  /// The product that each side runs, with its version.
  package var fromProduct: String
  package var toProduct: String
  /// The number of masters that the target has; nil for a single Redis.
  package var masters: Int?
  package var before: Partitions
  package var after: Partitions
  package var keys = 0
  /// The memory that the keys take at the source, in bytes.
  package var bytes = 0

  /// True if the keyspace gets more partitions.
  package var isDivided: Bool { before.count != after.count }
}

/// The current step of a move, for a caller that shows progress.
package enum MoveProgress: Sendable, Hashable {
  case startingRedis(folder: String)
  case counting(keys: Int)
  case found(MoveOutline)
  /// The pause has begun, at this time in milliseconds since 1970. An earlier command may have begun it.
  case paused(since: Int64, byEarlier: Bool)
  case copied(keys: Int, of: Int)
  case compared(keys: Int, of: Int)
  case waitingForReplicasAndDisks
  case removingKeys
}

/// The result of a move.
package struct MoveReport: Sendable {
  package enum Outcome: String, Sendable {
    case moved
    /// An earlier command had completed the move, but could not report it.
    case movedBefore
    /// The keyspace is at the source again.
    case cancelled
  }

  package var outcome: Outcome
  package var from: String
  package var to: String
  /// The number of partitions at the new place, and the number before.
  package var partitions: Int
  package var partitionsBefore: Int
  /// Milliseconds since 1970.
  package var pausedAt: Int64?
  package var endedAt: Int64?
  package var copied = 0
  package var copiedBytes = 0
  /// Keys that were found equal on both sides.
  package var compared = 0
  /// The entries of logs among these keys.
  package var entries = 0
  /// Keys that expired during the move, on one side or both.
  package var expired = 0
  /// Remarks for the person who runs the command.
  package var remarks: [String] = []
}
