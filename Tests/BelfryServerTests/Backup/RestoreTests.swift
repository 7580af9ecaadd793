import BelfryRedis
import Foundation
import Glibc
import TestKit
import Testing

@testable import BelfryServer

@Suite(.timeLimit(.minutes(3))) struct RestoreTests {
  /// Gives the body a backup of a filled keyspace, and the digest of its content.
  private func withBackup(_ body: (TemporaryFolder, String, String) async throws -> Void) async throws {
    try await TemporaryFolder.with { folder in
      let file = folder.path + "/b"
      let digest = try await withRedisServer(.debuggable()) { redis in
        try redis.fillKeyspace()
        _ = try await makeBackup(to: file, redis: redis.url)
        return try redis.digest
      }
      try await body(folder, file, digest)
    }
  }

  // MARK: Into a Redis

  @Test func aRedisHoldsTheSameAndKeepsWhatIsNotOurs() async throws {
    try await withBackup { _, file, digest in
      var options = RedisServer.Options.debuggable()
      options.listensOnTCP = true
      try await withRedisServer(options) { redis in
        let url = try #require(redis.tcpURL)
        _ = try await restore(file, redis: url)
        #expect(try redis.digest == digest)
        try redis.command("FLUSHALL")
        try redis.command("SET", "other", "1")
        _ = try await restore(file, redis: url)
        let others = try redis.keys("*").filter { !$0.hasPrefix("belfry:") }
        #expect(others == ["other"])
      }
    }
  }

  @Test func aRedisWithAKeyspaceIsRefusedAndNotTouched() async throws {
    try await withBackup { _, file, _ in
      try await withRedisServer(.debuggable()) { redis in
        try redis.command("HSET", "belfry:format", "version", "1")
        let before = try redis.digest
        let refused = await refusal { try await restore(file, redis: redis.url) }
        #expect(refused?.code == "keyspaceExists")
        #expect(refused?.cause.contains("belfry:format") == true)
        #expect(try redis.digest == before)
      }
    }
  }

  @Test func aBrokerThatComesMeanwhileStopsIt() async throws {
    try await withBackup { _, file, _ in
      try await withRedisServer(.debuggable()) { redis in
        let once = Once()
        let refused = await refusal {
          try await restore(file, redis: redis.url) { progress in
            if progress == .countingRestored { once { try redis.command("HSET", "belfry:format", "v", "1") } }
          }
        }
        #expect(refused?.code == "keyspaceExists")
        let left = try redis.keys("*")
        #expect(left == ["belfry:format"])
      }
    }
  }

  /// Something changes the restored keys before they can be seen.
  @Test func whatDoesNotCountTheSameIsRemovedAgain() async throws {
    try await withBackup { _, file, _ in
      try await withRedisServer(.debuggable()) { redis in
        let once = Once()
        let refused = await refusal {
          try await restore(file, redis: redis.url) { progress in
            guard progress == .countingRestored else { return }
            once { try redis.command("XTRIM", "belfry-restoring:{1.1}:log:server:1", "MAXLEN", "299") }
          }
        }
        #expect(refused?.code == "countsDiffer")
        #expect(refused?.cause.contains("entries 300,") == true, "\(refused?.cause ?? "")")
        let left = try redis.keys("*")
        #expect(left == [])
      }
    }
  }

  @Test func aRedisThatDiesInTheMiddleShowsNoneOfItAndIsRestoredIntoAgain() async throws {
    try await TemporaryFolder.with { folder in
      let file = folder.path + "/b"
      try await withRedisServer(.debuggable(.always)) { redis in
        try redis.command("DEBUG", "POPULATE", "5000", "belfry:x", "100")
        _ = try await makeBackup(to: file, redis: redis.url)
        let digest = try redis.digest
        try redis.command("FLUSHALL")
        let once = Once()
        let refused = await refusal {
          try await restore(file, redis: redis.url) { progress in
            if case .restored = progress { once { try redis.crash() } }
          }
        }
        #expect(refused?.code == "redisFailed")
        await redis.kill()
        try await redis.start()
        let visible = try redis.keys("belfry:*")
        #expect(visible == [])
        let drafts = try redis.keys("belfry-restoring:*")
        #expect(!drafts.isEmpty, "it died in the middle")
        _ = try await restore(file, redis: redis.url)
        #expect(try redis.digest == digest)
      }
    }
  }

  @Test func aRedisWithoutTheMemoryKeepsNothing() async throws {
    try await TemporaryFolder.with { folder in
      let file = folder.path + "/b"
      try await withRedisServer(.debuggable()) { redis in
        try redis.command("DEBUG", "POPULATE", "5000", "belfry:x", "1000")
        _ = try await makeBackup(to: file, redis: redis.url)
        try redis.command("FLUSHALL")
        try redis.command("CONFIG", "SET", "maxmemory", "3mb")
        let refused = await refusal { try await restore(file, redis: redis.url) }
        #expect(refused?.advice?.contains("maxmemory") == true, "\(refused?.description ?? "")")
        let left = try redis.keys("*")
        #expect(left == [])
      }
    }
  }

  // MARK: Into a folder

  @Test func theEmbeddedRedisHoldsTheSameAndGoesOnKeepingIt() async throws {
    try await withBackup { folder, file, _ in
      let report = try await restore(file, data: folder.path + "/d/e")
      #expect(!report.hasSecret)
      #expect(report.secretPath == folder.path + "/d/e/secret")
      for round in 0...1 {
        let held = try DataFolder(opening: folder.path + "/d/e")
        let redis = try EmbeddedRedis(in: held, settings: EmbeddedRedisSettings())
        try redis.start()
        let cli = RedisCLI(url: redis.endpointURL)
        #expect(try cli("XLEN", "belfry:{1.1}:log:server:1") == "\(300 + round)")
        #expect(try cli("PEXPIRETIME", "belfry:expiring") == "4102444800123")
        #expect(try cli("CONFIG", "GET", "appendonly") == "appendonly\nyes")
        _ = try cli("XADD", "belfry:{1.1}:log:server:1", "*", "a", "b")
        redis.stop()
      }
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/d/e")
      #expect(Set(names) == ["lock", "redis"])
    }
  }

  @Test func aFolderThatHoldsOnlySecretsAndAKeyIsTaken() async throws {
    try await withBackup { folder, file, _ in
      let data = folder.path + "/d"
      try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: false)
      _ = try folder.write("0123456789abcdef0123456789abcdef", to: "d/secret")
      let key = try folder.write("a key", to: "d/push-key.pem")
      let report = try await restore(file, data: data)
      #expect(report.hasSecret && report.pushKeyPath == key)
      // Now it holds something.
      let refused = await refusal { try await restore(file, data: data) }
      #expect(refused?.code == "folderNotEmpty")
      #expect(refused?.cause.contains("redis") == true)
      #expect(try await makeBackup(to: folder.path + "/again", data: data).counts.entries == 301)
    }
  }

  @Test func aFolderInUseIsRefused() async throws {
    try await withBackup { folder, file, _ in
      let held = try DataFolder(opening: folder.path + "/d")
      let refused = await refusal { try await restore(file, data: held.path) }
      #expect(refused?.code == "dataFolderInUse")
      #expect(try FileManager.default.contentsOfDirectory(atPath: held.path) == ["lock"])
    }
  }

  @Test func aRedisServerThatCannotReadItLeavesNothing() async throws {
    try await withBackup { folder, file, _ in
      // The file claims a version of a Redis that is not released yet. Only the redis-server can tell.
      var bytes = Array(try Data(contentsOf: URL(filePath: file)).dropLast(8))
      bytes.replaceSubrange(5..<9, with: Array("0099".utf8))
      var crc = CRC64()
      crc.update(bytes[...])
      for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: crc.value >> (8 * shift))) }
      try Data(bytes).write(to: URL(filePath: folder.path + "/new"))
      let refused = await refusal { try await restore(folder.path + "/new", data: folder.path + "/d") }
      #expect(refused?.code == "redisUnusable")
      #expect(refused?.cause.contains("format version 99") == true, "\(refused?.cause ?? "")")
      #expect(!FileManager.default.fileExists(atPath: folder.path + "/d"))
      try await withRedisServer(.debuggable()) { redis in
        let byURL = await refusal { try await restore(folder.path + "/new", redis: redis.url) }
        #expect(byURL?.advice?.contains("later version of Redis") == true, "\(byURL?.description ?? "")")
        let left = try redis.keys("*")
        #expect(left == [])
      }
    }
  }

  @Test func aRestoreThatWasKilledKeepsTheBrokerFromStartingAndIsDoneAgain() async throws {
    try await withBackup { folder, file, _ in
      let data = folder.path + "/d"
      try FileManager.default.createDirectory(
        atPath: data + "/restoring/redis", withIntermediateDirectories: true)
      do {
        let redis = try EmbeddedRedis(in: try DataFolder(opening: data), settings: EmbeddedRedisSettings())
        let error = #expect(throws: StartError.self) { try redis.start() }
        #expect(error?.place == data + "/restoring")
      }
      _ = try await restore(file, data: data)
      #expect(!FileManager.default.fileExists(atPath: data + "/restoring"))
    }
  }

  /// An operator's shell may still have the Redis of other brokers.
  @Test func aFolderIsNotRestoredIntoTheRedisOfTheEnvironment() async throws {
    try await withBackup { folder, file, _ in
      try await withRedisServer(.debuggable()) { redis in
        let refused = await refusal {
          try await restore(file, redis: redis.url, data: folder.path + "/d")
        }
        #expect(refused?.code == "targetUnclear" && refused?.advice?.contains("unset BELFRY_REDIS") == true)
        let keys = try redis.keys("*")
        #expect(keys == [])
      }
    }
  }

  /// It was killed between its last two steps, so the data is in its place.
  @Test func aRestoreThatWasKilledAtItsVeryEndHasDoneItsWork() async throws {
    try await withBackup { folder, file, _ in
      let data = folder.path + "/d"
      _ = try await restore(file, data: data)
      try FileManager.default.createDirectory(atPath: data + "/restoring", withIntermediateDirectories: true)
      let again = await refusal { try await restore(file, data: data) }
      #expect(again?.cause.contains("an earlier belfry restore has put its data there") == true)
      let redis = try EmbeddedRedis(in: try DataFolder(opening: data), settings: EmbeddedRedisSettings())
      try redis.start()
      redis.stop()
    }
  }

  /// Each would remove what the other has restored so far.
  @Test func twoRestoresIntoOneRedisDoNotRunTogether() async throws {
    try await withBackup { _, file, _ in
      try await withRedisServer(.debuggable()) { redis in
        let endpoint = try RedisEndpoint(url: redis.url)
        let name = OtherCommands.restores.connectionName
        let refused = try await RedisSession.with(endpoint, onceAs: name) { other throws(BackupError) in
          _ = try await other.ask(RedisCommand("PING"))
          return await refusal { try await restore(file, redis: redis.url) }
        }
        #expect(refused?.code == "restoreUnderWay")
        #expect(try redis.keys("*") == [])
        _ = try await restore(file, redis: redis.url)
      }
    }
  }

  /// The process that the backup was made from may be the one that it is restored into.
  @Test func aRestoredPartitionBeginsAnotherHistory() async throws {
    try await TemporaryFolder.with { folder in
      try await withRedisServer { redis in
        let (file, partition) = (folder.path + "/b", "belfry:{1.1}:partition")
        try redis.command("HSET", partition, "last", "1-1", "history", "abc")
        // Keys of an account called `partition`.
        try redis.command("SADD", "belfry:{1.1}:read:partition", "1")
        try redis.command("HSET", "belfry:{1.1}:account:partition", "history", "0")
        _ = try await makeBackup(to: file, redis: redis.url)
        try redis.command("FLUSHALL")
        _ = try await restore(file, redis: redis.url)
        #expect(try redis.command("HGETALL", partition) == "last\n1-1")
        #expect(try redis.command("SMEMBERS", "belfry:{1.1}:read:partition") == "1")
        #expect(try redis.command("HGETALL", "belfry:{1.1}:account:partition") == "history\n0")
      }
    }
  }

  /// The orphan holds in memory everything that it has read, in a folder that is about to be removed.
  @Test func theNextRestoreEndsTheRedisServerOfOneThatWasKilled() async throws {
    try await withBackup { folder, file, _ in
      let data = folder.path + "/d"
      let orphan = try Orphan(in: try DataFolder(opening: data + "/restoring"))
      defer { orphan.letGo() }
      let process = try #require(RunningProcess(orphan.processID))
      process.signal(SIGSTOP)
      _ = try await restore(file, data: data)
      let hasEnded = process.waitForEnd(for: .zero)
      #expect(hasEnded)
      if !hasEnded { process.signal(SIGKILL) }
      #expect(!FileManager.default.fileExists(atPath: data + "/restoring"))
    }
  }

  @Test func aFolderWithoutARedisHasNoBackup() async throws {
    try await TemporaryFolder.with { folder in
      for data in [folder.path, folder.path + "/none"] {
        #expect(await refusal { try await makeBackup(to: folder.path + "/b", data: data) } != nil)
      }
      let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(left == [])
    }
  }

  // MARK: Keys that have expired

  @Test func whatHasExpiredSinceTheBackupIsNotMissed() async throws {
    try await TemporaryFolder.with { folder in
      let file = folder.path + "/b"
      // The backup is made an hour ago. A key that expires half an hour later has expired when it is
      // restored.
      let clock = try await ShiftedClock()
      try clock.step(bySeconds: -3_600)
      var options = RedisServer.Options.debuggable()
      options.clock = clock
      try await withRedisServer(options) { redis in
        try redis.fillKeyspace()
        let lasting = try redis.keys("belfry:*")
        try redis.addExpiring(milliseconds: 1_800_000)
        let counts = try await makeBackup(to: file, redis: redis.url).namedCounts
        #expect(counts.first { $0.name == "keys" }?.count == lasting.count)
        let kept = try keys(in: file)
        #expect(kept.count == lasting.count + 5, "they are in the backup")
        try clock.step(bySeconds: 3_600)
        try redis.command("FLUSHALL")
        _ = try await restore(file, redis: redis.url)
        #expect(try redis.keys("belfry:*") == lasting)
      }
      _ = try await restore(file, data: folder.path + "/d")
      let copy = try await makeBackup(to: folder.path + "/again", data: folder.path + "/d")
      #expect(copy.counts.entries == 301)
      #expect(try keys(in: folder.path + "/again").count == (try keys(in: file)).count - 5)
    }
  }

  private func keys(in file: String) throws -> [String] {
    let reader = try BackupReader(file)
    var names: [String] = []
    while let key = try reader.nextKey() {
      names.append(String(decoding: key.name, as: UTF8.self))
      try reader.readValue(of: key)
    }
    return names
  }

  // MARK: A disk that is full

  @Test func aFullDiskLeavesNoFileAndNoFolder() async throws {
    try await TemporaryFolder.with { folder in
      let small = folder.path + "/small"
      try FileManager.default.createDirectory(atPath: small, withIntermediateDirectories: false)
      // This needs the right to mount a file system.
      guard unsafe mount("none", small, "tmpfs", 0, "size=1m") == 0 else { return }
      defer { unsafe umount2(small, Int32(MNT_DETACH)) }
      try await withRedisServer(.debuggable()) { redis in
        try redis.command("DEBUG", "POPULATE", "100000", "belfry:x")
        let refused = await refusal { try await makeBackup(to: small + "/b", redis: redis.url) }
        #expect(refused?.cause.contains("No space left") == true)
        let left = try FileManager.default.contentsOfDirectory(atPath: small)
        #expect(left == [])
        _ = try await makeBackup(to: folder.path + "/b", redis: redis.url)
        let refusedToo = await refusal {
          // A redis-server that cannot write its data does not end by itself.
          try await restore(folder.path + "/b", data: small + "/d", stopTimeout: .seconds(1))
        }
        #expect(refusedToo != nil)
        let leftThen = try FileManager.default.contentsOfDirectory(atPath: small)
        #expect(leftThen == [])
      }
    }
  }
}
