import BelfryHTTP
import Glibc
import TestKit
import Testing

@Suite struct RefusalTests {
  private func small() -> HTTPLimits {
    var limits = HTTPLimits.patient
    limits.drainBytes = 10_000
    return limits
  }

  @Test func anAnnouncedBodyBeyondTheLimitIsRefused() throws {
    let server = try TestServer(limits: small(), bodyMaxBytes: 1_000)
    let client = try RawConnection(port: server.port)
    let body = String(repeating: "x", count: 2_000)
    client.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 2000\r\n\r\n\(body)")
    let response = try client.readResponse()
    #expect(response.status == 413)
    #expect(response.headers["content-type"] == "application/problem+json")
    #expect(!server.notes.contains("handle /echo"))
    // The body was read to its end, so the connection goes on.
    #expect(try client.get("/echo").status == 200)
  }

  @Test func aBodyFarBeyondTheLimitIsRefusedAtOnce() throws {
    let server = try TestServer(limits: small(), bodyMaxBytes: 1_000)
    let client = try RawConnection(port: server.port)
    client.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 1000000\r\n\r\n")
    #expect(try client.readResponse().status == 413)
    #expect(client.readToEnd() == "")
  }

  /// The refusal is sent before any of the body has come. The body is then read, so that the client sees the
  /// answer.
  @Test func aLongBodyIsRefusedBeforeItComes() throws {
    let server = try TestServer(bodyMaxBytes: 1_000)
    let client = try RawConnection(port: server.port)
    client.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 1000000\r\n\r\n")
    let response = try client.readResponse()
    #expect(response.status == 413)
    #expect(response.headers["connection"] == "close")
    #expect(client.send([UInt8](repeating: 0x78, count: 1_000_000)))
    client.send("GET /behind HTTP/1.1\r\nHost: t\r\n\r\n")
    #expect(client.readToEnd() == "")
    #expect(server.notes == ["route POST /echo", "refuse 413"])
    client.close()
    #expect(server.eventually { server.openConnections == 0 })
  }

  @Test func whoDoesNotSendWhatIsRefusedIsCutInTime() throws {
    var limits = HTTPLimits.patient
    limits.requestTime = .milliseconds(50)
    let server = try TestServer(limits: limits, bodyMaxBytes: 1_000)
    let client = try RawConnection(port: server.port)
    client.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 1000000\r\n\r\n")
    let answer = client.readToEnd()
    #expect(answer.hasPrefix("HTTP/1.1 413 "))
    #expect(!answer.contains("HTTP/1.1 408"))
    #expect(server.eventually { server.openConnections == 0 })
  }

  @Test func aChunkedBodyIsRefusedWhenItCrossesTheLimit() throws {
    let server = try TestServer(limits: small(), bodyMaxBytes: 1_000)
    let client = try RawConnection(port: server.port)
    let chunk = "3e8\r\n" + String(repeating: "x", count: 1_000) + "\r\n"
    client.send(
      "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n\(chunk)\(chunk)0\r\n\r\n")
    #expect(try client.readResponse().status == 413)
    #expect(try client.get("/echo").status == 200)
  }

  @Test func aChunkedBodyWithoutEndIsCut() throws {
    let server = try TestServer(limits: small(), bodyMaxBytes: 1_000)
    let client = try RawConnection(port: server.port)
    client.send("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n")
    let chunk = "3e8\r\n" + String(repeating: "x", count: 1_000) + "\r\n"
    var sent = 0
    while sent < 10_000, client.send(chunk) { sent += 1 }
    #expect(sent < 10_000)
    #expect(client.readToEnd().hasPrefix("HTTP/1.1 413 "))
    #expect(server.eventually { server.openConnections == 0 })
  }

  @Test func aBodyExactlyAtTheLimitIsTaken() throws {
    let server = try TestServer(limits: small(), bodyMaxBytes: 1_000)
    let client = try RawConnection(port: server.port)
    let body = String(repeating: "x", count: 1_000)
    client.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 1000\r\n\r\n\(body)")
    #expect(try client.readResponse().status == 200)
  }

  @Test func theHandlerRefusesByTheHeaders() throws {
    let server = try TestServer()
    let client = try RawConnection(port: server.port)
    client.send("POST /echo HTTP/1.1\r\nHost: t\r\nrefuse: no\r\nContent-Length: 5\r\n\r\n")
    client.send("hello")
    #expect(try client.readResponse().body == "no")
    #expect(try client.get("/echo").status == 200)

    client.send(
      "POST /echo HTTP/1.1\r\nHost: t\r\nREFUSE: never\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
    let response = try client.readResponse()
    #expect(response.status == 403)
    #expect(response.body == "never")
    #expect(!server.notes.contains("handle /echo\nhandle /echo"))
  }

  @Test(arguments: [
    ("GET\r\n\r\n", 400),
    ("GET /echo\r\n\r\n", 400),
    ("GET /echo HTTP/9.9\r\n\r\n", 505),
    ("GET /echo HTTP/1.1\r\n\r\n", 400),
    ("GET /echo HTTP/1.1\r\nHost: t\r\nno colon\r\n\r\n", 400),
    ("GET /echo%4 HTTP/1.1\r\nHost: t\r\n\r\n", 400),
    ("GET /echo%FF HTTP/1.1\r\nHost: t\r\n\r\n", 400),
    ("GET /echo?x=%zz HTTP/1.1\r\nHost: t\r\n\r\n", 400),
    ("GET echo HTTP/1.1\r\nHost: t\r\n\r\n", 400),
    ("GET /echo HTTP/1.1\r\nHost: t:8o\r\n\r\n", 400),
    ("GET http:///echo HTTP/1.1\r\nHost: t\r\n\r\n", 400),
    ("GET http://t:8o/echo HTTP/1.1\r\nHost: t\r\n\r\n", 400),
    ("GET http://a@t/echo HTTP/1.1\r\nHost: t\r\n\r\n", 400),
    ("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: -1\r\n\r\n", 400),
    ("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 1x\r\n\r\n", 400),
    ("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 99999999999999999999999\r\n\r\n", 413),
    ("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 400),
    (
      "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      400
    ),
    ("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: gzip\r\n\r\nhello", 501),
    ("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n", 400),
  ])
  func whatIsNoRequestIsRefused(_ request: String, _ status: Int) throws {
    let server = try TestServer()
    let client = try RawConnection(port: server.port)
    client.send(request)
    #expect(try client.readHead().status == status)
    #expect(try RawConnection(port: server.port).get("/echo").status == 200)
  }

  @Test func noiseIsRefused() throws {
    let server = try TestServer()
    var random = SeededGenerator(seed: TestEnvironment.seed)
    for _ in 0..<50 {
      let client = try RawConnection(port: server.port)
      client.send(
        (0...random.below(5_000)).map { _ in UInt8.random(in: 0...255, using: &random) } + [10, 10])
      shutdown(client.descriptor, Int32(SHUT_WR))
      _ = client.readToEnd()
    }
    #expect(try RawConnection(port: server.port).get("/echo").status == 200)
    #expect(server.eventually { server.openConnections == 0 })
  }

  @Test func headersBeyondTheLimitAreRefused() throws {
    let server = try TestServer()
    let long = String(repeating: "x", count: 16 * 1_024)
    for (request, status) in [
      ("GET /echo HTTP/1.1\r\nHost: t\r\nLong: \(long)\r\n\r\n", 431),
      ("GET /\(long) HTTP/1.1\r\nHost: t\r\n\r\n", 414),
      ("GET /echo HTTP/1.1\r\nHost: t\r\n" + String(repeating: "A: b\r\n", count: 3_000) + "\r\n", 431),
    ] {
      let client = try RawConnection(port: server.port)
      client.send(request)
      #expect(try client.readHead().status == status)
    }
    #expect(try RawConnection(port: server.port).get("/echo").status == 200)
  }

  @Test(arguments: ["X: ", "Abc: d\r\n"]) func aroundTheLimitEveryRequestIsAnswered(_ field: String) throws {
    let server = try TestServer()
    var statuses: Set<Int> = []
    for count in stride(from: 1_000, to: 9_000, by: 40) {
      let isOneField = field == "X: "
      let fields =
        isOneField
        ? field + String(repeating: "x", count: count) + "\r\n"
        : String(repeating: field, count: count / 40)
      let client = try RawConnection(port: server.port)
      client.send("GET /echo HTTP/1.1\r\nHost: t\r\n\(fields)\r\n")
      statuses.insert(try client.readHead().status)
    }
    #expect(statuses == [200, 431])
  }

  @Test func aQueryOfManyFieldsIsTakenApart() throws {
    let server = try TestServer()
    let fields = (0..<500).map { "a=\($0)" }.joined(separator: "&")
    #expect(try RawConnection(port: server.port).get("/echo?\(fields)").body == "GET echo \(fields) ")
  }

  @Test func headersOfAUsualSizeAreTaken() throws {
    let server = try TestServer()
    let client = try RawConnection(port: server.port)
    let token = String(repeating: "x", count: 2_048)
    let cookies = String(repeating: "y", count: 2_048)
    client.send("GET /echo HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer \(token)\r\nX: \(cookies)\r\n\r\n")
    #expect(try client.readResponse().status == 200)
  }

  @Test(arguments: [
    "GET /echo HTTP/1.1\r\n", "G", "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\n",
  ])
  func whoDawdlesIsRefused(_ beginning: String) throws {
    var limits = HTTPLimits.patient
    limits.requestTime = .milliseconds(50)
    let server = try TestServer(limits: limits)
    let client = try RawConnection(port: server.port)
    client.send(beginning)
    #expect(client.readToEnd().hasPrefix("HTTP/1.1 408 "))
    #expect(server.eventually { server.openConnections == 0 })
  }

  /// Such a client waits for no answer, and would keep its place while the answer is sent.
  @Test func whoSaysNothingIsClosedWithoutAWord() throws {
    var limits = HTTPLimits.patient
    limits.requestTime = .milliseconds(50)
    let server = try TestServer(limits: limits)
    let client = try RawConnection(port: server.port)
    #expect(client.readToEnd() == "")
    #expect(server.eventually { server.openConnections == 0 })
  }

  /// When the limit is reached, silent connections make room before connections that wait for their next
  /// request.
  @Test func silentConnectionsKeepNobodyOut() throws {
    var limits = HTTPLimits.patient
    limits.connectionsPerLoop = 8
    let server = try TestServer(limits: limits)
    let honest = try RawConnection(port: server.port)
    #expect(try honest.get("/echo").status == 200)
    var silent: [RawConnection] = []
    for _ in 0..<40 {
      silent.append(try RawConnection(port: server.port))
      // Its own connection is among the last ones that were opened, so it is not the one that makes room.
      let late = try RawConnection(port: server.port)
      #expect(try late.get("/echo").status == 200)
      late.close()
    }
    #expect(try honest.get("/echo").status == 200)
    #expect(!server.notes.contains { $0.hasPrefix("paused") })
    for client in silent { client.close() }
  }

  @Test func anIdleConnectionEndsInTime() throws {
    var limits = HTTPLimits.patient
    limits.keepAliveTime = .milliseconds(50)
    let server = try TestServer(limits: limits)
    let client = try RawConnection(port: server.port)
    #expect(try client.get("/echo").status == 200)
    #expect(client.readToEnd() == "")
    #expect(server.eventually { server.openConnections == 0 })
  }

  @Test func aClientThatTakesNoAnswerIsCut() throws {
    var limits = HTTPLimits.patient
    limits.responseTime = .milliseconds(50)
    let server = try TestServer(limits: limits)
    let client = try RawConnection(port: server.port, receiveBytes: 4_096)
    client.send("GET /large HTTP/1.1\r\nHost: t\r\n\r\n")
    #expect(server.eventually { server.notes.contains("handle /large") && server.openConnections == 0 })
  }

  @Test func awaitingAnAnswerIsNoIdleness() throws {
    var limits = HTTPLimits.patient
    limits.requestTime = .milliseconds(50)
    limits.keepAliveTime = .milliseconds(50)
    let server = try TestServer(limits: limits)
    let client = try RawConnection(port: server.port)
    client.send("GET /never HTTP/1.1\r\nHost: t\r\n\r\n")
    #expect(server.eventually { server.notes.contains("handle /never") })
    // This is several times the idle time, and several checks of the deadlines.
    usleep(300_000)
    _ = server.onLoop { _, handler in handler.waiting[0].respond(HTTPResponse(status: 204)) }
    #expect(try client.readResponse().status == 204)
  }

  @Test(.disabled(if: TestTLS.isOn, "whoever is not accepted has no handshake"))
  func connectionsBeyondTheLimitWait() throws {
    var limits = HTTPLimits.patient
    limits.connectionsPerLoop = 2
    let server = try TestServer(limits: limits)
    let first = try RawConnection(port: server.port)
    let second = try RawConnection(port: server.port)
    for busy in [first, second] { busy.send("GET /never HTTP/1.1\r\nHost: t\r\n\r\n") }
    #expect(server.eventually { server.notes.count { $0 == "handle /never" } == 2 })
    let third = try RawConnection(port: server.port)
    third.send("GET /echo HTTP/1.1\r\nHost: t\r\n\r\n")
    usleep(50_000)
    #expect(server.openConnections == 2)
    first.close()
    #expect(try third.readResponse().status == 200)
  }

  /// The client has to expect this at any time, and opens another connection.
  @Test func whatHasBeenIdleLongestMakesRoom() throws {
    var limits = HTTPLimits.patient
    limits.connectionsPerLoop = 3
    let server = try TestServer(limits: limits)
    let busy = try RawConnection(port: server.port)
    busy.send("GET /never HTTP/1.1\r\nHost: t\r\n\r\n")
    #expect(server.eventually { server.notes.contains("handle /never") })
    var idle: [RawConnection] = []
    for number in 0..<10 {
      let client = try RawConnection(port: server.port)
      #expect(try client.get("/echo").status == 200)
      idle.append(client)
      if number >= 2 { #expect(idle[number - 2].readToEnd() == "") }
    }
    #expect(server.openConnections == 3)
    #expect(!server.notes.contains { $0.hasPrefix("paused") })
    _ = server.onLoop { _, handler in handler.waiting[0].respond(HTTPResponse(status: 204)) }
    #expect(try busy.readResponse().status == 204)
  }

  @Test(.disabled(if: TestTLS.isOn, "whoever is not accepted has no handshake"))
  func aStreamThatEndsLetsTheNextOneIn() throws {
    var limits = HTTPLimits.patient
    (limits.connectionsPerLoop, limits.streamsPerLoop) = (2, 2)
    let server = try TestServer(limits: limits)
    let streams = try (0..<2).map { _ in try RawConnection(port: server.port) }
    for stream in streams {
      stream.send("GET /stream HTTP/1.1\r\nHost: t\r\n\r\n")
      #expect(try stream.readHead().status == 200)
    }
    for _ in 0..<3 {
      let late = try RawConnection(port: server.port)
      late.send("GET /echo HTTP/1.1\r\nHost: t\r\n\r\n")
      usleep(20_000)
      #expect(server.openConnections == 2)
      late.close()
    }
    let third = try RawConnection(port: server.port)
    third.send("GET /echo HTTP/1.1\r\nHost: t\r\n\r\n")
    #expect(server.eventually { server.notes.contains { $0.hasPrefix("paused") } })
    streams[0].close()
    #expect(try third.readResponse().status == 200)
    #expect(server.notes.count { $0.hasPrefix("paused at 2, ") } == 1)
  }
}
