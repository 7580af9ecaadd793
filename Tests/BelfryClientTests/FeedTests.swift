import BelfryBytes
import BelfrySystem
import Foundation
import TestKit
import Testing

@testable import BelfryClient

/// The feed over a real connection to a server that misbehaves as told.
@Suite(.timeLimit(.minutes(5))) struct FeedTests {
  private func client(_ server: ScriptedServer) -> BelfryClient {
    var client = BelfryClient(baseURL: server.url, token: "t")
    client.timing.backoff = Backoff(.milliseconds(10), atMost: .milliseconds(50), jitter: .full)
    return client
  }

  /// The ids of the notifications until there are `count`.
  private func ids(_ feed: NotificationFeed, count: Int) async throws -> [Int64] {
    var ids: [Int64] = []
    for try await event in feed {
      if case .notification(let notification, _) = event { ids.append(notification.messageServerId.raw) }
      if ids.count == count { break }
    }
    return ids
  }

  @Test func `says who asks, and from where on`() async throws {
    let server = try ScriptedServer { _, _ in [.stream, .chunk(Wire.event(1)), .hold] }
    var client = client(server)
    client.account = AccountID("alice")
    client.device = DeviceID("phone")
    #expect(try await ids(client.notifications(after: "1.abc~server:7*z"), count: 1) == [1])
    let request = try #require(server.requests.first)
    #expect(request.target == "/v1/notifications/stream")
    #expect(request.headers["authorization"] == "Bearer t")
    #expect(request.headers["belfry-account"] == "alice")
    #expect(request.headers["belfry-device"] == "phone")
    #expect(request.headers["last-event-id"] == "1.abc~server:7*z")
  }

  @Test func `each event comes while the stream goes on`() async throws {
    let server = try ScriptedServer { _, _ in
      [.stream, .chunk(Wire.event(1)), .pause(milliseconds: 50), .chunk(Wire.event(2)), .hold]
    }
    // The stream never ends, so what is received here was delivered before its end.
    #expect(try await ids(client(server).notifications(), count: 2) == [1, 2])
  }

  @Test func `an event in many pieces is one event`() async throws {
    let server = try ScriptedServer { _, _ in
      var steps: [Step] = [.stream]
      for character in Wire.event(1, body: "grüße 🔔") + Wire.event(2) {
        steps.append(.chunk(String(character)))
      }
      return steps + [.hold]
    }
    #expect(try await ids(client(server).notifications(), count: 2) == [1, 2])
  }

  @Test func `after a cut it goes on where it was, nothing twice and nothing left out`() async throws {
    // Each connection serves three more after the cursor, then breaks in the middle of a fourth.
    let server = try ScriptedServer { request, number in
      let first = 1 + (request.headers["last-event-id"].flatMap { Int($0.dropFirst()) } ?? 0)
      let whole = (first..<first + 3).map { Step.chunk(Wire.event($0)) }
      let half = Step.chunk(String(Wire.event(first + 3).prefix(60)))
      return [.stream] + whole + [half, number.isMultiple(of: 2) ? .reset : .pause(milliseconds: 1)]
    }
    #expect(try await ids(client(server).notifications(), count: 12) == Array(1...12))
  }

  @Test func `waits as told by 503 and comes back`() async throws {
    let server = try ScriptedServer { _, number in
      number < 3
        ? [.problem(503, code: "unavailable", detail: "redis is away", headers: ["Retry-After: 0"])]
        : [.stream, .chunk(Wire.event(1)), .hold]
    }
    var events: [FeedEvent] = []
    for try await event in client(server).notifications() {
      events.append(event)
      if events.count == 4 { break }
    }
    guard case .disconnected(let error, _) = events[0] else {
      Issue.record("\(events)")
      return
    }
    #expect(error == BelfryError(.unavailable, "redis is away", status: 503, retryAfterSeconds: 0))
    #expect(events[2] == .connected)
    #expect(server.requests.count == 3)
  }

  @Test(arguments: [400, 401, 403])
  func `ends with the refusal when asking again cannot help`(status: Int) async throws {
    let server = try ScriptedServer { _, _ in
      [.problem(status, code: "forbidden", detail: "not you", headers: ["WWW-Authenticate: Bearer"])]
    }
    await #expect(throws: BelfryError(.forbidden, "not you", status: status)) {
      _ = try await ids(client(server).notifications(), count: 1)
    }
    #expect(server.requests.count == 1)
  }

  @Test func `a silent connection is given up and made again`() async throws {
    let server = try ScriptedServer { _, number in
      number == 1 ? [.stream, .chunk(Wire.event(1)), .hold] : [.stream, .chunk(Wire.event(2)), .hold]
    }
    var client = client(server)
    client.timing.streamSilenceSeconds = 2
    #expect(try await ids(client.notifications(), count: 2) == [1, 2])
    // More of them where this machine itself stood still for so long.
    #expect(server.requests.prefix(2).map { $0.headers["last-event-id"] } == [nil, "c1"])
  }

  @Test func `heartbeats keep a quiet connection`() async throws {
    let server = try ScriptedServer { _, _ in
      let beats = (0..<20).flatMap { _ in [Step.chunk(":\n\n"), .pause(milliseconds: 250)] }
      return [.stream] + beats + [.chunk(Wire.event(1)), .hold]
    }
    var client = client(server)
    client.timing.streamSilenceSeconds = 4
    #expect(try await ids(client.notifications(), count: 1) == [1])
    #expect(server.requests.count == 1)
  }

  /// Long before the client would take the silence for an end: the connection was closed, as when a broker is killed.
  @Test func `a socket that is closed without a word is made again at once`() async throws {
    let server = try ScriptedServer { request, _ in
      let key = (request.headers["sec-websocket-key"] ?? "") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
      let lines = [
        "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
        "Sec-WebSocket-Protocol: belfry.v1.json",
        "Sec-WebSocket-Accept: \(Base64.encode(Hashing.sha1(Array(key.utf8))))", "", "",
      ]
      return [.write(lines.joined(separator: "\r\n")), .pause(milliseconds: 50)]
    }
    var client = client(server)
    client.timing.streamSilenceSeconds = 3_600
    var connections = 0
    for try await event in client.notifications(over: .socket) where event == .connected {
      connections += 1
      if connections == 3 { break }
    }
    #expect(connections == 3)
  }

  /// After a pause libcurl has nothing more to send, and the connection stays open, so nothing but the answer ends the wait.
  @Test(.timeLimit(.minutes(1)), arguments: [0, 100] as [UInt32])
  func `a socket that is refused on a connection that stays open is an error`(pause: UInt32) async throws {
    let problem = #"{"status":401,"title":"No valid token","code":"unauthorized","detail":"it has expired"}"#
    let answer = [
      "HTTP/1.1 401 Scripted", "Content-Type: application/problem+json",
      "Content-Length: \(problem.utf8.count)", "", problem,
    ].joined(separator: "\r\n")
    let server = try ScriptedServer { _, _ in [.pause(milliseconds: pause), .write(answer), .hold] }
    var client = client(server)
    client.timing.streamSilenceSeconds = 3_600
    let error = await #expect(throws: BelfryError.self) {
      for try await _ in client.notifications(over: .socket) {}
    }
    #expect(error?.code == .unauthorized)
  }

  @Test func `a kick for good ends the loop`() async throws {
    let server = try ScriptedServer { _, _ in
      [.stream, .chunk("event: kicked\ndata: {\"reason\":\"replaced\",\"retry\":false}\n\n"), .hold]
    }
    var events: [FeedEvent] = []
    for try await event in client(server).notifications() { events.append(event) }
    #expect(events == [.connected, .kicked(reason: "replaced", retry: false)])
  }

  @Test func `something else that answers 200 is an error`() async throws {
    let server = try ScriptedServer { _, _ in [.answer(200, "<html>", type: "text/html; charset=utf-8")] }
    let error = await #expect(throws: BelfryError.self) {
      _ = try await ids(client(server).notifications(), count: 1)
    }
    #expect(error?.code == .protocol)
  }

  // MARK: Letting go

  @Test func `breaking out of the loop closes the connection`() async throws {
    let server = try ScriptedServer { _, _ in [.stream, .chunk(Wire.event(1)), .hold] }
    let client = client(server)
    #expect(try await ids(client.notifications(), count: 1) == [1])
    try await eventually { server.openConnections == 0 }
  }

  @Test func `cancelling the task ends the loop without an error and closes the connection`() async throws {
    let server = try ScriptedServer { _, _ in [.stream, .hold] }
    let client = client(server)
    let loop = Task {
      for try await _ in client.notifications() {}
    }
    try await eventually { server.requests.count == 1 }
    loop.cancel()
    try await loop.value
    try await eventually { server.openConnections == 0 }
  }

  @Test func `a client that is let go leaves neither descriptors nor threads behind`() async throws {
    let server = try ScriptedServer { _, _ in [.stream, .chunk(Wire.event(1)), .hold] }
    func round() async throws { _ = try await ids(client(server).notifications(), count: 1) }
    // Resources that the first rounds start, such as the threads of queues, stay for the others.
    for _ in 0..<5 { try await round() }
    try await eventually { server.openConnections == 0 }
    let before = try openDescriptors()
    for _ in 0..<40 { try await round() }
    try await eventually { server.openConnections == 0 }
    // Other tests of this process come and go meanwhile; a leak would show 40 and more.
    try await eventually { try openDescriptors() < before + 30 }
  }

  // MARK: A slow loop

  @Test func `while the loop stands still the client does not read, and afterwards nothing is missing`()
    async throws
  {
    // 32 MiB, several times what the buffers of both sockets hold.
    let count = 256
    let body = String(repeating: "x", count: 128 * 1_024)
    let server = try ScriptedServer { _, _ in
      [.stream] + (1...count).map { .chunk(Wire.event($0, body: body)) } + [.hold]
    }
    var client = client(server)
    client.timing.streamSilenceSeconds = 4
    var ids: [Int64] = []
    for try await event in client.notifications() {
      guard case .notification(let notification, _) = event else { continue }
      // Longer than a broker may be silent, for it is not the broker that is silent.
      if ids.isEmpty {
        try await Task.sleep(for: .seconds(5))
        try await standstill(of: server)
        #expect(server.stepsDone < count)
      }
      ids.append(notification.messageServerId.raw)
      if ids.count == count { break }
    }
    #expect(ids == (1...Int64(count)).map { $0 })
    #expect(server.requests.count == 1)
  }

  /// Waits until the server has sent nothing for half a second.
  private func standstill(of server: ScriptedServer) async throws {
    var before = -1
    while server.stepsDone != before {
      before = server.stepsDone
      try await Task.sleep(for: .milliseconds(500))
    }
  }

  private func openDescriptors() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
  }
}
