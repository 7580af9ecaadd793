import Foundation
import TestKit
import Testing

@testable import BelfryRedis

/// A redis-server with a TLS port and a plain port, and an authority that has signed its certificate.
private struct Stage {
  let server: RedisServer
  let folder: String
  let authority: TestAuthority
  let port: UInt16

  func url(ca: Bool = true, host: String = "localhost", more: String = "") -> String {
    "rediss://\(host):\(port)?" + (ca ? "ca=\(authority.file)" : "") + more
  }

  static func with(
    names: String = "DNS:localhost,IP:127.0.0.1", clients: String = "no", _ body: (Stage) async throws -> Void
  ) async throws {
    let folder = try makeTemporaryFolder()
    defer { removeFolder(folder) }
    let authority = try TestAuthority(in: folder)
    let identity = try authority.identity(names: names)
    let port = try findFreePort()
    var options = RedisServer.Options()
    options.listensOnTCP = true
    options.settings = [
      "tls-port": "\(port)", "tls-cert-file": identity.certificateFile, "tls-key-file": identity.keyFile,
      "tls-ca-cert-file": authority.file, "tls-auth-clients": clients, "repl-diskless-sync-delay": "0",
    ]
    try await withRedisServer(options) { server in
      try await body(Stage(server: server, folder: folder, authority: authority, port: port))
    }
  }

  /// Why a connection does not come about.
  func failure(_ url: String, _ limits: RedisLimits = RedisLimits()) async throws -> RedisError? {
    try await withClient(of: url, limits) { client in
      #expect(
        await client.eventually {
          $0.connectionStates.contains { if case .lost = $0 { true } else { false } }
        })
      return await client.run { client in
        for case .lost(let error) in client.connectionStates { return error }
        return nil
      }
    }
  }
}

@Suite struct RedisTLSTests {
  @Test func commandsAndMessagesGoByTLS() async throws {
    try await Stage.with { stage in
      try await withClient(of: stage.url(), .patient) { client in
        try await client.subscribe("news")
        #expect(try await client.send(RedisCommand("SPUBLISH", "news", "hello")) == .integer(1))
        #expect(
          await client.eventually { $0.messages == [.init(channel: "news", payload: Array("hello".utf8))] })
        // More than a record, a socket's buffer and a piece of reading hold, both ways and at once.
        let values = (0..<40).map { String(repeating: "\($0)-", count: 50_000 + $0) }
        let replies = try await client.sendPipeline(
          values.enumerated().flatMap { index, value in
            [RedisCommand("SET", "key\(index)", value), RedisCommand("GET", "key\(index)")]
          })
        for (index, value) in values.enumerated() {
          #expect(replies[index * 2 + 1] == .bulk(Array(value.utf8)))
        }
      }
    }
  }

  @Test func aLinkThatBreaksIsMadeAgain() async throws {
    try await Stage.with { stage in
      try await withClient(of: stage.url(host: "127.0.0.1"), .patient) { client in
        for _ in 0..<5 {
          #expect(try await client.send(RedisCommand("PING")) == .status("PONG"))
          try stage.server.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
          #expect(await client.eventually { $0.connection.state != .ready })
          #expect(await client.eventually { $0.connection.state == .ready })
        }
        await stage.server.kill()
        try await stage.server.start()
        #expect(await client.eventually { $0.connection.state == .ready })
        #expect(try await client.send(RedisCommand("PING")) == .status("PONG"))
      }
    }
  }

  @Test func aRedisThatAsksWhoComesIsShownACertificate() async throws {
    try await Stage.with(clients: "yes") { stage in
      let own = try stage.authority.identity("client", names: "DNS:belfry")
      let url = stage.url(more: "&cert=\(own.certificateFile)&key=\(own.keyFile)")
      try await withClient(of: url, .patient) { client in
        let reply = try await client.send(RedisCommand("PING"))
        #expect(reply == .status("PONG"))
      }
      let without = try await stage.failure(stage.url())
      #expect(without?.cause.contains("certificate required") == true, "\(String(describing: without))")
    }
  }

  @Test func whomNobodyKnowsIsNotSpokenTo() async throws {
    try await Stage.with(names: "DNS:redis.example") { stage in
      let stranger = try await stage.failure(stage.url(ca: false))
      #expect(stranger?.code == .unavailable)
      #expect(stranger?.cause.hasPrefix("TLS failed: ") == true, "\(String(describing: stranger))")
      for host in ["localhost", "127.0.0.1"] {
        let other = try await stage.failure(stage.url(host: host))
        #expect(other?.cause.contains("for another host") == true, "\(String(describing: other))")
      }
    }
  }

  @Test func aPortWithoutTLSIsSaidToBeOne() async throws {
    try await Stage.with { stage in
      let port = try #require(stage.server.port)
      let error = try await stage.failure("rediss://localhost:\(port)?ca=\(stage.authority.file)")
      #expect(error?.cause.contains("does not speak TLS") == true, "\(String(describing: error))")
    }
  }

  @Test func filesThatCannotBeUsedAreNamed() async throws {
    try await Stage.with { stage in
      let own = try stage.authority.identity("client", names: "DNS:belfry")
      let other = try stage.authority.identity("other", names: "DNS:belfry")
      for (more, file, cause) in [
        ("?ca=/nowhere", "/nowhere", "No such file"), ("?ca=\(own.keyFile)", own.keyFile, "no certificate"),
        ("?cert=\(own.certificateFile)&key=\(other.keyFile)", other.keyFile, "not the certificate's key"),
      ] {
        let endpoint = try RedisEndpoint(url: "rediss://localhost" + more)
        let error = #expect(throws: RedisError.self) { try endpoint.checkFiles() }
        #expect(error?.place == file)
        #expect(error?.cause.contains(cause) == true, "\(String(describing: error))")
      }
    }
  }

  /// An authority that was replaced is trusted from the next connection on.
  @Test func changedFilesAreReadAgain() async throws {
    try await Stage.with { stage in
      let path = stage.folder + "/trusted.pem"
      let stranger = try TestAuthority(in: stage.folder, name: "a stranger")
      try FileManager.default.copyItem(atPath: stranger.file, toPath: path)
      try await withClient(of: "rediss://localhost:\(stage.port)?ca=\(path)", .patient) { client in
        #expect(
          await client.eventually {
            $0.connectionStates.contains { if case .lost = $0 { true } else { false } }
          })
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.copyItem(atPath: stage.authority.file, toPath: path)
        #expect(await client.eventually { $0.connection.state == .ready })
      }
    }
  }

  @Test func aSnapshotIsReadByTLS() async throws {
    try await Stage.with { stage in
      // Such as cannot be made smaller, and takes many records.
      let value = (0..<20_000).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
      try stage.server.command("SET", "key", value)
      let snapshot = try RedisSnapshot(of: try RedisEndpoint(url: stage.url()))
      var bytes: [UInt8] = []
      while let piece = try snapshot.next() { bytes += piece }
      #expect(bytes.starts(with: Array("REDIS".utf8)))
      #expect(bytes.count > value.utf8.count / 2)
    }
  }
}
