import BelfryBytes
import BelfryModel
import Foundation
import Glibc
import Testing

@testable import BelfryServer

@Suite(.timeLimit(.minutes(2))) struct ServeAndTokenTests {
  /// Gives the body a data folder with a secret in it, and removes it afterwards.
  private func withFolder(mode: Int = 0o600, _ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("belfry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: folder) }
    let secret = folder.appendingPathComponent("secret").path
    let isMade = FileManager.default.createFile(
      atPath: secret, contents: Data("0123456789abcdef0123456789abcdef\n".utf8),
      attributes: [.posixPermissions: mode])
    try #require(isMade)
    try body(folder.path)
  }

  private let keys = TokenKeys(TokenSigner(secret: Array("0123456789abcdef0123456789abcdef".utf8)))

  @Test func `a token is what was asked for, and lasts a day`() throws {
    try withFolder { folder in
      let begin = Int64(Date().timeIntervalSince1970)
      let outcome = try Executable(token: nil).run("token", "--data", folder, "--sub", "alice")
      #expect(outcome.code == 0)
      #expect(outcome.err.isEmpty)
      let token = outcome.out.trimmingCharacters(in: .newlines)
      let claims = try keys.verify(UTF8Text(token), nowSeconds: begin).claims
      #expect(claims.subject == "alice")
      #expect(claims.role == .user)
      #expect((begin + 86_400...begin + 86_460).contains(claims.expiresAtSeconds))

      let other = try Executable(token: nil).run(
        "token", "--data", folder, "--sub", "the billing system", "--role", "app", "--device", "d1", "--ttl",
        "60", "--json")
      let fields = try JSONDecoder().decode([String: String].self, from: Data(other.out.utf8))
      let app = try keys.verify(UTF8Text(try #require(fields["token"])), nowSeconds: begin).claims
      #expect(app.subject == "the billing system")
      #expect(app.role == .app)
      #expect(app.device?.text == "d1")
      #expect((begin + 60...begin + 120).contains(app.expiresAtSeconds))
    }
  }

  @Test func `the secret is the one that is named, or the folder's`() throws {
    try withFolder { (folder: String) throws in
      func signs(_ words: [String], _ environment: [String: String]) throws -> Bool {
        var executable = Executable(token: nil)
        executable.environment.merge(environment) { $1 }
        let outcome = try executable.run(["token", "--sub", "alice"] + words)
        #expect(outcome.code == 0, "\(outcome.err)")
        let token = UTF8Text(outcome.out.trimmingCharacters(in: .newlines))
        return (try? keys.verify(token, nowSeconds: Int64(Date().timeIntervalSince1970))) != nil
      }
      let other = String(repeating: "o", count: 32)
      #expect(try signs(["--secret-file", folder + "/secret"], [:]))
      #expect(try signs([], ["BELFRY_SECRET_FILE": folder + "/secret"]))
      #expect(try signs([], ["BELFRY_SECRET": "0123456789abcdef0123456789abcdef"]))
      #expect(try signs([], ["BELFRY_DATA": folder]))
      #expect(try signs(["--data", folder], ["BELFRY_SECRET": other]))
      #expect(try !signs([], ["BELFRY_DATA": folder, "BELFRY_SECRET": other]))
      #expect(try signs([], ["BELFRY_DATA": folder, "BELFRY_SECRET": ""]))
    }
  }

  @Test(
    arguments: [
      (["--secret-file", "/none"], [:], 1, "--secret-file names"),
      (["--data", "/none"], [:], 1, "--data names"),
      ([], ["BELFRY_SECRET_FILE": "/none"], 1, "BELFRY_SECRET_FILE names"),
      ([], ["BELFRY_SECRET": "short"], 1, "BELFRY_SECRET: it must have at least 32 bytes"),
      ([], ["BELFRY_DATA": "/none"], 1, "BELFRY_DATA names"),
      ([], [:], 1, "looked for it in the folder data"),
      (["--data", "a", "--secret-file", "b"], [:], 2, "not both"),
      ([], ["BELFRY_SECRET": "a", "BELFRY_SECRET_FILE": "b"], 2, "not both"),
    ] as [([String], [String: String], Int32, String)])
  func `a secret that cannot be read is said to be named by whom`(
    words: [String], environment: [String: String], code: Int32, said: String
  ) throws {
    var executable = Executable(token: nil)
    executable.environment.merge(environment) { $1 }
    let outcome = try executable.run(["token", "--sub", "alice"] + words)
    #expect(outcome.code == code)
    #expect(outcome.out.isEmpty && outcome.err.contains(said), "\(outcome.err)")
  }

  @Test(arguments: [
    ["--sub", "not an accid"], ["--sub", "a", "--role", "root"], ["--sub", "a", "--ttl", "0"],
    ["--sub", "a", "--ttl", "forever"], ["--sub", "a", "--device", "a b"], [],
  ])
  func `wrong words mint nothing`(words: [String]) throws {
    try withFolder { folder in
      let outcome = try Executable(token: nil).run(["token", "--data", folder] + words)
      #expect(outcome.code == 2)
      #expect(outcome.out.isEmpty)
    }
  }

  @Test func `a secret that others may read mints nothing`() throws {
    try withFolder(mode: 0o644) { folder in
      for words in [
        ["token", "--data", folder, "--sub", "a"],
        ["serve", "--data", folder, "--redis", "redis://localhost"],
      ] {
        let outcome = try Executable(token: nil).run(words)
        #expect(outcome.code == 1)
        #expect(outcome.out.isEmpty)
        #expect(outcome.err.contains("secretUnusable"))
        #expect(!outcome.err.contains("0123456789abcdef"))
      }
    }
  }

  @Test(arguments: [
    (["--listen", "nowhere"], "invalidValue"), (["--loops", "0"], "invalidValue"),
    (["--partitions", "48"], "invalidValue"),
    (["--config", "/nonexistent/belfry.json"], "unreadableFile"),
    (["--redis", "http://localhost"], "invalidValue"),
    (["--listen", "192.0.2.1:80", "--redis", "redis://localhost"], "cannotListen"),
  ])
  func `serve refuses to start and says why`(words: [String], code: String) throws {
    try withFolder { folder in
      let outcome = try Executable(token: nil).run(["serve", "--data", folder] + words)
      #expect(outcome.code == (code == "invalidValue" ? 2 : 1))
      #expect(outcome.err.hasPrefix("belfry: \(code): "), "\(outcome.err)")
    }
  }

  @Test func `serve says if there are more mistakes, and what names them`() throws {
    try withFolder { folder in
      let outcome = try Executable(token: nil).run(
        "serve", "--data", folder, "--listen", "nowhere", "--loops", "0")
      #expect(outcome.code == 2)
      #expect(outcome.err.contains("the configuration has 2 mistakes; belfry check-config names all of them"))
    }
  }

  /// Nobody listens at the address of its Redis, and it still starts.
  @Test func `a second signal ends it at once`() throws {
    try withFolder { folder in
      let (process, _, log) = try Executable(token: nil).process(
        [
          "serve", "--data", folder, "--listen", "127.0.0.1:0", "--loops", "1", "--redis",
          "unix://\(folder)/none",
        ])
      defer { process.terminate() }
      let line = String(decoding: log.availableData, as: UTF8.self)
      let start = try #require(
        line.firstMatch(of: #/belfry (\S+) listens on 127\.0\.0\.1:(\d+) /#), "\(line)")
      #expect(start.1 == BelfryVersion.text)
      let port = try #require(UInt16(start.2))
      let token = try Executable(token: nil).run("token", "--data", folder, "--sub", "alice").out
      // A request that does not end: draining waits for it.
      let request = try UnfinishedRequest(port: port, token: token.trimmingCharacters(in: .newlines))
      defer { request.close() }
      // The answer does not matter. Once this request is answered, the broker has accepted the earlier
      // connection.
      _ = try Executable(token: nil).run("stats", "--token", "x", "--url", "http://127.0.0.1:\(port)")
      process.terminate()
      var said = ""
      while !said.contains("draining") {
        let more = log.availableData
        try #require(!more.isEmpty, "it has ended: \(said)")
        said += String(decoding: more, as: UTF8.self)
      }
      process.terminate()
      process.waitUntilExit()
      #expect(process.terminationStatus == 128 + SIGTERM)
    }
  }
}

/// A connection on which a request has begun.
private struct UnfinishedRequest {
  private let descriptor: Int32

  init(port: UInt16, token: String) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let connected = unsafe withUnsafePointer(to: &address) {
      unsafe connect(
        descriptor, UnsafeRawPointer($0).assumingMemoryBound(to: sockaddr.self),
        socklen_t(MemoryLayout<sockaddr_in>.size))
    }
    try #require(connected == 0)
    let text =
      "POST /v1/notifications/read HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer \(token)\r\n"
      + "Content-Length: 10\r\nExpect: 100-continue\r\n\r\n"
    try #require(unsafe send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL)) == text.utf8.count)
    // The broker has sent 100 Continue, so the request is under way.
    var byte: UInt8 = 0
    try #require(unsafe recv(descriptor, &byte, 1, 0) == 1)
  }

  func close() { Glibc.close(descriptor) }
}
