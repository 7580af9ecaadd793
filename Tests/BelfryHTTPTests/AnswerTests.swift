import TestKit
import Testing

@testable import BelfryHTTP

/// The fields that answers have in addition to those of the handler.
@Suite struct AnswerTests {
  /// Without fields that depend on its request, a page in a browser reads nothing, not even a refusal.
  @Test func everyAnswerToARequestHasItsFields() throws {
    var limits = HTTPLimits.patient
    limits.requestTime = .milliseconds(200)
    limits.streamsPerLoop = 1
    let server = try TestServer(limits: limits, bodyMaxBytes: 100)
    var streams: [RawConnection] = []
    for (status, target, fields, body) in [
      (200, "/echo", "", ""), (200, "/later", "", ""), (404, "/nothing", "", ""), (400, "/%zz", "", ""),
      (403, "/echo", "Refuse: no\r\n", ""), (413, "/echo", "Content-Length: 100000\r\n", ""),
      (
        413, "/echo", "Transfer-Encoding: chunked\r\n",
        "65\r\n" + String(repeating: "x", count: 101) + "\r\n0\r\n\r\n"
      ),
      (408, "/echo", "Content-Length: 10\r\n", "x"), (200, "/stream", "", ""), (503, "/stream", "", ""),
    ] {
      let client = try RawConnection(port: server.port)
      client.send("POST \(target) HTTP/1.1\r\nHost: t\r\nMark: here\r\n\(fields)\r\n\(body)")
      let head = try client.readHead()
      #expect(head.status == status && head.headers["marked"] == "here", "\(status) \(target)")
      // The stream stays, so there is no room for another.
      if status == 200, target == "/stream" { #expect(server.eventually { server.openStreams == 1 }) }
      if target == "/stream" { streams.append(client) }
    }
    let plain = try RawConnection(port: server.port)
    plain.send("GET /echo HTTP/1.1\r\nHost: t\r\n\r\n")
    #expect(try plain.readResponse().headers["marked"] == nil)
  }

  /// A shared body is held once, even if many clients take it slowly.
  @Test func sharedBodiesCountInNoBudget() throws {
    let budgets = HTTPBudgets(answers: SharedBytes(limitBytes: 1 << 20, accountBytes: 1 << 20))
    let server = try TestServer(budgets: budgets)
    let slow = try (0..<8).map { _ in
      let client = try RawConnection(port: server.port, receiveBytes: 4_096)
      client.send("GET /document HTTP/1.1\r\nHost: t\r\nAccount: a\r\n\r\n")
      return client
    }
    for client in slow {
      let head = try client.readHead()
      #expect(head.status == 200 && head.headers["content-length"] == "\(8 << 20)")
    }
    #expect(budgets.answers.heldBytes == 0)
    #expect(try slow[7].read(count: 8 << 20).allSatisfy { $0 == 0x6C })
  }

  @Test func anAnswerToHeadWithoutALength() throws {
    let server = try TestServer()
    let client = try RawConnection(port: server.port)
    for (path, length) in [("/endless", nil), ("/large", "\(8 << 20)"), ("/endless", nil)]
      as [(String, String?)]
    {
      client.send("HEAD \(path) HTTP/1.1\r\nHost: t\r\n\r\n")
      let answer = try client.readResponse(ofHead: true)
      #expect(answer.status == 200 && answer.headers["content-length"] == length, "\(path)")
      #expect(answer.headers["transfer-encoding"] == nil)
    }
  }

  @Test(
    arguments: [
      ("/host", "t:80", "t:80"), ("http://other:81/host", "t", "other:81"),
      ("http://other/host?http://t/", "t", "other"),
      ("/host?http://other/", "t", "t"), ("https://[::1]:8080/host", "t", "[::1]:8080"),
    ])
  func forWhomARequestIs(target: String, host: String, meant: String) throws {
    let server = try TestServer()
    let client = try RawConnection(port: server.port)
    client.send("GET \(target) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
    #expect(String(decoding: try client.readResponse().bytes, as: UTF8.self) == meant)
  }
}
