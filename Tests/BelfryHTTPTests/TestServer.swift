import BelfryBytes
import BelfryHTTP
import BelfryLoop
import BelfryTransport
import Dispatch
import Glibc
import TestKit
import Testing

/// A server on its own loop, and the observations of the tests' handler.
final class TestServer {
  let port: Int
  private let loop: EventLoop
  private let box: Box

  /// SAFETY of `@unchecked Sendable`: what is inside is used on the loop's thread.
  private final class Box: @unchecked Sendable {
    var server: HTTPServer?
    let handler: TestHandler
    init(_ handler: TestHandler) { self.handler = handler }
  }

  /// - Parameter tls: the TLS that it speaks; nil: none, unless `BELFRY_TEST_TLS` asks for it.
  init(
    limits: HTTPLimits = .patient, bodyMaxBytes: Int = 1 << 20, budgets: HTTPBudgets = HTTPBudgets(),
    by tls: ServerTLS? = nil
  ) throws {
    let tls = try tls ?? TestTLS.shared.map { try ServerTLS(TLSIdentity($0.identity)) }
    let loop = try EventLoop(name: "http test")
    let socket = try #require(try ListenSocket.open(host: "127.0.0.1", port: 0).first)
    try loop.spawnThread()
    let box = Box(TestHandler(loop: loop, bodyMaxBytes: bodyMaxBytes))
    onThread(of: loop) {
      box.server = try? HTTPServer(
        on: loop, listening: socket, limits: limits, budgets: budgets, tls: tls, handler: box.handler)
    }
    try #require(box.server != nil)
    (self.port, self.loop, self.box) = (socket.port, loop, box)
  }

  deinit {
    let box = box
    onThread(of: loop) { box.server?.stop() }
    loop.stop()
    loop.join()
  }

  func onLoop<R: Sendable>(_ body: @escaping @Sendable (HTTPServer, TestHandler) -> R) -> R? {
    let box = box
    return onThread(of: loop) { box.server.map { body($0, box.handler) } }
  }

  var notes: [String] { onLoop { _, handler in handler.notes } ?? [] }
  var openConnections: Int { onLoop { server, _ in server.openConnections } ?? -1 }
  var openRequests: Int { onLoop { server, _ in server.openRequests } ?? -1 }
  var handshakes: HTTPHandshakeCounts? { onLoop { server, _ in server.handshakeCounts } ?? nil }
  var openStreams: Int { onLoop { server, _ in server.openStreams } ?? -1 }

  /// Waits for something to become true, much longer than it takes.
  func eventually(_ condition: () -> Bool) -> Bool {
    let deadline = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < deadline {
      if condition() { return true }
      usleep(2_000)
    }
    return false
  }
}

extension HTTPLimits {
  /// Nothing times out on a busy machine, unless a test sets such a time. Then the timeout is noticed soon.
  static var patient: HTTPLimits {
    var limits = HTTPLimits()
    (limits.requestTime, limits.keepAliveTime, limits.responseTime) = (
      .seconds(600), .seconds(600), .seconds(600)
    )
    (limits.streamStallTime, limits.handshakeTime) = (.seconds(600), .seconds(600))
    limits.socketCloseTime = .seconds(600)
    limits.sweepInterval = .milliseconds(20)
    return limits
  }
}

private final class Result<R>: @unchecked Sendable {
  var value: R?
}

@discardableResult
private func onThread<R: Sendable>(of loop: EventLoop, _ body: @escaping @Sendable () -> R) -> R {
  let result = Result<R>()
  let done = DispatchSemaphore(value: 0)
  loop.perform {
    result.value = body()
    done.signal()
  }
  done.wait()
  guard let value = result.value else { preconditionFailure("the loop ran no action") }
  return value
}

/// Handled by the tests' handler.
private final class TestRequest: HTTPRoutedRequest {
  let bodyMaxBytes: Int
  let account: UTF8Text?
  private let handler: TestHandler

  init(_ head: HTTPRequestHead, handler: TestHandler, bodyMaxBytes: Int) {
    (self.handler, self.bodyMaxBytes) = (handler, bodyMaxBytes)
    account = head.headers["Account"].map { UTF8Text($0) }
  }

  func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) { handler.handle(request, exchange) }
}

/// Answers by the path: /echo, /later, /late, /never, /hold, /large, /document, /endless, /host, /split, /stream.
final class TestHandler: HTTPHandler {
  var notes: [String] = []
  var sources: [TestSource] = []
  var echoes: [EchoOwner] = []
  var waiting: [HTTPExchange] = []
  var requests: [HTTPRequest] = []
  let fieldsGivenOnce = ["Authorization"]
  private let loop: EventLoop
  private let bodyMaxBytes: Int

  init(loop: EventLoop, bodyMaxBytes: Int) {
    self.loop = loop
    self.bodyMaxBytes = bodyMaxBytes
  }

  /// Asks to be told when the client of the latest exchange has gone.
  func watchLatest() {
    waiting.last?.onClientGone = { [weak self] in self?.notes.append("gone late") }
  }

  func route(_ head: HTTPRequestHead) -> HTTPRouting {
    notes.append("route \(head.method) \(head.path)")
    guard let reason = head.headers["Refuse"] else {
      return .routed(TestRequest(head, handler: self, bodyMaxBytes: bodyMaxBytes))
    }
    return .refused(HTTPResponse(status: 403, body: Array(reason.utf8)))
  }

  func refuse(_ refusal: HTTPRefusal) -> HTTPResponse {
    notes.append("refuse \(refusal.status)")
    return HTTPResponse(
      status: refusal.status, headers: [("Content-Type", "application/problem+json")],
      body: Array(#"{"status":\#(refusal.status)}"#.utf8))
  }

  func fieldsOfAnswer(to request: HTTPHeaders) -> [(name: String, value: String)] {
    request["Mark"].map { [("Marked", $0)] } ?? []
  }

  func pausedAccepting(_ pause: HTTPPause) {
    notes.append("paused at \(pause.connections), \(pause.streams) of them streams")
  }

  func handshakesFailed(_ failures: HTTPHandshakeFailures) {
    notes.append("handshake: \(failures.lastCause)")
  }

  func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    notes.append("handle \(request.path)")
    switch request.segments.first {
    case "echo":
      exchange.respond(echo(request))
    case "later":
      _ = loop.schedule(after: .milliseconds(10)) { exchange.respond(self.echo(request)) }
    case "never":
      exchange.onClientGone = {
        self.notes.append("gone")
        exchange.respond(HTTPResponse(status: 200))
      }
      waiting.append(exchange)
    case "late":
      waiting.append(exchange)
    case "hold":
      exchange.onClientGone = {}
      requests.append(request)
    case "large":
      exchange.respond(HTTPResponse(status: 200, body: [UInt8](repeating: 0x6C, count: 8 << 20)))
    case "document":
      var document = HTTPResponse(status: 200, body: [UInt8](repeating: 0x6C, count: 8 << 20))
      document.isShared = true
      exchange.respond(document)
    case "endless":
      var head = HTTPResponse(status: 200)
      head.hasLength = false
      exchange.respond(head)
    case "host":
      exchange.respond(HTTPResponse(status: 200, body: Array((request.head.host ?? "none").utf8)))
    case "split":
      exchange.respond(HTTPResponse(status: 200, headers: [("A", "b\r\nInjected: yes"), ("C", "d")]))
    case "stream":
      let source = TestSource(self, limit: request.query("bytes").flatMap { Int($0) })
      if request.query("later") == nil {
        open(source, on: exchange)
      } else {
        _ = loop.schedule(after: .milliseconds(10)) { self.open(source, on: exchange) }
      }
    case "socket":
      do {
        let handshake = try WebSocketHandshake(request.head, subprotocol: "belfry.v1.json")
        let owner = EchoOwner(self)
        echoes.append(owner)
        let most = request.query("most").flatMap { Int($0) } ?? WebSocketFrame.payloadBytesMax
        exchange.upgrade(handshake, messageBytesMax: most, for: owner)
      } catch {
        exchange.respond(HTTPResponse(status: 426))
      }
    default:
      exchange.respond(HTTPResponse(status: 404))
    }
  }

  private func open(_ source: TestSource, on exchange: HTTPExchange) {
    source.stream = exchange.stream(headers: [("Content-Type", "text/event-stream")], source: source)
    sources.append(source)
  }

  private func echo(_ request: HTTPRequest) -> HTTPResponse {
    let query = request.head.query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    let line = "\(request.method) \(request.segments.map(\.string).joined(separator: "|")) \(query) "
    return HTTPResponse(
      status: 200, headers: [("Content-Type", "text/plain"), ("Loopback", "\(request.client.isLoopback)")],
      body: Array(line.utf8) + request.body)
  }
}

/// Sends the given texts; or, with a limit, that number of bytes, which count up.
final class TestSource: HTTPStreamSource {
  var stream: HTTPStream?
  var pending: [String] = []
  var isEnding = false
  private(set) var pulledBytes = 0
  private let limit: Int?
  private unowned let handler: TestHandler

  init(_ handler: TestHandler, limit: Int?) {
    self.handler = handler
    self.limit = limit
  }

  func say(_ text: String) {
    pending.append(text)
    stream?.wake()
  }

  func end() {
    isEnding = true
    stream?.wake()
  }

  func pull(into buffer: UnsafeMutableRawBufferPointer) -> HTTPPull {
    if let limit {
      let count = min(limit - pulledBytes, buffer.count)
      for index in 0..<count { unsafe buffer[index] = UInt8(ascii: "a") + UInt8((pulledBytes + index) % 26) }
      pulledBytes += count
      return count > 0 ? .bytes(count, more: true) : .end
    }
    guard !pending.isEmpty else { return isEnding ? .end : .wait }
    let bytes = Array(pending.removeFirst().utf8)
    unsafe buffer.copyBytes(from: bytes)
    return .bytes(bytes.count, more: !pending.isEmpty || isEnding)
  }

  func finished(_ end: HTTPStreamEnd) {
    handler.notes.append("finished \(end)")
  }
}

extension RawConnection {
  convenience init(port: Int, receiveBytes: Int32? = nil, tls: TLSContext? = TestTLS.shared?.context) throws {
    try self.init(port: UInt16(port), receiveBytes: receiveBytes, tls: tls)
  }

  /// Nil for the last chunk, and if the connection ends.
  func readChunkText() throws -> String? {
    try readChunk().flatMap { $0.isEmpty ? nil : String(decoding: $0, as: UTF8.self) }
  }
}

extension TLSIdentity {
  init(_ identity: TestAuthority.Identity, minimum: TLSVersion = .v12) {
    self.init(certificates: identity.certificate, key: identity.key, minimum: minimum)
  }
}

extension HTTPRequest {
  var method: UTF8Text { head.method }
  var path: String { head.path }
  var segments: [UTF8Text] { head.segments }
  var client: ClientAddress { head.client }
  /// The value of the query's first field of this name.
  func query(_ name: UTF8Text) -> String? { head.query.first { $0.name == name }?.value.string }
}
