package import BelfryModel
import BelfryRedis

/// What a move has found before it changes anything.
package struct MoveOutline: Sendable, Hashable {
  package var from: String
  package var to: String
  /// The product that each side runs, with its version.
  package var fromProduct: String
  package var toProduct: String
  /// How many masters the target has; nil of a single Redis.
  package var masters: Int?
  package var before: Partitions
  package var after: Partitions
  package var keys = 0
  /// What the keys take in the source's memory.
  package var bytes = 0

  /// Whether the keyspace gets more partitions.
  package var isDivided: Bool { before.count != after.count }
}

/// What a move is doing, for whoever waits for it.
package enum MoveProgress: Sendable, Hashable {
  case startingRedis(folder: String)
  case counting(keys: Int)
  case found(MoveOutline)
  /// The pause has begun; milliseconds since 1970. It may have begun with an earlier command.
  case paused(since: Int64, byEarlier: Bool)
  case copied(keys: Int, of: Int)
  case compared(keys: Int, of: Int)
  case waitingForReplicasAndDisks
  case removingKeys
}

/// What came of a move.
package struct MoveReport: Sendable {
  package enum Outcome: String, Sendable {
    case moved
    /// An earlier command came to the end, and could not say so.
    case movedBefore
    /// The keyspace is at the source again.
    case cancelled
  }

  package var outcome: Outcome
  package var from: String
  package var to: String
  /// How many the keyspace has at its new place, and how many it had.
  package var partitions: Int
  package var partitionsBefore: Int
  /// Milliseconds since 1970.
  package var pausedAt: Int64?
  package var endedAt: Int64?
  package var copied = 0
  package var copiedBytes = 0
  /// Keys that were found equal on both sides.
  package var compared = 0
  /// Entries of logs among these.
  package var entries = 0
  /// Keys that expired during the move, on one side or both.
  package var expired = 0
  /// What whoever runs this should know.
  package var remarks: [String] = []
}
