import BelfryModel
import BelfryServer
import Foundation
import TestKit
import Testing

/// A person at a broker: an account on a device, or a trusted caller. Only one thread may use it at a time.
/// If two threads sent requests over the one connection, each would read the other's answer, or wait for one
/// in vain and send again.
final class Person: @unchecked Sendable {
  let name: String
  let headers: [String: String]
  var broker: Broker
  private var wire: Wire?

  init(
    _ name: String, role: String = "user", device: String? = nil, at broker: Broker, ttlSeconds: Int = 3_600
  ) throws {
    self.name = name
    self.broker = broker
    let token = try Person.token(name, role: role, device: device, ttlSeconds: ttlSeconds)
    headers = ["Authorization": "Bearer \(token)"]
  }

  static func app(at broker: Broker) throws -> Person { try Person("backend", role: "app", at: broker) }

  static func token(_ subject: String, role: String, device: String?, ttlSeconds: Int) throws -> String {
    try TestTokens.mint(subject: subject, role: role, device: device, ttlSeconds: ttlSeconds)
  }

  // MARK: Requests

  @discardableResult
  func call(_ method: String, _ path: String, _ json: [String: Any]? = nil, extra: [String: String] = [:])
    throws -> Answer
  {
    var headers = headers.merging(extra) { $1 }
    var body: [UInt8]?
    if let json {
      headers["Content-Type"] = "application/json"
      body = Array(try JSONSerialization.data(withJSONObject: json, options: [.sortedKeys]))
    }
    // A connection is kept, and opened again when the broker has closed it.
    if let wire, let answer = try? wire.request(method, path, headers: headers, body: body) {
      return keep(answer, wire)
    }
    let fresh = try Wire(port: broker.port)
    return keep(try fresh.request(method, path, headers: headers, body: body), fresh)
  }

  private func keep(_ answer: Answer, _ wire: Wire) -> Answer {
    self.wire = answer.headers["connection"]?.lowercased() == "close" ? nil : wire
    return answer
  }

  func stream(after cursor: String? = nil, at other: Broker? = nil, query: String = "", reads: Bool = true)
    throws -> EventStream
  {
    var headers = headers
    if let cursor { headers["Last-Event-ID"] = cursor }
    return try EventStream(
      port: (other ?? broker).port, path: "/v1/notifications/stream" + query, headers: headers, reads: reads)
  }

  /// Opens a stream after Redis was away. The event loop that takes the connection may reach Redis later than the one that
  /// has answered other requests, and refuses streams until then.
  func streamWhenRedisIsBack(after cursor: String? = nil, at other: Broker? = nil) async throws -> EventStream
  {
    var stream = try stream(after: cursor, at: other)
    try await eventually("streams are refused") {
      if stream.status == 503 { stream = try self.stream(after: cursor, at: other) }
      return stream.status == 200
    }
    return stream
  }

  // MARK: Actions

  func createServer(_ name: String = "a server") throws -> String {
    let answer = try call("POST", "/v1/servers", ["name": name])
    try #require(answer.status == 201, "\(answer)")
    return try #require(answer["serverId"])
  }

  func createChannel(
    in server: String, type: String = "public", membership: String? = nil, members: [String]? = nil
  ) throws -> String {
    var json: [String: Any] = ["name": "a channel", "type": type]
    json["membership"] = membership
    json["members"] = members
    let answer = try call("POST", "/v1/servers/\(server)/channels", json)
    try #require(answer.status == 201, "\(answer)")
    return try #require(answer["channelId"])
  }

  /// For an app: adds accounts in calls of 1,000.
  func add(_ accounts: [String], to server: String) throws {
    for start in stride(from: 0, to: accounts.count, by: 1_000) {
      let some = Array(accounts[start..<min(start + 1_000, accounts.count)])
      let answer = try call("POST", "/v1/servers/\(server)/members", ["accids": some])
      try #require(answer.status < 300, "\(answer)")
    }
  }

  @discardableResult
  func send(_ body: String, _ fields: [String: Any]) throws -> Answer {
    try call("POST", "/v1/notifications", fields.merging(["body": body]) { $1 })
  }

  @discardableResult
  func mustSend(_ body: String, _ fields: [String: Any]) throws -> String {
    let answer = try send(body, fields)
    try #require(answer.status == 201, "\(answer)")
    return try #require(answer["messageServerId"])
  }

  /// All unread, page by page.
  func unread() throws -> [[String: Any]] {
    var all: [[String: Any]] = []
    var after = ""
    while true {
      let answer = try call("GET", "/v1/notifications?limit=100" + after)
      try #require(answer.status == 200, "\(answer)")
      all += answer.notifications
      guard answer.notifications.count == 100, let cursor = answer["cursor"] else { return all }
      after = "&after=" + (cursor.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
    }
  }

  func unreadBodies() throws -> [String] { try unread().compactMap { $0["body"] as? String } }
}

/// Runs the work this often at once, each on a thread of its own, and waits for all.
func concurrently(_ count: Int, _ work: @escaping @Sendable (Int) -> Void) {
  let group = DispatchGroup()
  for index in 0..<count {
    group.enter()
    Thread.detachNewThread {
      work(index)
      group.leave()
    }
  }
  group.wait()
}

/// A place where threads put what they saw.
final class Box<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var contents: [Value] = []

  func add(_ value: Value) { lock.withLock { contents.append(value) } }
  var values: [Value] { lock.withLock { contents } }
}

/// Tokens as the broker under test would mint them, with its secret.
enum TestTokens {
  static func mint(subject: String, role: String, device: String?, ttlSeconds: Int) throws -> String {
    guard let role = TokenClaims.Role(rawValue: role) else {
      throw Wire.Failure(description: "no role \(role)")
    }
    let claims = TokenClaims(
      subject: subject, role: role, device: device.flatMap { DeviceID($0) },
      expiresAtSeconds: Int64(Date().timeIntervalSince1970) + Int64(ttlSeconds),
      issuedAtMilliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
    return TokenSigner(secret: Array(Broker.secret.utf8)).mint(claims)
  }
}
