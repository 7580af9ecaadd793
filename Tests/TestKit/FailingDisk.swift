import Foundation

// A disk that takes nothing, as far as Redis can tell: its snapshots fail, since a folder has the name of their file.
extension RedisServer {
  private var snapshotPath: String { folder + "/dump.rdb" }

  /// From now on it refuses all writes (`MISCONF`).
  package func failDisk() async throws {
    try command("CONFIG", "SET", "save", "3600 1000000")
    try FileManager.default.createDirectory(atPath: snapshotPath, withIntermediateDirectories: false)
    try await saveSnapshot(with: "err")
  }

  package func healDisk() async throws {
    try FileManager.default.removeItem(atPath: snapshotPath)
    try await saveSnapshot(with: "ok")
  }

  private func saveSnapshot(with outcome: String) async throws {
    try command("BGSAVE")
    try await eventually {
      let facts = try command("INFO", "persistence")
      return facts.contains("rdb_bgsave_in_progress:0")
        && facts.contains("rdb_last_bgsave_status:\(outcome)")
    }
  }
}
