import BelfryRedis
import Glibc

/// Why a backup was not made or not restored, or why a keyspace was not moved. Nothing is left half done,
/// unless the error says so.
package struct BackupError: Error, Hashable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// The file cannot be read or written.
    case fileUnusable
    /// A file of that name exists; none is overwritten.
    case fileExists
    /// The file is something else than what `belfry backup` writes.
    case notABackup
    /// The file is cut short, or its bytes are not those that were written.
    case damaged
    /// The file or the keyspace that was written holds less than its source.
    case countsDiffer
    /// The source of the backup has no keys of Belfry's.
    case nothingThere
    /// The data folder to restore into holds something.
    case folderNotEmpty
    /// The Redis to restore into holds a keyspace.
    case keyspaceExists
    /// A folder is named to restore into, and the configuration has a Redis.
    case targetUnclear
    /// Redis is away or refuses.
    case redisFailed
    /// The Redis to move from or to is not suitable: it is a replica, a node without all slots, or an older
    /// release.
    case redisUnsuitable
    /// The keyspace to move has another version or number of partitions than was asked for.
    case partitionsDiffer
    /// The Redis to move to does not have enough memory.
    case noRoom
    /// Another move has begun, or is under way.
    case moveUnderWay
    /// Another command restores into the same Redis.
    case restoreUnderWay
    /// There is no move to cancel, or it is complete.
    case nothingToCancel
    /// The keyspace was moved already.
    case movedAlready
  }

  /// A word for programs: one of `Code`, or of `StartError.Code`.
  package let code: String
  package let cause: String
  /// The file, the folder or the Redis that the error is about. It never holds a password.
  package let place: String
  /// A suggestion for the reader, if there is one.
  package var advice: String?

  init(_ code: Code, _ cause: String, at place: String, advice: String? = nil) {
    self.code = code.rawValue
    self.cause = cause
    self.place = place
    self.advice = advice
  }

  init(_ error: StartError) {
    code = error.code.rawValue
    cause = error.cause
    place = error.place
  }

  /// - Parameter advice: nil for the general advice about the error, if there is any.
  init(_ error: RedisError, advice: String? = nil) {
    self.init(.redisFailed, error.cause, at: error.place, advice: advice ?? Self.advice(error))
  }

  private static func advice(_ error: RedisError) -> String? {
    switch error.firstWord {
    case "WRONGPASS": "correct the user or the password in the URL of Redis"
    case "NOAUTH": "this Redis asks for a password: add it to the URL"
    case "NOPERM": "the user in the URL needs more rights in Redis"
    case "LOADING": "it is loading its data: try again when it is ready"
    default: nil
    }
  }

  /// A failed system call. The cause is taken from `errno`, so this is called right after it.
  static func refused(_ action: String, at place: String) -> BackupError {
    let reason = unsafe String(cString: strerror(errno))
    return BackupError(.fileUnusable, "\(action): \(reason)", at: place)
  }

  package var description: String { "\(place): \(cause) (\(code))" }
}
