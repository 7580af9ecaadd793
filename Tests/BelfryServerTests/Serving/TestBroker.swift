import BelfryBytes
import BelfryHooks
import BelfryInterface
import BelfryModel
import Foundation
import TestKit
import Testing

@testable import BelfryServer

/// A broker for one test, with its own redis-server.
struct TestBroker: Sendable {
  let port: UInt16
  let redis: RedisServer
  let broker: Broker

  func token(
    _ subject: String, _ role: TokenClaims.Role = .user, device: String? = nil, seconds: Int64 = 600
  ) throws -> String {
    broker.keys.signing.mint(
      TokenClaims(
        subject: subject, role: role, device: device.flatMap { DeviceID($0) },
        expiresAtSeconds: Int64(Date().timeIntervalSince1970) + seconds,
        issuedAtMilliseconds: Int64(Date().timeIntervalSince1970 * 1_000)))
  }

  func connect() throws -> TestConnection { try TestConnection(port: port) }

  /// Sends a request on its own connection.
  func ask(
    _ method: String, _ path: String, as token: String? = nil, _ body: String? = nil,
    headers: [(String, String)] = []
  ) throws -> Answer {
    try connect().ask(method, path, as: token, body, headers: headers)
  }

  /// Makes a server with these members and gives its id.
  func makeServer(owner: String, members: [String] = []) throws -> String {
    let made = try ask("POST", "/v1/servers", as: try token(owner), #"{"name":"test"}"#)
    let id = try #require(made.json["serverId"]?.text)
    if !members.isEmpty {
      let list = members.map { "\"\($0)\"" }.joined(separator: ",")
      let added = try ask(
        "POST", "/v1/servers/\(id)/members", as: try token("app", .app), #"{"accids":[\#(list)]}"#)
      try #require(added.status == 200)
    }
    return id
  }
}

extension Limits {
  /// Limits for tests, which send requests as fast as they can, from few accounts.
  static var unhurried: Limits {
    var limits = Limits()
    limits.sendsPerSecondPerAccount = 1_000_000
    limits.readsPerSecondPerAccount = 1_000_000
    return limits
  }
}

/// Gives the body a broker, drains it afterwards, and expects that it ends.
func withBroker<R: Sendable>(
  loops: Int = 1, limits: Limits = .unhurried, redis: RedisServer.Options = RedisServer.Options(),
  configure: (inout Configuration) throws -> Void = { _ in },
  _ body: @Sendable (TestBroker) async throws -> R
) async throws -> R {
  try await withRedisServer(redis) { redis in
    var configuration = Configuration()
    configuration.listen = ListenAddress(host: "127.0.0.1", port: 0)
    configuration.loops = loops
    configuration.limits = limits
    try configure(&configuration)
    let signer = TokenSigner(secret: Array("a secret for nothing but these tests".utf8))
    let pushKey = VAPIDKey(P256PrivateKey(), contact: nil)
    let broker = try Broker(
      configuration, keys: TokenKeys(signer), redisURL: redis.url, pushKey: pushKey)
    let (ports, listening) = AsyncStream<UInt16>.makeStream()
    async let running: Void = broker.run { listening.yield($0) }
    let port = try #require(await ports.first { _ in true })
    let result: Result<R, any Error>
    do {
      let test = TestBroker(port: port, redis: redis, broker: broker)
      try await test.waitUntilReady()
      result = .success(try await body(test))
    } catch {
      result = .failure(error)
    }
    broker.drain()
    try await running
    return try result.get()
  }
}

extension TestBroker {
  func waitUntilReady() async throws {
    for _ in 0..<6_000 {
      if try ask("GET", "/readyz").status == 200 { return }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw TestFailure("the broker does not become ready")
  }
}

struct TestFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

extension JSONValue {
  subscript(_ name: String) -> JSONValue? {
    if case .object(let members) = self { members[name] } else { nil }
  }
  subscript(_ index: Int) -> JSONValue? {
    if case .array(let elements) = self, elements.indices.contains(index) { elements[index] } else { nil }
  }
  var text: String? { if case .string(let text) = self { text } else { nil } }
  var number: Int64? { if case .integer(let number) = self { number } else { nil } }
  var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
}

extension Route {
  /// True if the answer is a stream that goes on.
  var isStream: Bool {
    outcomes.contains { outcome in
      switch outcome.content {
      case .events, .socket: true
      case .none, .json, .other: false
      }
    }
  }
}
