import BelfryTransport
import Foundation
import Glibc
import TestKit
import Testing

extension EndToEnd {
  /// These brokers always speak TLS, independent of `BELFRY_TEST_TLS`.
  @Suite struct TLSTests {
    private struct Stage {
      let folder: String
      let authority: TestAuthority
      let identity: TestAuthority.Identity

      init() throws {
        folder = try makeTemporaryFolder()
        authority = try TestAuthority(in: folder)
        identity = try authority.identity()
      }

      func broker(redisURL: String, _ options: [String: String] = [:]) throws -> Broker {
        let files = [
          "BELFRY_TLS_CERTIFICATE_FILE": identity.certificateFile, "BELFRY_TLS_KEY_FILE": identity.keyFile,
        ]
        return try Broker(
          redisURL: redisURL, options: files.merging(options) { $1 }, tls: authority.clientContext())
      }

      func isTrusted(_ authority: TestAuthority, by broker: Broker) -> Bool {
        (try? Wire(port: broker.port, tls: authority.clientContext()).request("GET", "/healthz"))?.status
          == 200
      }

      static func with(_ body: (Stage, RedisServer) async throws -> Void) async throws {
        let stage = try Stage()
        defer { removeFolder(stage.folder) }
        try await withRedisServer { try await body(stage, $0) }
      }
    }

    /// The output of the command line, over https.
    private func belfry(port: UInt16, ca: String?, _ arguments: String...) throws -> (
      Int32, String, String
    ) {
      let (process, output, errors) = (Process(), Pipe(), Pipe())
      process.executableURL = URL(filePath: Broker.executable)
      process.arguments = arguments + ["--url", "https://localhost:\(port)"]
      let token = try TestTokens.mint(subject: "ops", role: "operator", device: nil, ttlSeconds: 600)
      process.environment = ["BELFRY_TOKEN": token, "BELFRY_CA": ca ?? ""]
      (process.standardOutput, process.standardError) = (output, errors)
      try process.run()
      let said = output.fileHandleForReading.readDataToEndOfFile()
      let complaint = errors.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return (
        process.terminationStatus, String(decoding: said, as: UTF8.self),
        String(decoding: complaint, as: UTF8.self)
      )
    }

    @Test func theCommandLineChecksWhomItSpeaksTo() async throws {
      try await Stage.with { stage, redis in
        let broker = try stage.broker(redisURL: redis.url)
        try await broker.start()
        let (code, said, _) = try belfry(port: broker.port, ca: stage.authority.file, "stats", "--json")
        #expect(code == 0 && said.contains("uptimeSeconds"))
        let (refused, _, complaint) = try belfry(port: broker.port, ca: nil, "stats")
        #expect(refused == 1)
        #expect(
          complaint.contains("certificate is not trusted") && complaint.contains("--ca FILE"), "\(complaint)")
        await broker.remove()
      }
    }

    /// A Redis presents the certificate, which the command line refuses before it says anything.
    @Test func anExpiredCertificateIsNoUnknownOne() async throws {
      try await Stage.with { stage, _ in
        let old = try stage.authority.identity("old", lasting: -60)
        let port = try findFreePort()
        var options = RedisServer.Options()
        options.settings = [
          "tls-port": "\(port)", "tls-cert-file": old.certificateFile, "tls-key-file": old.keyFile,
          "tls-ca-cert-file": stage.authority.file,
        ]
        try await withRedisServer(options) { _ in
          let (refused, _, complaint) = try belfry(port: port, ca: stage.authority.file, "stats")
          #expect(refused == 1)
          #expect(complaint.contains("the broker's certificate has expired, by the clock of this machine"))
          #expect(!complaint.contains("--ca FILE"), "\(complaint)")
        }
      }
    }

    @Test func theMetricsSayWhenTheCertificateExpires() async throws {
      try await Stage.with { stage, redis in
        let before = Int64(Date().timeIntervalSince1970)
        let short = try stage.authority.identity("short", lasting: 5_000)
        let after = Int64(Date().timeIntervalSince1970)
        let options = [
          "BELFRY_TLS_CERTIFICATE_FILE": short.certificateFile, "BELFRY_TLS_KEY_FILE": short.keyFile,
        ]
        let broker = try stage.broker(redisURL: redis.url, options)
        try await broker.start()
        let metrics = try Wire(port: broker.port, tls: stage.authority.clientContext())
          .request("GET", "/metrics")
        let line = try #require(
          metrics.text.firstMatch(of: #/(?m)^belfry_tls_certificate_expiry_timestamp_seconds (\d+)$/#))
        let expiry = try #require(Int64(line.1))
        #expect((before + 5_000...after + 5_000).contains(expiry))
        await broker.remove()
      }
    }

    @Test func redisIsSpokenToByTLS() async throws {
      try await Stage.with { stage, _ in
        let port = try findFreePort()
        var options = RedisServer.Options()
        options.settings = [
          "tls-port": "\(port)", "tls-cert-file": stage.identity.certificateFile,
          "tls-key-file": stage.identity.keyFile, "tls-ca-cert-file": stage.authority.file,
        ]
        try await withRedisServer(options) { _ in
          // Such a Redis asks for a client certificate by default.
          let files =
            "ca=\(stage.authority.file)&cert=\(stage.identity.certificateFile)&key=\(stage.identity.keyFile)"
          let broker = try stage.broker(redisURL: "rediss://localhost:\(port)?\(files)")
          try await broker.start()
          let token = try TestTokens.mint(subject: "alice", role: "user", device: nil, ttlSeconds: 600)
          let answer = try Wire(port: broker.port, tls: stage.authority.clientContext()).request(
            "POST", "/v1/notifications",
            headers: ["Authorization": "Bearer \(token)", "Content-Type": "application/json"],
            body: Array(#"{"toAccids":["bob"],"body":"by TLS"}"#.utf8))
          #expect(answer.status == 201)
          await broker.remove()
        }
      }
    }

    @Test func aChangedCertificateIsTakenAndABrokenOneIsNot() async throws {
      try await Stage.with { stage, redis in
        let broker = try stage.broker(redisURL: redis.url)
        try await broker.start()
        let before = try Wire(port: broker.port, tls: stage.authority.clientContext())
        let other = try TestAuthority(in: stage.folder, name: "another authority")
        // Both files are replaced under their names, one after the other.
        _ = try other.identity()
        broker.signal(SIGHUP)
        try await eventually(within: Broker.patience) { stage.isTrusted(other, by: broker) }
        #expect(!stage.isTrusted(stage.authority, by: broker))
        #expect(try before.request("GET", "/healthz").status == 200)
        #expect(broker.log.contains("the certificate has changed"))

        try Data("no certificate".utf8).write(to: URL(filePath: stage.identity.certificateFile))
        try await eventually(within: Broker.patience) {
          broker.log.contains("the new certificate is unusable, so the earlier one stays in use")
        }
        #expect(broker.log.contains("tls.certificateFile"))
        #expect(stage.isTrusted(other, by: broker))
        // This also works without a signal.
        _ = try stage.authority.identity()
        try await eventually(within: Broker.patience) { stage.isTrusted(stage.authority, by: broker) }
        await broker.remove()
      }
    }

    @Test func whatCannotBeUsedIsNamedAtTheStart() async throws {
      try await Stage.with { stage, redis in
        let other = try stage.authority.identity("other")
        for (options, words) in [
          (
            ["BELFRY_TLS_CERTIFICATE_FILE": "/nowhere.pem"],
            "tls.certificateFile: /nowhere.pem: cannot read it"
          ),
          (
            ["BELFRY_TLS_KEY_FILE": other.keyFile],
            "tls.keyFile: \(other.keyFile): it is not the certificate's key"
          ),
          (["BELFRY_TLS_KEY_FILE": ""], "tls.keyFile: it is needed, because tls.certificateFile is set"),
          (
            ["BELFRY_TLS_CERTIFICATE_FILE": other.keyFile],
            "tls.certificateFile: \(other.keyFile): it has no certificate"
          ),
          (["BELFRY_TLS_MINIMUM": "1.1"], "BELFRY_TLS_MINIMUM: it must be"),
          (["BELFRY_REDIS": "rediss://localhost?ca=/nowhere.pem"], "redis: /nowhere.pem: cannot read it"),
        ] {
          let broker = try stage.broker(redisURL: redis.url, options)
          try await broker.start(waits: false)
          #expect(await broker.hasEnded())
          #expect(broker.log.contains(words), "\(broker.log)")
          await broker.remove()
        }
      }
    }

    @Test func anExpiredCertificateIsRemarkedOn() async throws {
      try await Stage.with { stage, redis in
        let old = try stage.authority.identity("old", lasting: -60)
        let options = [
          "BELFRY_TLS_CERTIFICATE_FILE": old.certificateFile, "BELFRY_TLS_KEY_FILE": old.keyFile,
        ]
        let broker = try stage.broker(redisURL: redis.url, options)
        try await broker.start(waits: false)
        try await eventually(within: Broker.patience) { broker.log.contains("the certificate expired at") }
        await broker.remove()
      }
    }
  }
}
