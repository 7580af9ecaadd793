import BelfryRedis
import BelfryStore

/// `belfry restore`: makes a keyspace from a backup, in a data folder or a Redis that has none yet. The
/// restored keys are counted before a broker can see any of them.
package struct Restore {
  let file: String
  var configuration: Configuration
  let progress: @Sendable (BackupProgress) -> Void

  /// - Parameter options: the options of `belfry serve`. The backup is restored into the Redis that it would
  ///   use.
  package init(
    from file: String, into options: ServeOptions, environment: [String: String],
    progress: @escaping @Sendable (BackupProgress) -> Void
  ) throws(BackupError) {
    self.file = file
    self.progress = progress
    do throws(StartError) {
      configuration = try Configuration.load(options: options, environment: environment)
    } catch {
      throw BackupError(error)
    }
    // A Redis of the environment must not get what was meant for the folder.
    if let folder = options.data, options.redis == nil, configuration.redisURL != nil {
      throw BackupError(
        .targetUnclear,
        "the restore would go to the Redis of the configuration or of BELFRY_REDIS, and not into this folder",
        at: folder,
        advice:
          "to restore into the folder, unset BELFRY_REDIS and leave --config out; to restore into the Redis, leave --data out"
      )
    }
  }

  package func run() async throws(BackupError) -> BackupReport {
    guard let url = configuration.redisURL else { return try await restoreIntoFolder() }
    let contents = try check()
    try await restore(contents, into: try RedisEndpoint(backup: url))
    return report(contents, secretPath: nil)
  }

  /// Reads the whole file, before anything is changed.
  func check() throws(BackupError) -> BackupFile.Contents {
    progress(.checking)
    return try BackupFile.check(file) { progress(.checked(bytes: $0)) }
  }

  func report(_ contents: BackupFile.Contents, secretPath: String?) -> BackupReport {
    BackupReport(
      file: file, byteCount: contents.byteCount, counts: contents.counts,
      momentSeconds: contents.momentSeconds, secretPath: secretPath,
      hasSecret: secretPath.map(Folder.exists) ?? false, pushKeyPath: configuration.existingPushKeyPath)
  }

  func compare(
    _ counts: KeyspaceCounts, with contents: BackupFile.Contents, at place: String
  ) throws(BackupError) {
    guard BackupFile.text(counts) == BackupFile.text(contents.counts) else {
      throw BackupError(
        .countsDiffer,
        "the backup holds \(BackupFile.text(contents.counts)), but what was restored holds \(BackupFile.text(counts))",
        at: place, advice: "the restored data was removed again; did something else write there meanwhile?")
    }
  }
}
