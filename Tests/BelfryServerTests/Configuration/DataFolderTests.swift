import BelfrySystem
import Foundation
import Testing

@testable import BelfryServer

@Suite struct DataFolderTests {
  @Test func aFolderIsMadeForItsOwnerOnly() async throws {
    try await TemporaryFolder.with { parent in
      let folder = try DataFolder(opening: "\(parent.path)/a/b")
      #expect(folder.path.hasSuffix("/a/b"))
      #expect(try parent.mode(of: "a/b") == 0o700)
    }
  }

  @Test func onlyOneBrokerMayHaveIt() async throws {
    try await TemporaryFolder.with { parent in
      let path = "\(parent.path)/data"
      let first = try DataFolder(opening: path)
      let error = try #require(throws: StartError.self) { try DataFolder(opening: path) }
      #expect(error.code == .dataFolderInUse)
      #expect(error.cause.contains("\(getpid())"))
      #expect(error.place == first.path)
    }
  }

  /// One secret in 64 would have such a name.
  @Test func noSecretIsNamedLikeAnOption() {
    for _ in 0..<1_000 {
      let kid = TokenSigner(secret: SigningSecret.random().bytes).kid.string
      #expect(!kid.hasPrefix("-"))
      #expect(kid.count == SecretFolder.kidLength)
    }
  }

  @Test func itIsFreeAgainAfterwards() async throws {
    try await TemporaryFolder.with { parent in
      let path = "\(parent.path)/data"
      func useOnce() throws { _ = try DataFolder(opening: path) }
      try useOnce()
      // Another test may be starting a process, which shares our descriptors for an instant.
      let isFree = Poll.until(.now + .seconds(60)) { (try? DataFolder(opening: path)) != nil }
      #expect(isFree)
    }
  }

  @Test func whatIsNotAFolderOfOursIsRefused() async throws {
    try await TemporaryFolder.with { parent in
      let file = try parent.write("", to: "file")
      #expect(throws: StartError.self) { try DataFolder(opening: file) }
      #expect(throws: StartError.self) { try DataFolder(opening: "\(file)/inside") }
    }
  }

  @Test(arguments: [0o777, 0o770, 0o775, 0o722, 0o702])
  func oneThatOthersMayWriteToIsRefused(mode: Int) async throws {
    try await TemporaryFolder.with { parent in
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: parent.path)
      let error = try #require(throws: StartError.self) { try DataFolder(opening: parent.path) }
      #expect(error.code == .dataFolderUnusable)
      #expect(error.cause.contains("chmod go-w \(parent.path)"))
    }
  }

  /// Only root can give a folder away.
  @Test(.enabled(if: geteuid() == 0)) func oneOfAnotherUserIsRefused() async throws {
    try await TemporaryFolder.with { parent in
      #expect(unsafe chown(parent.path, 12_345, 12_345) == 0)
      let error = try #require(throws: StartError.self) { try DataFolder(opening: parent.path) }
      #expect(error.code == .dataFolderUnusable)
      #expect(error.cause.contains("it belongs to the user with id 12345"))
      #expect(!FileManager.default.fileExists(atPath: "\(parent.path)/lock"))
    }
  }

  @Test(arguments: [0o755, 0o704, 0o701, 0o770])
  func aFolderOfRedisThatIsOpenToOthersIsRefused(mode: Int) async throws {
    try await TemporaryFolder.with { parent in
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: parent.path)
      let folder = try DataFolder(opening: parent.path)
      let path = "\(parent.path)/redis"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
      let redis = try EmbeddedRedis(in: folder, settings: EmbeddedRedisSettings())
      let error = try #require(throws: StartError.self) { try redis.start() }
      #expect(error.cause.contains("chmod 700 \(path)"))
      try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
      try redis.start()
      redis.stop()
    }
  }
}
