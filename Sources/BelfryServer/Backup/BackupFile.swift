import BelfryStore

/// A backup: one file in Redis's own form of a snapshot (RDB), which holds the keys of one keyspace and nothing
/// else, and says in its notes that it is a backup and how much is in it. A redis-server starts from it.
enum BackupFile {
  /// What it holds, all of it read and its checksum right.
  struct Contents: Sendable {
    var counts = KeyspaceCounts()
    var byteCount = 0
    /// When everything was as it is in there: seconds since 1970, by the clock of the Redis it comes from.
    var momentSeconds: Int64?
  }

  enum Note {
    static let format = "belfry-backup"
    static let counts = "belfry-counts"
    /// What Redis writes of itself.
    static let moment = "ctime"
    static let redisVersion = "redis-ver"
  }

  /// Of the notes and of how they are to be read.
  static let formatVersion = "1"

  /// Reads it all.
  static func check(
    _ path: String, progress: (_ bytes: Int) -> Void = { _ in }
  ) throws(BackupError) -> Contents {
    let reader = try BackupReader(path)
    while let key = try reader.nextKey() {
      try reader.readValue(of: key)
      progress(reader.bytesRead)
    }
    return reader.contents
  }

  static func text(_ counts: KeyspaceCounts) -> String {
    counts.byName.map { "\($0.name) \($0.count)" }.joined(separator: ", ")
  }
}
