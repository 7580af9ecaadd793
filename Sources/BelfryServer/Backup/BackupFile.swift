import BelfryStore

/// A backup: a file in Redis's form of a snapshot (RDB), from which a redis-server starts. It holds the keys of one
/// keyspace and nothing else; its notes (RDB's "auxiliary fields") say that it is a backup, and how much it holds.
enum BackupFile {
  /// The content of a backup, known once the whole file was read and its checksum was right.
  struct Contents: Sendable {
    var counts = KeyspaceCounts()
    var byteCount = 0
    /// The moment that the backup shows: seconds since 1970, by the clock of its Redis.
    var momentSeconds: Int64?
  }

  enum Note {
    static let format = "belfry-backup"
    static let counts = "belfry-counts"
    /// Notes that Redis itself writes.
    static let moment = "ctime"
    static let redisVersion = "redis-ver"
  }

  /// The version of these notes.
  static let formatVersion = "1"

  /// Reads the whole file, to check it.
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

  /// The same as earlier builds wrote it, which counted some keys that expire.
  static func textOfEarlierBuilds(_ counts: KeyspaceCounts) -> String {
    counts.byName.map { name, count in
      "\(name) \(name == "keys" ? count + counts.keysOnceCounted : count)"
    }.joined(separator: ", ")
  }
}
