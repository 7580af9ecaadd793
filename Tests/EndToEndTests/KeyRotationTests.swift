import BelfryBytes
import BelfryModel
import BelfryServer
import Foundation
import TestKit
import Testing

/// Keys come and go while brokers run. Only clients whose key was retired are refused or disconnected.
@Suite(.timeLimit(.minutes(5)), .serialized) struct KeyRotationTests {
  @Test func theSecretOfADataFolderIsRotatedByCommands() async throws {
    // An empty variable does not count, so the secret is the folder's.
    try await withWorld(settings: ["BELFRY_SECRET": ""]) { world in
      let broker = world[0]
      let old = try broker.mint()
      let oldKid = try #require(kid(of: old))
      let stream = try EventStream(port: broker.port, headers: bearer(old))
      #expect(stream.status == 200)
      // A client sends requests all the time, with the newest token.
      let asking = Asking(broker)

      let rotated = try broker.command("secret", "rotate", "--data", broker.dataFolder)
      #expect(rotated.code == 0, "\(rotated.output)")
      let new = try broker.mint()
      let newKid = try #require(kid(of: new))
      #expect(newKid != oldKid)
      for token in [old, new] { #expect(try send("x", token, broker).status == 201) }
      #expect(stream.wait { events in events.count { $0.body == "x" } == 2 })
      let newStream = try EventStream(port: broker.port, headers: bearer(new))
      #expect(newStream.status == 200)
      #expect(try broker.command("secret", "list", "--data", broker.dataFolder).output.contains(oldKid))
      #expect(asking.stop() == [200])

      #expect(try broker.command("secret", "retire", oldKid, "--data", broker.dataFolder, "--yes").code == 0)
      #expect(stream.wait(forEvent: "kicked"))
      #expect(stream.all.last?.object["reason"] as? String == "tokenRevoked")
      #expect(stream.waitUntilOver())
      #expect(try send("y", old, broker).status == 401)
      #expect(try send("z", new, broker).status == 201)
      #expect(newStream.wait(forBody: "z"))
      #expect(!newStream.isOver)
      // The keyspace follows the secret that signs now.
      #expect(!broker.log.contains("a setting of this broker differs from the keyspace"))
    }
  }

  @Test func brokersOfOneRedisFollowTheirFiles() async throws {
    let file = try SecretFile(["a"])
    try await withWorld(brokers: 2, settings: ["BELFRY_SECRET": "", "BELFRY_CONFIG": file.path]) { world in
      let (old, new) = (mint("a"), mint("b"))
      let streams = try world.brokers.map { try EventStream(port: $0.port, headers: bearer(old)) }
      for broker in world.brokers { #expect(try send("0", new, broker).status == 401) }

      // Brokers first accept the new secret, which they find out by themselves. Then they are told that it
      // signs, and then that the other one is gone.
      func lookNow() { for broker in world.brokers { broker.signal(SIGHUP) } }
      try file.write(["a", "b"])
      for broker in world.brokers { try await broker.waits(for: "signing=a accepted=\"a b\"") }
      for broker in world.brokers { #expect(try send("1", new, broker).status == 201) }
      try file.write(["b", "a"])
      lookNow()
      for broker in world.brokers { try await broker.waits(for: "signing=b accepted=\"b a\"") }
      for broker in world.brokers { #expect(try send("2", old, broker).status == 201) }
      for stream in streams { #expect(!stream.isOver) }

      // A file that cannot be read changes nothing.
      try Data("{".utf8).write(to: URL(filePath: file.path))
      lookNow()
      for broker in world.brokers {
        try await broker.waits(for: "new token keys are unusable, so the earlier ones stay in use")
      }
      for broker in world.brokers { #expect(try send("3", old, broker).status == 201) }

      try file.write(["b"])
      lookNow()
      for broker in world.brokers {
        try await broker.waits(for: "signing=b accepted=b")
        try await broker.waits(for: "the files of token keys are usable again")
      }
      for (broker, stream) in zip(world.brokers, streams) {
        #expect(stream.waitUntilOver())
        #expect(stream.all.last?.object["reason"] as? String == "tokenRevoked")
        #expect(try send("4", old, broker).status == 401)
        #expect(try send("5", new, broker).status == 201)
        #expect(!broker.log.contains("a setting of this broker differs from the keyspace"))
      }
    }
  }

  /// A waiting request ends like a stream, and receives nothing more.
  @Test func whoWaitsIsRefusedWhenTheKeyIsRetired() async throws {
    let file = try SecretFile(["a", "b"])
    try await withWorld(settings: ["BELFRY_SECRET": "", "BELFRY_CONFIG": file.path]) { world in
      let wire = try Wire(port: world[0].port)
      try wire.writeRequest("GET", "/v1/notifications?wait=50", headers: bearer(mint("a")))
      // If the request is not waiting yet, it is refused at once.
      try await Task.sleep(for: .milliseconds(300))
      try file.write(["b"])
      world[0].signal(SIGHUP)
      #expect(try wire.readAnswer().status == 401)
    }
  }

  // MARK: Requests

  private func bearer(_ token: String) -> [String: String] { ["Authorization": "Bearer \(token)"] }

  private func mint(_ kid: String) -> String {
    TokenSigner(secret: Array(SecretFile.secret(kid).utf8), kid: UTF8Text(kid)).mint(
      TokenClaims(subject: "alice", role: .user, expiresAtSeconds: 4_102_444_800))
  }

  private func send(_ body: String, _ token: String, _ broker: Broker) throws -> Answer {
    try Wire(port: broker.port).request(
      "POST", "/v1/notifications", headers: bearer(token),
      body: Array(#"{"toAccids":["alice"],"body":"\#(body)"}"#.utf8))
  }

  private func kid(of token: String) -> String? {
    var text = String(token.prefix { $0 != "." }).replacing("-", with: "+").replacing("_", with: "/")
    while text.count % 4 != 0 { text += "=" }
    let header = Data(base64Encoded: text).flatMap { try? JSONSerialization.jsonObject(with: $0) }
    return (header as? [String: Any])?["kid"] as? String
  }
}

/// A configuration that names several secrets.
private final class SecretFile: Sendable {
  private let folder: String
  var path: String { folder + "/belfry.json" }

  init(_ kids: [String]) throws {
    folder = try makeTemporaryFolder()
    try write(kids)
  }

  deinit { removeFolder(folder) }

  func write(_ kids: [String]) throws {
    let list = kids.map { #"{"kid":"\#($0)","secret":"\#(Self.secret($0))"}"# }.joined(separator: ",")
    try Data(#"{"tokens":{"secrets":[\#(list)]}}"#.utf8).write(to: URL(filePath: path), options: .atomic)
  }

  static func secret(_ kid: String) -> String { "one secret of several, 32 bytes: \(kid)" }
}

/// Sends requests to a broker all the time, each with a new token.
private final class Asking: @unchecked Sendable {
  private let condition = NSCondition()
  private var statuses: Set<Int> = []
  private var isStopping = false
  private var hasEnded = false

  init(_ broker: Broker) {
    Thread.detachNewThread { [self] in
      while !condition.withLock({ isStopping }) {
        let token = (try? broker.mint()) ?? ""
        let answer = try? Wire(port: broker.port).request(
          "GET", "/v1/types", headers: ["Authorization": "Bearer \(token)"])
        condition.withLock { _ = statuses.insert(answer?.status ?? 0) }
      }
      condition.withLock {
        hasEnded = true
        condition.broadcast()
      }
    }
  }

  /// - Returns: the statuses of the answers.
  func stop() -> Set<Int> {
    condition.withLock {
      isStopping = true
      while !hasEnded { condition.wait() }
      return statuses
    }
  }
}

extension Broker {
  fileprivate var dataFolder: String { folder + "/data" }

  fileprivate func mint() throws -> String {
    try command("token", "--data", dataFolder, "--sub", "alice").output.trimmingCharacters(in: .newlines)
  }

  fileprivate func command(_ words: String...) throws -> (code: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(filePath: Self.executable)
    process.arguments = words
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
  }

  fileprivate func waits(for line: String) async throws {
    try await eventually("the log does not say \(line)", every: .milliseconds(20)) { log.contains(line) }
  }
}

/// Keys of back ends are accepted by all brokers of a Redis, until they are revoked.
@Suite(.timeLimit(.minutes(5)), .serialized) struct BackEndKeyTests {
  @Test func aKeyIsRevokedOnAllBrokers() async throws {
    try await withWorld(brokers: 2) { world in
      let ops = try Person("ops", role: "operator", at: world[0])
      let made = try ops.call("POST", "/v1/keys", ["name": "billing"])
      let (id, key) = (try #require(made["keyId"]), try #require(made["key"]))
      let headers = ["Authorization": "Bearer \(key)", "Belfry-Account": "bob"]
      func status(_ broker: Broker) throws -> Int {
        try Wire(port: broker.port).request("GET", "/v1/types", headers: headers).status
      }
      #expect(try status(world[0]) == 200)
      // The other one looks every two seconds.
      try await eventually(every: .milliseconds(50)) { try status(world[1]) == 200 }
      let streams = try world.brokers.map { try EventStream(port: $0.port, headers: headers) }
      #expect(streams.map(\.status) == [200, 200])

      #expect(try ops.call("DELETE", "/v1/keys/\(id)").status == 204)
      for stream in streams {
        #expect(stream.waitUntilOver())
        #expect(stream.all.last?.object["reason"] as? String == "tokenRevoked")
      }
      for broker in world.brokers { #expect(try status(broker) == 401) }

      // Any broker lists the actions.
      let elsewhere = try Person("ops", role: "operator", at: world[1])
      let entries = try elsewhere.call("GET", "/v1/audit").object["entries"] as? [[String: Any]]
      #expect(entries?.compactMap { $0["operation"] as? String } == ["key revoke", "key create"])
    }
  }
}
