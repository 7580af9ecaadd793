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
      try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: parent.path)
      let error = try #require(throws: StartError.self) { try DataFolder(opening: parent.path) }
      #expect(error.code == .dataFolderUnusable)
    }
  }
}

@Suite struct SigningSecretTests {
  @Test func itIsMadeOnceForItsOwnerOnly() async throws {
    try await TemporaryFolder.with { parent in
      let folder = try DataFolder(opening: "\(parent.path)/data")
      let first = try SigningSecret(for: Configuration(), in: folder)
      #expect(first.bytes.count == 64)
      #expect(try parent.mode(of: "data/secret") == 0o600)
      #expect(try SigningSecret(for: Configuration(), in: folder) == first)
      #expect(try SigningSecret(inDataFolder: folder.path) == first)
    }
  }

  @Test func anotherFolderHasAnotherSecret() async throws {
    try await TemporaryFolder.with { parent in
      let one = try DataFolder(opening: "\(parent.path)/one")
      let two = try DataFolder(opening: "\(parent.path)/two")
      let configuration = Configuration()
      #expect(
        try SigningSecret(for: configuration, in: one) != SigningSecret(for: configuration, in: two))
    }
  }

  @Test(arguments: [0o640, 0o604, 0o660])
  func oneThatOthersMayReadIsRefused(mode: Int) async throws {
    try await TemporaryFolder.with { parent in
      let folder = try DataFolder(opening: parent.path)
      _ = try parent.write(String(repeating: "s", count: 64), to: "secret", mode: mode)
      let error = try #require(throws: StartError.self) {
        try SigningSecret(for: Configuration(), in: folder)
      }
      #expect(error.code == .secretUnusable)
      #expect(error.cause.contains("chmod 600"))
    }
  }

  @Test func oneThatIsTooShortIsRefused() async throws {
    try await TemporaryFolder.with { parent in
      let folder = try DataFolder(opening: parent.path)
      _ = try parent.write(String(repeating: "s", count: 31) + "\n", to: "secret")
      let error = try #require(throws: StartError.self) {
        try SigningSecret(for: Configuration(), in: folder)
      }
      #expect(error.code == .secretUnusable)
    }
  }

  @Test func aConfiguredOneLeavesTheFolderWithout() async throws {
    try await TemporaryFolder.with { parent in
      let folder = try DataFolder(opening: "\(parent.path)/data")
      let text = String(repeating: "s", count: 40)
      var configuration = Configuration()
      configuration.secret = .file(path: try parent.write(text + "\n", to: "mine", mode: 0o644))
      #expect(try SigningSecret(for: configuration, in: folder).bytes == Array(text.utf8))
      configuration.secret = .text(text)
      #expect(try SigningSecret(for: configuration, in: folder).bytes == Array(text.utf8))
      #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/secret"))
      #expect(throws: StartError.self) { try SigningSecret(inDataFolder: folder.path) }
    }
  }
}
