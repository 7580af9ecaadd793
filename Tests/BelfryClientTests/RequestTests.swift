import BelfryInterface
import BelfrySystem
import Foundation
import TestKit
import Testing

@testable import BelfryClient

@Suite(.timeLimit(.minutes(5))) struct RequestTests {
  private func client(_ server: ScriptedServer) -> BelfryClient {
    var client = BelfryClient(baseURL: server.url, token: "t")
    client.timing.backoff = Backoff(.milliseconds(5), atMost: .milliseconds(20), jitter: .full)
    return client
  }

  private let twelve = EntityID(12 as Int64) ?? EntityID(bits: 0)

  @Test func `sends the fields given, and a client id of its own`() async throws {
    let server = try ScriptedServer { _, _ in [.answer(201, Wire.receipt(7))] }
    let receipt = try await client(server).send(NewNotification(serverId: twelve, body: "hi"))
    #expect(receipt.messageServerId == Wire.id(7))
    #expect(!receipt.duplicate)
    let request = try #require(server.requests.first)
    #expect(request.method == "POST")
    #expect(request.target == "/v1/notifications")
    #expect(request.headers["content-type"] == "application/json")
    let sent = try JSONDecoder().decode([String: String].self, from: Data(request.body.utf8))
    #expect(Set(sent.keys) == ["serverId", "body", "messageClientId"])
  }

  @Test func `a lost answer is asked for again with the same client id`() async throws {
    let server = try ScriptedServer { _, number in
      switch number {
      case 1: [.reset]
      case 2: [.problem(503, code: "unavailable", detail: "busy", headers: ["Retry-After: 0"])]
      default: [.answer(200, Wire.receipt(7, duplicate: true))]
      }
    }
    #expect(try await client(server).send(NewNotification(serverId: twelve, body: "hi")).duplicate)
    #expect(server.requests.count == 3)
    #expect(Set(server.requests.map(\.body)).count == 1)
  }

  @Test func `an error whose outcome is open tells the id to send again with`() async throws {
    let server = try ScriptedServer { _, number in
      number <= 3 ? [.reset] : [.answer(200, Wire.receipt(7, duplicate: true))]
    }
    let first = NewNotification(serverId: twelve, body: "hi")
    let error = await #expect(throws: BelfryError.self) {
      try await client(server).send(first)
    }
    var again = first
    again.messageClientId = try #require(error?.messageClientId)
    #expect(try await client(server).resend(again).duplicate)
    #expect(Set(server.requests.map(\.body)).count == 1)
  }

  @Test func `gives up after as many tries as it is allowed`() async throws {
    let server = try ScriptedServer { _, _ in [.problem(503, code: "unavailable", detail: "busy")] }
    await #expect(throws: BelfryError(.unavailable, "busy", status: 503)) {
      try await client(server).send(NewNotification(serverId: twelve))
    }
    #expect(server.requests.count == 3)
  }

  @Test func `leaves a long Retry-After to the caller`() async throws {
    let server = try ScriptedServer { _, _ in
      [.problem(429, code: "rateLimited", detail: "slower", headers: ["Retry-After: 60"])]
    }
    await #expect(throws: BelfryError(.rateLimited, "slower", status: 429, retryAfterSeconds: 60)) {
      try await client(server).send(NewNotification(serverId: twelve))
    }
    #expect(server.requests.count == 1)
  }

  @Test func `does not repeat what is not the same twice`() async throws {
    let server = try ScriptedServer { _, _ in [.reset] }
    let error = await #expect(throws: BelfryError.self) {
      try await client(server).createServer(ServerSettings(name: "s"))
    }
    #expect(error?.code == .transport)
    #expect(error?.status == nil)
    #expect(server.requests.count == 1)
  }

  @Test func `a refusal carries the problem's code, detail and field`() async throws {
    let server = try ScriptedServer { _, _ in
      [
        .answer(
          400, #"{"status":400,"code":"invalidField","detail":"too long","field":"body","more":[1]}"#,
          type: "application/problem+json")
      ]
    }
    await #expect(throws: BelfryError(.invalidField, "too long", status: 400, field: "body")) {
      try await client(server).send(NewNotification(serverId: twelve))
    }
  }

  @Test(arguments: [
    (502, BelfryError.Code.unavailable), (429, .rateLimited), (404, .protocol), (302, .protocol),
  ])
  func `an answer without a problem document is not Belfry's, unless a proxy says that it may pass`(
    status: Int, code: BelfryError.Code
  ) async throws {
    let server = try ScriptedServer { _, _ in
      [.answer(status, "<html>", type: "text/html", headers: ["Location: http://127.0.0.1:1/"])]
    }
    let error = await #expect(throws: BelfryError.self) { try await client(server).server(twelve) }
    #expect(error?.code == code)
    #expect(error?.status == status)
  }

  @Test func `the refusal of another service in JSON is not Belfry's`() async throws {
    let server = try ScriptedServer { _, _ in [.answer(404, #"{"code":"noRoute","detail":"x"}"#)] }
    let error = await #expect(throws: BelfryError.self) { try await client(server).server(twelve) }
    #expect(error?.code == .protocol)
  }

  @Test func `a proxy that asks for another kind of login is a refusal, not a wait without end`() async throws
  {
    let server = try ScriptedServer { _, _ in
      [.answer(401, "login", type: "text/plain", headers: ["WWW-Authenticate: Basic realm=\"x\""])]
    }
    let error = await #expect(throws: BelfryError.self) { try await client(server).server(twelve) }
    #expect(error?.code == .protocol)
  }

  @Test func `garbage in a good answer is an error, not a crash`() async throws {
    for body in ["", "{", "[]", "null", #"{"serverId":-1}"#, "\u{0}\u{ff}"] {
      let server = try ScriptedServer { _, _ in [.answer(200, body)] }
      let error = await #expect(throws: BelfryError.self) { try await client(server).server(twelve) }
      #expect(error?.code == .protocol)
    }
  }

  @Test func `nobody there is a transport error`() async throws {
    let port = try ScriptedServer { _, _ in [] }.port
    var client = BelfryClient(baseURL: try #require(URL(string: "http://127.0.0.1:\(port)")), token: "t")
    client.attemptsLimit = 1
    let error = await #expect(throws: BelfryError.self) { try await client.stats() }
    #expect(error?.code == .transport)
    let unsent = await #expect(throws: BelfryError.self) {
      try await client.send(NewNotification(serverId: twelve))
    }
    #expect(unsent?.nothingWasSent == true)
    #expect(unsent?.leavesOutcomeOpen == false)
    #expect(unsent?.messageClientId == nil)
  }

  @Test func `a connection that breaks after the request leaves the outcome open`() async throws {
    let server = try ScriptedServer { _, _ in [.reset] }
    var client = client(server)
    client.attemptsLimit = 1
    let error = await #expect(throws: BelfryError.self) {
      try await client.send(NewNotification(serverId: twelve))
    }
    #expect(error?.code == .transport)
    #expect(error?.nothingWasSent == false)
    #expect(error?.messageClientId != nil)
  }

  @Test func `a broker that never answers is given up`() async throws {
    let server = try ScriptedServer { _, _ in [.hold] }
    var client = client(server)
    client.timing.answerSeconds = 1
    client.attemptsLimit = 1
    let error = await #expect(throws: BelfryError.self) { try await client.stats() }
    #expect(error?.code == .transport)
    try await eventually { server.openConnections == 0 }
  }

  @Test func `cancelling a call ends it and its connection`() async throws {
    let server = try ScriptedServer { _, _ in [.hold] }
    let client = client(server)
    let call = Task { try await client.stats() }
    try await eventually { !server.requests.isEmpty }
    call.cancel()
    let error = await #expect(throws: BelfryError.self) { try await call.value }
    #expect(error?.code == .cancelled)
    try await eventually { server.openConnections == 0 }
  }

  @Test func `a batch gives each its own result, in order`() async throws {
    let server = try ScriptedServer { _, _ in
      [
        .answer(
          200,
          "{\"status\":201,\(Wire.receipt(1).dropFirst())\n"
            + #"{"status":404,"code":"notFound","detail":"no such server","field":"serverId"}"# + "\n"
            + #"{"status":429,"code":"rateLimited","detail":"too fast","retryAfter":7}"# + "\n",
          type: "application/x-ndjson")
      ]
    }
    let results = try await client(server).sendBatch([
      NewNotification(serverId: twelve, body: "a"), NewNotification(serverId: twelve, body: "b\nc"),
      NewNotification(serverId: twelve, body: "c"),
    ])
    #expect(throws: BelfryError(.rateLimited, "too fast", status: 429, retryAfterSeconds: 7)) {
      try results[2].get()
    }
    #expect(try results[0].get().messageServerId == Wire.id(1))
    #expect(throws: BelfryError(.notFound, "no such server", status: 404, field: "serverId")) {
      try results[1].get()
    }
    let request = try #require(server.requests.first)
    #expect(request.headers["content-type"] == "application/x-ndjson")
    #expect(
      request.body == "{\"body\":\"a\",\"serverId\":\"12\"}\n{\"body\":\"b\\nc\",\"serverId\":\"12\"}\n"
        + "{\"body\":\"c\",\"serverId\":\"12\"}\n")
  }

  @Test func `a batch with an answer missing is an error`() async throws {
    let server = try ScriptedServer { _, _ in [.answer(200, Wire.receipt(1))] }
    let error = await #expect(throws: BelfryError.self) {
      try await client(server).sendBatch([
        NewNotification(serverId: twelve), NewNotification(serverId: twelve),
      ])
    }
    #expect(error?.code == .protocol)
  }

  @Test func `asks for pages with escaped cursors, below the base's own path`() async throws {
    let server = try ScriptedServer { _, _ in [.answer(200, #"{"notifications":[],"cursor":null}"#)] }
    let base = try #require(URL(string: "http://127.0.0.1:\(server.port)/belfry/"))
    let page = try await BelfryClient(baseURL: base, token: "t").unread(
      limit: 5, after: "1.a~b*c&d+e f", waitSeconds: 2)
    #expect(page == UnreadPage(notifications: [], cursor: nil, gap: nil))
    #expect(
      server.requests.map(\.target) == ["/belfry/v1/notifications?limit=5&after=1.a~b%2Ac%26d%2Be%20f&wait=2"]
    )
  }

  @Test(arguments: ["", "a b", "a\r\nX-Other: 1", "ü", String(repeating: "x", count: 9_000)])
  func `a token that no header can carry is refused before anything is sent`(token: String) async throws {
    let server = try ScriptedServer { _, _ in [.answer(200, "{}")] }
    let error = await #expect(throws: BelfryError.self) {
      try await BelfryClient(baseURL: server.url, token: token).stats()
    }
    #expect(error?.code == .unauthorized)
    #expect(server.requests.isEmpty)
  }

  @Test func `the token is asked for each time`() async throws {
    let server = try ScriptedServer { _, _ in [.answer(200, "{}")] }
    let tokens = TokenSource()
    let client = BelfryClient(baseURL: server.url, token: { await tokens.next() })
    _ = try await client.stats()
    _ = try await client.stats()
    #expect(server.requests.map { $0.headers["authorization"] } == ["Bearer t1", "Bearer t2"])
  }

  private actor TokenSource {
    private var count = 0
    func next() -> String {
      count += 1
      return "t\(count)"
    }
  }

  @Test func `many calls at once each get their own answer`() async throws {
    let server = try ScriptedServer { request, _ in [.answer(200, #"{"target":"\#(request.target)"}"#)] }
    let client = client(server)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 1...100 {
        group.addTask {
          let answer = try await client.explainRaw(number)
          #expect(answer == ["target": .string("/v1/stats?n=\(number)")])
        }
      }
      try await group.waitForAll()
    }
  }
}

extension BelfryClient {
  fileprivate func explainRaw(_ number: Int) async throws(BelfryError) -> JSONObject {
    var request = HTTPRequest(OperatorRoutes.statistics.route)
    request.ask("n", String(number))
    return try await value(JSONObject.self, request)
  }
}
