import BelfryHTTP
import CallCounts
import TestKit
import Testing

@Suite struct StreamTests {
  private func open(_ server: TestServer, _ target: String = "/stream") throws -> RawConnection {
    let client = try RawConnection(port: server.port)
    client.send("GET \(target) HTTP/1.1\r\nHost: t\r\n\r\n")
    let head = try client.readHead()
    #expect(head.status == 200)
    #expect(head.headers["content-type"] == "text/event-stream")
    #expect(head.headers["transfer-encoding"] == "chunked")
    return client
  }

  @Test(arguments: ["/stream", "/stream?later"]) func aStreamWaitsWakesAndEnds(_ target: String) throws {
    let server = try TestServer()
    let client = try open(server, target)
    _ = server.onLoop { _, handler in handler.sources[0].say("one") }
    #expect(try client.readChunkText() == "one")
    _ = server.onLoop { _, handler in
      handler.sources[0].say("two")
      handler.sources[0].say("three")
    }
    #expect(try client.readChunkText() == "two")
    #expect(try client.readChunkText() == "three")
    _ = server.onLoop { _, handler in handler.sources[0].end() }
    #expect(try client.readChunkText() == nil)
    #expect(client.readToEnd() == "")
    #expect(server.notes.filter { $0.hasPrefix("finished") } == ["finished ended"])
    #expect(server.eventually { server.openConnections == 0 })
  }

  @Test func toHTTP10AStreamEndsWithItsConnection() throws {
    let server = try TestServer()
    let client = try RawConnection(port: server.port)
    client.send("GET /stream?bytes=100000 HTTP/1.0\r\n\r\n")
    let head = try client.readHead()
    #expect(head.headers["transfer-encoding"] == nil)
    #expect(client.readToEnd().utf8.count == 100_000)
  }

  @Test func toHeadAStreamIsItsHeaders() throws {
    let server = try TestServer()
    let client = try RawConnection(port: server.port)
    client.send("HEAD /stream HTTP/1.1\r\nHost: t\r\n\r\n")
    #expect(try client.readHead().status == 200)
    #expect(client.readToEnd() == "")
    #expect(server.notes.contains("finished ended"))
  }

  @Test(arguments: [true, false]) func aClientThatLeavesAStreamIsNoticed(byReset: Bool) throws {
    let server = try TestServer()
    let client = try open(server)
    if byReset { client.reset() } else { client.close() }
    #expect(server.eventually { server.notes.contains("finished clientGone") })
    #expect(server.openStreams == 0)
    _ = server.onLoop { _, handler in handler.sources[0].say("to nobody") }
    #expect(server.notes.filter { $0.hasPrefix("finished") }.count == 1)
  }

  @Test func aSlowReaderCostsNoMemoryAndDelaysNobody() throws {
    let server = try TestServer()
    let total = 20_000_000
    let slow = try RawConnection(port: server.port, receiveBytes: 4_096)
    slow.send("GET /stream?bytes=\(total) HTTP/1.1\r\nHost: t\r\n\r\n")
    _ = try slow.readHead()
    let other = try RawConnection(port: server.port)
    for _ in 0..<100 { #expect(try other.get("/echo").status == 200) }
    // No more is pulled than the kernel takes.
    let pulled = server.onLoop { _, handler in handler.sources[0].pulledBytes } ?? total
    #expect(pulled < 500_000)
    var position = 0
    var isIntact = true
    while let chunk = try slow.readChunkText() {
      for byte in chunk.utf8 {
        if byte != UInt8(ascii: "a") + UInt8(position % 26) { isIntact = false }
        position += 1
      }
    }
    #expect(position == total)
    #expect(isIntact)
  }

  @Test func whoTakesNothingIsCutInTime() throws {
    var limits = HTTPLimits.patient
    limits.streamStallTime = .milliseconds(100)
    let server = try TestServer(limits: limits)
    let client = try RawConnection(port: server.port, receiveBytes: 4_096)
    client.send("GET /stream?bytes=20000000 HTTP/1.1\r\nHost: t\r\n\r\n")
    #expect(server.eventually { server.notes.contains("finished stalled") })
    #expect(server.openConnections == 0)
  }

  @Test func aThousandStreamsAreWokenAtOnce() throws {
    let server = try TestServer()
    let clients = try (0..<1_000).map { _ in
      let client = try RawConnection(port: server.port)
      client.send("GET /stream HTTP/1.1\r\nHost: t\r\n\r\n")
      return client
    }
    for client in clients { _ = try client.readHead() }
    #expect(server.openStreams == 1_000)
    for round in 0..<5 {
      _ = server.onLoop { _, handler in
        for source in handler.sources { source.say("round \(round)") }
      }
      for client in clients { #expect(try client.readChunkText() == "round \(round)") }
    }
    for client in clients { client.close() }
    #expect(server.eventually { server.openConnections == 0 })
    #expect(server.notes.filter { $0 == "finished clientGone" }.count == 1_000)
  }

  /// The bytes that a source gives at once, framing included, cost one system call. A stream that is woken
  /// for nothing costs none.
  @Test func aPullIsOneWrite() throws {
    let server = try TestServer()
    let clients = try (0..<20).map { _ in try open(server) }
    let before = server.onLoop { _, handler in
      for source in handler.sources { source.say("one") }
      return count_of_sends()
    }
    for client in clients { #expect(try client.readChunkText() == "one") }
    let after = server.onLoop { _, handler in
      for source in handler.sources { source.stream?.wake() }
      return count_of_sends()
    }
    #expect(try #require(after) - #require(before) == 20)
    // A turn later, the streams that were woken for nothing have been pulled.
    #expect(server.onLoop { _, _ in count_of_sends() } == after)
  }

  @Test func stoppingFinishesEachStreamOnce() throws {
    let server = try TestServer()
    let clients = try (0..<20).map { _ in try open(server) }
    _ = server.onLoop { server, _ in server.stop() }
    for client in clients { #expect(client.readToEnd() == "") }
    #expect(server.notes.filter { $0 == "finished stopping" }.count == 20)
    #expect(server.openConnections == 0)
  }

  @Test func streamsBeyondTheLimitAreRefused() throws {
    var limits = HTTPLimits.patient
    limits.streamsPerLoop = 1
    let server = try TestServer(limits: limits)
    let first = try open(server)
    #expect(try RawConnection(port: server.port).get("/stream").status == 503)
    #expect(server.notes.contains("finished refused"))
    first.close()
    #expect(server.eventually { server.openStreams == 0 })
    _ = try open(server)
  }

  /// An earlier request is answered first.
  @Test func aStreamFollowsWhatWasPipelinedBeforeIt() throws {
    let server = try TestServer()
    let client = try RawConnection(port: server.port)
    client.send("GET /later HTTP/1.1\r\nHost: t\r\n\r\nGET /stream?bytes=10 HTTP/1.1\r\nHost: t\r\n\r\n")
    #expect(try client.readResponse().body == "GET later  ")
    #expect(try client.readResponse().body == "abcdefghij")
  }
}
