import BelfryRedis
import BelfryStore

/// The current step of a backup or a restore, for a caller that shows progress.
package enum BackupProgress: Sendable, Hashable {
  case startingRedis(folder: String)
  /// Redis forks, and prepares a snapshot.
  case askingForSnapshot(of: String)
  case copied(bytes: Int)
  case checking
  case checked(bytes: Int)
  case restored(bytes: Int)
  case writingLog
  case countingRestored
}

/// The result of a backup or a restore.
package struct BackupReport: Sendable {
  package let file: String
  package let byteCount: Int
  let counts: KeyspaceCounts
  /// The moment that the backup shows, in seconds since 1970.
  package let momentSeconds: Int64?
  /// The path of the broker's secret, which no backup holds; nil if it is in no data folder.
  package let secretPath: String?
  /// True if there is a secret at `secretPath`.
  package let hasSecret: Bool
  /// The path of the key for Web Push in the broker's data folder, which no backup holds either; nil if there is none.
  package let pushKeyPath: String?

  package var namedCounts: [(name: String, count: Int)] { counts.byName }
}

/// `belfry backup`: copies the keyspace of a broker into a file.
///
/// Redis sends a snapshot of one moment, as it does to a new replica. Belfry's keys are copied from the
/// snapshot while it arrives. So a backup takes little memory, and no disk space except for the file itself.
/// Afterwards the file is read again, to check it.
package struct Backup {
  private let file: String
  private let configuration: Configuration
  private let progress: (BackupProgress) -> Void

  /// - Parameter options: the options of `belfry serve`. The Redis that it would use is backed up.
  package init(
    to file: String, of options: ServeOptions, environment: [String: String],
    progress: @escaping (BackupProgress) -> Void
  ) throws(BackupError) {
    self.file = file
    self.progress = progress
    do throws(StartError) {
      configuration = try Configuration.load(options: options, environment: environment)
    } catch {
      throw BackupError(error)
    }
  }

  /// Blocks its thread while it copies.
  package func run() async throws(BackupError) -> BackupReport {
    guard let url = configuration.redisURL else {
      return try await backUpEmbedded(try EmbeddedSource(configuration, progress))
    }
    return try await backUp(try RedisEndpoint(backup: url), secretPath: nil)
  }

  private func backUpEmbedded(_ source: EmbeddedSource) async throws(BackupError) -> BackupReport {
    defer { source.end() }
    let secret = configuration.secret == .dataFolder ? source.folder + "/secret" : nil
    return try await backUp(source.endpoint, secretPath: secret)
  }

  private func backUp(_ endpoint: RedisEndpoint, secretPath: String?) async throws(BackupError)
    -> BackupReport
  {
    // This comes first, so that Redis makes no snapshot for a file that cannot be written.
    let writer = try BackupWriter(file)
    progress(.askingForSnapshot(of: endpoint.description))
    let snapshot: RedisSnapshot
    do throws(RedisError) {
      snapshot = try RedisSnapshot(of: endpoint)
    } catch {
      throw BackupError(error, advice: Self.advice(error))
    }
    try await refuseMoved(endpoint)
    let contents = try copy(snapshot, endpoint, to: writer)
    progress(.checking)
    let written = try BackupFile.check(writer.draft) { progress(.checked(bytes: $0)) }
    guard BackupFile.text(written.counts) == BackupFile.text(contents.counts) else {
      throw BackupError(
        .countsDiffer,
        "Redis gave \(BackupFile.text(contents.counts)), but the file holds \(BackupFile.text(written.counts))",
        at: file)
    }
    try writer.keep()
    return BackupReport(
      file: file, byteCount: writer.bytesWritten, counts: written.counts,
      momentSeconds: contents.momentSeconds, secretPath: secretPath,
      hasSecret: secretPath.map(Folder.exists) ?? false, pushKeyPath: configuration.existingPushKeyPath)
  }

  /// Refuses a keyspace that a move has closed. Its backup would look right, and hold what brokers no longer change. A user of
  /// Redis who may do no more than take a snapshot is not asked for more rights.
  private func refuseMoved(_ endpoint: RedisEndpoint) async throws(BackupError) {
    try await RedisSession.with(endpoint) { session throws(BackupError) in
      let question = RedisCommand("HGET", FormatRecordField.key, FormatRecordField.format)
      guard let format = try? await session.ask(question).ifPresent?.string(), let record = MoveRecord(format)
      else { return }
      let isMoved = record.stage == .moved
      throw BackupError(
        isMoved ? .movedAlready : .moveUnderWay, record.refusal, at: endpoint.description,
        advice: isMoved ? "back up the Redis that it was moved to" : nil)
    }
  }

  private static func advice(_ error: RedisError) -> String? {
    if error.code == .unsuitable {
      return "to back up a cluster, copy the append-only files of all its nodes (docs/cluster.md)"
    }
    return switch error.replyCode {
    case "NOPERM":
      "the user in the URL needs permission for SYNC and REPLCONF"
    case "ERR" where error.cause.contains("unknown command"):
      "this Redis does not give snapshots to clients: use the backups of its operator"
    default: nil
    }
  }
}

// MARK: - From Redis's snapshot into the file

extension Backup {
  private func copy(
    _ snapshot: RedisSnapshot, _ endpoint: RedisEndpoint, to writer: BackupWriter
  ) throws(BackupError) -> BackupFile.Contents {
    let reader = RDBReader(endpoint.description, needsChecksum: false) { () throws(BackupError) in
      do throws(RedisError) {
        return try snapshot.next()
      } catch {
        throw BackupError(error)
      }
    }
    try reader.readHeader()
    try writer.begin(version: reader.version)
    try writer.note(BackupFile.Note.format, BackupFile.formatVersion)
    let contents = try copyItems(reader, writer, endpoint)
    guard contents.counts.keys > 0 else {
      throw BackupError(
        .nothingThere, "it has no Belfry data in database \(endpoint.database)",
        at: endpoint.description, advice: "name the Redis that the brokers use, with the same URL")
    }
    try writer.note(BackupFile.Note.counts, BackupFile.text(contents.counts))
    try writer.end()
    return contents
  }

  private func copyItems(
    _ reader: RDBReader, _ writer: BackupWriter, _ endpoint: RedisEndpoint
  ) throws(BackupError) -> BackupFile.Contents {
    var contents = BackupFile.Contents()
    var keysAnnounced = 0
    var keysSeen = 0
    while true {
      switch try reader.next() {
      case .end:
        // Redis's own count of its keys shows that the snapshot was understood.
        guard keysSeen == keysAnnounced else {
          throw BackupError(
            .countsDiffer, "it holds \(keysAnnounced) keys, but \(keysSeen) arrived", at: endpoint.description
          )
        }
        return contents
      case .size(endpoint.database, let keys): keysAnnounced += keys
      case .size: break
      case .note(let name, let value):
        try keep(name, value, &contents, writer)
      case .key(let key):
        if key.database == endpoint.database { keysSeen += 1 }
        try copy(key, reader, writer, isOurs: key.database == endpoint.database, &contents)
        progress(.copied(bytes: reader.bytesRead))
      }
    }
  }

  private func keep(
    _ name: String, _ value: String, _ contents: inout BackupFile.Contents, _ writer: BackupWriter
  ) throws(BackupError) {
    switch name {
    case BackupFile.Note.moment: contents.momentSeconds = Int64(value)
    case BackupFile.Note.redisVersion: break
    default: return
    }
    try writer.note(name, value)
  }

  private func copy(
    _ key: RDBReader.Key, _ reader: RDBReader, _ writer: BackupWriter, isOurs: Bool,
    _ contents: inout BackupFile.Contents
  ) throws(BackupError) {
    guard isOurs, let parts = KeyspaceKey(String(decoding: key.name, as: UTF8.self)) else {
      _ = try reader.readValue(of: key)
      return
    }
    if contents.counts.keys == 0 { try writer.selectDatabase() }
    try writer.begin(key)
    let entries = try reader.readValue(of: key, copyingTo: writer.write)
    contents.counts.add(parts, entries: entries)
  }
}

extension RedisEndpoint {
  /// The endpoint of a configured URL, which was checked when the configuration was read.
  init(backup url: String) throws(BackupError) {
    do throws(RedisError) {
      try self.init(url: url)
    } catch {
      throw BackupError(error)
    }
    guard sentinels == nil else {
      throw BackupError(
        .redisFailed, "a backup cannot find its Redis through Sentinels", at: description,
        advice: "name the Redis itself, such as redis://host:6379; for a backup a replica is enough")
    }
  }
}
