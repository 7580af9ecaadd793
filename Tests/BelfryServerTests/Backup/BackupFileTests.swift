import BelfryStore
import Foundation
import TestKit
import Testing

@testable import BelfryServer

@Suite(.timeLimit(.minutes(3))) struct BackupFileTests {
  @Test func theChecksumIsTheOneOfRedis() {
    var crc = CRC64()
    crc.update(Array("123456789".utf8)[...])
    #expect(crc.value == 0xe9c6_d914_c4b8_d9ca)
  }

  @Test func compressedTextIsReadAndWhatIsNoneIsRefused() {
    // Three bytes as they are, then five bytes copied from three before.
    let input: [UInt8] = [2, 97, 98, 99, 3 << 5, 2]
    #expect(LZF.decompress(input, to: 8) == Array("abcabcab".utf8))
    #expect(LZF.decompress(input, to: 7) == nil)
    #expect(LZF.decompress(input, to: 9) == nil)
    #expect(LZF.decompress([3 << 5, 2], to: 5) == nil)
    #expect(LZF.decompress([7 << 5], to: 5) == nil)
    #expect(LZF.decompress([2, 97], to: 3) == nil)
  }

  /// Earlier builds counted some keys that expire, and their backups are still good.
  @Test func theCountsOfEarlierBuildsAreKnown() throws {
    var counts = KeyspaceCounts()
    for name in ["format", "copies-lease:push", "registration:b.0", "ticket:abc", "active:1"] {
      counts.add(try #require(KeyspaceKey("belfry:{1.1}:" + name)), entries: 0)
    }
    #expect(BackupFile.text(counts).hasSuffix(", keys 1"))
    #expect(BackupFile.textOfEarlierBuilds(counts).hasSuffix(", keys 4"))
  }

  @Test func aBackupIsReadableByItsOwnerAndHoldsNothingOfOthers() async throws {
    try await TemporaryFolder.with { folder in
      try await withRedisServer(.debuggable()) { redis in
        try redis.fillKeyspace()
        let ours = try redis.keys("belfry:*")
        try redis.command("SET", "other", "secret of another program")
        try redis.command("FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() end)")
        let report = try await makeBackup(to: folder.path + "/b", redis: redis.url)
        #expect(try folder.mode(of: "b") == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["b"])
        let counts = Dictionary(uniqueKeysWithValues: report.namedCounts.map { ($0.name, $0.count) })
        #expect(
          counts == [
            "entries": 301, "accounts": 3, "servers": 1, "groups": 1, "rooms": 1, "keys": ours.count,
          ])
        let bytes = try Data(contentsOf: URL(filePath: folder.path + "/b"))
        #expect(bytes.range(of: Data("another program".utf8)) == nil)
        #expect(bytes.range(of: Data("register_function".utf8)) == nil)
      }
    }
  }

  /// Checks that a backup is in Redis's own form: a redis-server starts from it, without Belfry.
  @Test func aRedisServerStartsFromABackup() async throws {
    try await TemporaryFolder.with { folder in
      try await withRedisServer(.debuggable()) { redis in
        try redis.fillKeyspace()
        _ = try await makeBackup(to: folder.path + "/b", redis: redis.url)
        let digest = try redis.digest
        try redis.command("FLUSHALL")
        await redis.stop()
        try FileManager.default.copyItem(atPath: folder.path + "/b", toPath: redis.folder + "/dump.rdb")
        try await redis.start()
        #expect(try redis.digest == digest)
      }
    }
  }

  @Test func everyShortenedAndEveryChangedFileIsRefused() async throws {
    try await TemporaryFolder.with { folder in
      let file = folder.path + "/b"
      try await withRedisServer(.debuggable()) { redis in
        try redis.command(
          "XADD", "belfry:{1.1}:log:server:1", "*", "body", String(repeating: "ab", count: 60))
        try redis.command("SET", "belfry:expiring", "x", "PXAT", "4102444800123")
        try redis.command("SADD", "belfry:{2.1}:read:carol", "382402239304294400")
        _ = try await makeBackup(to: file, redis: redis.url)
      }
      let whole = try Data(contentsOf: URL(filePath: file))
      #expect(try BackupFile.check(file).byteCount == whole.count)
      let other = folder.path + "/other"
      for length in 0..<whole.count {
        try whole[..<length].write(to: URL(filePath: other))
        #expect(throws: BackupError.self, "cut to \(length) bytes") { try BackupFile.check(other) }
      }
      for place in 0..<whole.count {
        for change: UInt8 in [1, 0x80, 0xff] {
          var bytes = whole
          bytes[place] ^= change
          try bytes.write(to: URL(filePath: other))
          #expect(throws: BackupError.self, "byte \(place) changed") { try BackupFile.check(other) }
        }
      }
      try (whole.dropLast(8) + Data(repeating: 0, count: 8)).write(to: URL(filePath: other))
      #expect(throws: BackupError.self, "no checksum") { try BackupFile.check(other) }
      try (whole + Data([0])).write(to: URL(filePath: other))
      #expect(throws: BackupError.self, "one byte more") { try BackupFile.check(other) }
    }
  }

  @Test func aSnapshotThatIsNoBackupIsRefused() async throws {
    try await TemporaryFolder.with { folder in
      try await withRedisServer(.debuggable()) { redis in
        for fill in [false, true] {
          if fill { try redis.fillKeyspace() }
          try redis.command("SAVE")
          let refused = await refusal {
            try await restore(redis.folder + "/dump.rdb", data: folder.path + "/d")
          }
          #expect(refused?.code == "notABackup")
        }
      }
      for name in ["none", "/dev/null", try folder.write("hello\n", to: "text")] {
        #expect(await refusal { try await restore(name, data: folder.path + "/d") } != nil)
      }
      #expect(!FileManager.default.fileExists(atPath: folder.path + "/d"))
    }
  }

  @Test func nothingIsOverwrittenAndNothingIsLeftWhenRefused() async throws {
    try await TemporaryFolder.with { folder in
      try await withRedisServer(.debuggable()) { redis in
        let file = try folder.write("mine", to: "b")
        let empty = await refusal { try await makeBackup(to: folder.path + "/c", redis: redis.url) }
        #expect(empty?.code == "nothingThere")
        try redis.fillKeyspace()
        let existing = await refusal { try await makeBackup(to: file, redis: redis.url) }
        #expect(existing?.code == "fileExists")
        let otherDatabase = await refusal {
          try await makeBackup(to: folder.path + "/c", redis: redis.url + "?db=3")
        }
        #expect(otherDatabase?.code == "nothingThere")
        let elsewhere = await refusal { try await makeBackup(to: folder.path + "/none/c", redis: redis.url) }
        #expect(elsewhere?.code == "fileUnusable")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["b"])
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
      }
    }
  }

  @Test func aPortThatIsNoRedisIsNamed() async throws {
    try await TemporaryFolder.with { folder in
      try await withBroker { broker in
        let url = "redis://127.0.0.1:\(broker.port)"
        let error = await refusal { try await makeBackup(to: folder.path + "/c", redis: url) }
        #expect(
          error?.cause.hasPrefix("it is no Redis: it answered HTTP/1.1 400") == true,
          "\(String(describing: error))")
      }
    }
  }

  @Test func aRedisThatDiesInTheMiddleLeavesNoFile() async throws {
    try await TemporaryFolder.with { folder in
      try await withRedisServer(.debuggable()) { redis in
        try redis.command("DEBUG", "POPULATE", "200000", "belfry:x", "100")
        let once = Once()
        let refused = await refusal {
          try await makeBackup(to: folder.path + "/b", redis: redis.url) { progress in
            if case .copied = progress { once { try redis.crash() } }
          }
        }
        #expect(refused?.code == "redisFailed")
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(left == [])
      }
    }
  }

  /// On Redis's disk first, as it may be configured, and not as it comes.
  @Test func aSnapshotOfKnownLengthIsTheSame() async throws {
    try await TemporaryFolder.with { folder in
      var options = RedisServer.Options.debuggable()
      options.settings["repl-diskless-sync"] = "no"
      options.password = "p w"
      options.settings["rdbchecksum"] = "no"
      try await withRedisServer(options) { redis in
        try redis.fillKeyspace()
        let url = redis.url.replacingOccurrences(of: "p w", with: "p%20w")
        let report = try await makeBackup(to: folder.path + "/b", redis: url)
        #expect(report.counts.entries == 301)
        let digest = try redis.digest
        try redis.command("FLUSHALL")
        _ = try await restore(folder.path + "/b", redis: url)
        #expect(try redis.digest == digest)
        let refused = await refusal {
          try await makeBackup(to: folder.path + "/c", redis: "unix://" + redis.socketPath)
        }
        #expect(refused?.advice?.contains("asks for a password") == true)
      }
    }
  }
}
