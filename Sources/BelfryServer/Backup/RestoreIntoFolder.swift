import BelfryHooks
import BelfryRedis
import BelfryStore
import BelfrySystem
import Glibc

// Restores into a data folder. One redis-server reads the backup and writes its append-only file, in a draft
// folder next to `redis/`. A second redis-server starts from that file alone, as the broker's will, and its
// keys are counted. Then the draft folder is renamed to `redis/`.

extension Restore {
  /// The draft folder next to `redis/`. It exists until it is renamed, and a broker does not start while it
  /// exists.
  static let draftName = "restoring"
  /// The names that the data folder may contain before a restore: the secrets and the key that the broker is to use,
  /// and the remains of a restore that was killed.
  private static let allowedNames: Set<String> = ["secret", "secrets", VAPIDKey.fileName, "lock", draftName]

  func restoreIntoFolder() async throws(BackupError) -> BackupReport {
    let contents = try check()
    let isNew = !Folder.exists(configuration.dataFolder)
    let held: DataFolder
    do throws(StartError) {
      held = try DataFolder(opening: configuration.dataFolder)
      try Folder.checkOwner(held.path)
    } catch {
      throw BackupError(error)
    }
    do throws(BackupError) {
      try await restore(contents, into: held)
    } catch {
      if isNew { Folder.remove(held.path) }
      throw error
    }
    let secret = configuration.secret == .dataFolder ? held.path + "/secret" : nil
    return report(contents, secretPath: secret)
  }

  private func restore(
    _ contents: BackupFile.Contents, into held: DataFolder
  ) async throws(BackupError) {
    let draft = held.path + "/" + Self.draftName
    let others = try Folder.names(in: held.path).subtracting(Self.allowedNames)
    if Folder.exists(draft), !Folder.exists(draft + "/redis"), Folder.exists(held.path + "/redis") {
      throw BackupError(
        .folderNotEmpty, "an earlier belfry restore has put its data there, and was then stopped",
        at: held.path,
        advice: "start the broker with this data, or restore into a new folder")
    }
    guard others.isEmpty else {
      throw BackupError(
        .folderNotEmpty, "it is not empty (\(others.sorted().prefix(3).joined(separator: ", ")))",
        at: held.path,
        advice:
          "restore into a new folder; only secret, secrets and \(VAPIDKey.fileName) may be there already")
    }
    try removeLeftDraft(draft)
    defer { Folder.remove(draft) }
    try await writeDraft(draft)
    try await countDraft(draft, contents)
    try keepDraft(draft, held.path)
  }

  /// Removes the remains of a restore that was killed, after its redis-server has ended. Without the folder
  /// nobody would find that process again, and it would keep in memory everything that it had read.
  private func removeLeftDraft(_ draft: String) throws(BackupError) {
    if Folder.exists(draft + "/redis") {
      do throws(StartError) {
        _ = try RedisLock(in: draft + "/redis")
          .stopHolder(within: configuration.embeddedRedis.stopTimeout, isScratch: true)
      } catch {
        throw BackupError(error)
      }
    }
    Folder.remove(draft)
  }

  /// Starts a redis-server from the backup, and switches its append-only file on.
  private func writeDraft(_ draft: String) async throws(BackupError) {
    progress(.startingRedis(folder: draft))
    let imageName = "backup.rdb"
    try await withRedis(
      in: draft, arguments: ["--appendonly", "no", "--dbfilename", imageName, "--save", ""],
      prepare: { redisFolder throws(BackupError) in
        let target = try Folder.resolve(file)
        guard unsafe symlink(target, redisFolder + "/" + imageName) == 0 else {
          throw .refused("cannot link the backup", at: redisFolder)
        }
      }
    ) { session throws(BackupError) in
      progress(.writingLog)
      _ = try await session.ask(RedisCommand("CONFIG", "SET", "appendonly", "yes"))
      try await waitForLog(session)
    }
    guard unsafe unlink("\(draft)/redis/\(imageName)") == 0 else {
      throw .refused("cannot remove the link", at: draft)
    }
  }

  /// Waits until the append-only file holds all keys.
  private func waitForLog(_ session: RedisSession) async throws(BackupError) {
    while true {
      let facts = try await session.facts("persistence")
      // Redis would retry a failed rewrite for ever.
      guard facts["aof_enabled"] == "1", facts["aof_last_bgrewrite_status"] == "ok" else {
        throw BackupError(
          .redisFailed, "Redis could not write its append-only file: is the disk full?",
          at: session.endpoint.description)
      }
      if facts["aof_rewrite_in_progress"] == "0", facts["aof_rewrite_scheduled"] == "0" { return }
      _ = Poll.readable([], until: .now + .milliseconds(50))
    }
  }

  /// Starts another redis-server from that file alone, and counts its keys.
  private func countDraft(_ draft: String, _ contents: BackupFile.Contents) async throws(BackupError) {
    progress(.countingRestored)
    try await withRedis(in: draft) { session throws(BackupError) in
      try compare(try await session.count(), with: contents, at: draft)
    }
  }

  private func withRedis(
    in draft: String, arguments: [String] = [],
    prepare: (String) throws(BackupError) -> Void = { _ in },
    _ body: (RedisSession) async throws(BackupError) -> Void
  ) async throws(BackupError) {
    let redis: EmbeddedRedis
    let endpoint: RedisEndpoint
    do throws(StartError) {
      let held = try DataFolder(opening: draft)
      redis = try EmbeddedRedis(
        in: held, settings: configuration.embeddedRedis, arguments: arguments, isScratch: true)
      endpoint = .unixSocket(try RedisSocketPath.choose(for: held.path))
    } catch {
      throw BackupError(error)
    }
    let redisFolder = draft + "/redis"
    guard unsafe mkdir(redisFolder, 0o700) == 0 || errno == EEXIST else {
      throw .refused("cannot make the folder", at: redisFolder)
    }
    try prepare(redisFolder)
    do throws(StartError) {
      try redis.start()
    } catch {
      throw BackupError(error)
    }
    defer { redis.stop() }
    try await RedisSession.with(endpoint, body)
  }

  private func keepDraft(_ draft: String, _ folder: String) throws(BackupError) {
    try Folder.synchronize(draft + "/redis")
    guard unsafe rename(draft + "/redis", folder + "/redis") == 0 else {
      throw .refused("cannot move the restored data there", at: folder + "/redis")
    }
    try Folder.synchronize(folder)
  }
}

extension RedisSession {
  /// A section of INFO.
  func facts(_ section: String) async throws(BackupError) -> RedisInfo {
    let reply = try await ask(RedisCommand("INFO", section))
    do throws(RedisError) {
      return try RedisInfo(reply)
    } catch {
      throw BackupError(error)
    }
  }
}
