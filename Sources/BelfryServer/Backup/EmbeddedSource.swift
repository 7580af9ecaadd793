import BelfryRedis
import Glibc

/// The embedded Redis of a data folder: the one that a broker runs, or otherwise one that is started for this
/// backup.
struct EmbeddedSource {
  let folder: String
  let endpoint: RedisEndpoint
  /// The Redis that was started; nil if a broker runs one.
  private let started: EmbeddedRedis?

  init(_ configuration: Configuration, _ progress: (BackupProgress) -> Void) throws(BackupError) {
    folder = try Folder.resolve(configuration.dataFolder)
    guard try Folder.isThere(folder + "/redis") else {
      throw BackupError(
        .nothingThere, "no broker has run an embedded Redis in this folder", at: folder,
        advice: "--data DIR names the broker's data folder, and --redis URL a separate Redis")
    }
    do throws(StartError) {
      if let held = try Self.take(folder) {
        progress(.startingRedis(folder: held.path))
        let redis = try EmbeddedRedis(in: held, settings: configuration.embeddedRedis)
        try redis.start()
        started = redis
      } else {
        started = nil
      }
      endpoint = .unixSocket(try RedisSocketPath.choose(for: folder))
    } catch {
      throw BackupError(error)
    }
  }

  /// - Returns: nil if a broker runs on the folder.
  private static func take(_ folder: String) throws(StartError) -> DataFolder? {
    do throws(StartError) {
      let held = try DataFolder(opening: folder)
      try Folder.checkOwner(folder + "/redis")
      return held
    } catch {
      guard error.code == .dataFolderInUse else { throw error }
      return nil
    }
  }

  func end() {
    started?.stop()
  }
}
