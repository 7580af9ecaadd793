import Foundation

// Cuts the end off an append-only file, as a Redis may have lost it after a crash.
extension RedisServer {
  /// The present end of the file. With ``Options/Sync/always`` that is after a whole command, the last that
  /// was answered.
  package func appendOnlyBytes() throws -> UInt64 {
    let attributes = try FileManager.default.attributesOfItem(atPath: try appendOnlyPath())
    return (attributes[.size] as? NSNumber)?.uint64Value ?? 0
  }

  /// Kills it and starts it again on what had been written up to there.
  package func restart(losingAfter bytes: UInt64) async throws {
    await kill()
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: try appendOnlyPath()))
    try file.truncate(atOffset: bytes)
    try file.close()
    try await start()
  }

  /// The file that grows. It stays the same as long as nothing makes Redis rewrite it.
  private func appendOnlyPath() throws -> String {
    let folder = folder + "/appendonlydir"
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    guard let name = names.filter({ $0.hasSuffix(".incr.aof") }).max() else {
      throw FixtureError("no append-only file in \(folder)")
    }
    return folder + "/" + name
  }
}
