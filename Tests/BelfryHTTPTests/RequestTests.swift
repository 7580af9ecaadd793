import BelfryHTTP
import Foundation
import Glibc
import TestKit
import Testing

@Suite struct RequestTests {
  @Test func aRequestIsAnswered() throws {
    let server = try TestServer()
    let response = try RawConnection(port: server.port).get("/echo/a%2Fb/%C3%A9?x=1&y=a+b%26&flag")
    #expect(response.status == 200)
    #expect(response.body == "GET echo|a/b|é x=1&y=a b&&flag= ")
    #expect(response.headers["loopback"] == "true")
    #expect(response.headers["date"] != nil)
  }

  @Test func anAnswerMayComeLater() throws {
    let server = try TestServer()
    let client = try RawConnection(port: server.port)
    for _ in 0..<3 {
      #expect(try client.get("/later/1").body == "GET later|1  ")
    }
  }

  @Test func aBodyArrivesWhole() throws {
    let server = try TestServer()
    let client = try RawConnection(port: server.port)
    let body = String(repeating: "0123456789", count: 50_000)
    client.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    #expect(try client.readResponse().body == "POST echo  \(body)")
  }

  @Test func aChunkedBodyArrivesWhole() throws {
    let server = try TestServer()
    let client = try RawConnection(port: server.port)
    client.send("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
    client.send("6;extension\r\n world\r\n0\r\nTrailer: x\r\n\r\n")
    #expect(try client.readResponse().body == "POST echo  hello world")
    #expect(try client.get("/echo").status == 200)
  }

  @Test func pipelinedRequestsAreAnsweredInOrder() throws {
    let server = try TestServer()
    let client = try RawConnection(port: server.port)
    var requests = ""
    for number in 0..<50 {
      requests += "GET /\(number % 3 == 0 ? "later" : "echo")/\(number) HTTP/1.1\r\nHost: t\r\n\r\n"
    }
    client.send(requests)
    for number in 0..<50 {
      #expect(try client.readResponse().body.hasSuffix("|\(number)  "))
    }
  }

  /// A connection remembers its last target only for requests with the same target.
  @Test func aConnectionAsksForTheSameTargetAndForOthers() throws {
    let server = try TestServer()
    let client = try RawConnection(port: server.port)
    let long = String(repeating: "l", count: 200)
    let targets = [
      ("/echo/a", "echo|a "), ("/echo/ab", "echo|ab "), ("/echo/%61", "echo|a "),
      ("/echo/a?x=1", "echo|a x=1"),
      ("/echo/a?x=2", "echo|a x=2"), ("/echo/\(long)a", "echo|\(long)a "),
      ("/echo/\(long)b", "echo|\(long)b "),
    ]
    var numbers = SeededGenerator(seed: 5)
    for _ in 0..<200 {
      guard let (target, said) = targets.randomElement(using: &numbers) else { continue }
      for _ in 0..<Int.random(in: 1...3, using: &numbers) {
        #expect(try client.get(target).body == "GET \(said) ")
      }
    }
  }

  /// A client that sends many requests at once without waiting receives all answers, and delays nobody.
  @Test func manyPipelinedRequestsTakeTurnsWithOthers() throws {
    let server = try TestServer()
    let greedy = try RawConnection(port: server.port)
    let requests = (0..<5_000).map { "GET /echo/\($0) HTTP/1.1\r\nHost: t\r\n\r\n" }.joined()
    let sender = Thread { greedy.send(requests) }
    sender.start()
    let other = try RawConnection(port: server.port)
    for _ in 0..<50 { #expect(try other.get("/echo").status == 200) }
    for number in 0..<5_000 { #expect(try greedy.readResponse().body == "GET echo|\(number)  ") }
  }

  /// The client has sent everything, and reads on.
  @Test func aClientThatClosesItsSideIsAnswered() throws {
    let server = try TestServer()
    let client = try RawConnection(port: server.port)
    client.send("GET /later/1 HTTP/1.1\r\nHost: t\r\n\r\nGET /later/2 HTTP/1.1\r\nHost: t\r\n\r\n")
    shutdown(client.descriptor, Int32(SHUT_WR))
    #expect(try client.readResponse().body == "GET later|1  ")
    #expect(try client.readResponse().body == "GET later|2  ")
    #expect(client.readToEnd() == "")
    #expect(server.eventually { server.openConnections == 0 })
  }

  @Test func headHasNoBodyAndTheConnectionLives() throws {
    let server = try TestServer()
    let client = try RawConnection(port: server.port)
    client.send("HEAD /echo HTTP/1.1\r\nHost: t\r\n\r\n")
    let response = try client.readResponse(ofHead: true)
    #expect(response.status == 200)
    #expect(response.headers["content-length"] == "11")
    #expect(try client.get("/echo").body == "GET echo  ")
  }

  @Test func methodsNobodyKnowsReachTheHandler() throws {
    let server = try TestServer()
    let client = try RawConnection(port: server.port)
    client.send("BREW /echo HTTP/1.1\r\nHost: t\r\n\r\n")
    #expect(try client.readResponse().body == "BREW echo  ")
    client.send("OPTIONS * HTTP/1.1\r\nHost: t\r\n\r\n")
    #expect(try client.readResponse().status == 404)
  }

  @Test func aClientThatAsksIsToldToContinue() throws {
    let server = try TestServer()
    let client = try RawConnection(port: server.port)
    client.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
    #expect(try client.readHead().status == 100)
    client.send("ok")
    #expect(try client.readResponse().body == "POST echo  ok")
  }

  @Test func http10IsAnsweredAndClosed() throws {
    let server = try TestServer()
    let client = try RawConnection(port: server.port)
    client.send("GET /echo HTTP/1.0\r\n\r\n")
    #expect(try client.readResponse().body == "GET echo  ")
    #expect(client.readToEnd() == "")
  }

  @Test func aClientGoneWhileItsAnswerIsAwaitedIsNoticed() throws {
    let server = try TestServer()
    let client = try RawConnection(port: server.port)
    client.send("GET /never HTTP/1.1\r\nHost: t\r\n\r\n")
    #expect(server.eventually { server.notes.contains("handle /never") })
    client.close()
    #expect(server.eventually { server.notes.contains("gone") })
    #expect(server.eventually { server.openConnections == 0 })
    #expect(server.notes.filter { $0 == "gone" }.count == 1)
  }

  /// Work may ask to be told only when the client has gone already.
  @Test func aClientGoneBeforeAnybodyAsksIsNoticed() throws {
    let server = try TestServer()
    let client = try RawConnection(port: server.port)
    client.send("GET /late HTTP/1.1\r\nHost: t\r\n\r\n")
    #expect(server.eventually { server.notes.contains("handle /late") })
    client.reset()
    #expect(server.eventually { server.openConnections == 0 })
    server.onLoop { _, handler in handler.watchLatest() }
    #expect(server.notes.contains("gone late"))
  }

  @Test func answeringAClientThatHasGoneIsNothing() throws {
    let server = try TestServer()
    for _ in 0..<20 {
      let client = try RawConnection(port: server.port)
      client.send("GET /later HTTP/1.1\r\nHost: t\r\n\r\n")
      client.reset()
    }
    #expect(server.eventually { server.openConnections == 0 })
    #expect(try RawConnection(port: server.port).get("/echo").status == 200)
  }

  @Test func aLargeAnswerToASlowReaderDelaysNobody() throws {
    let server = try TestServer()
    let slow = try RawConnection(port: server.port, receiveBytes: 4_096)
    slow.send("GET /large HTTP/1.1\r\nHost: t\r\n\r\n")
    _ = try slow.readHead()
    let other = try RawConnection(port: server.port)
    for _ in 0..<100 { #expect(try other.get("/echo").status == 200) }
    #expect(try slow.read(count: 8 << 20).allSatisfy { $0 == 0x6C })
  }

  @Test func aHeaderCannotSmuggleAnother() throws {
    let server = try TestServer()
    let response = try RawConnection(port: server.port).get("/split")
    #expect(response.headers["injected"] == nil)
    #expect(response.headers["c"] == "d")
  }

  @Test func quiescedItFinishesWhatIsUnderWayAndAcceptsNoMore() throws {
    let server = try TestServer()
    let idle = try RawConnection(port: server.port)
    #expect(try idle.get("/echo").status == 200)
    let busy = try RawConnection(port: server.port)
    busy.send("GET /never HTTP/1.1\r\nHost: t\r\n\r\n")
    #expect(server.eventually { server.notes.contains("handle /never") })

    _ = server.onLoop { server, _ in server.quiesce() }
    #expect(idle.readToEnd() == "")
    #expect(throws: FixtureError.self) { try RawConnection(port: server.port) }
    #expect(server.openRequests == 1)

    _ = server.onLoop { _, handler in handler.waiting[0].respond(HTTPResponse(status: 204)) }
    #expect(try busy.readResponse().headers["connection"] == "close")
    #expect(busy.readToEnd() == "")
    #expect(server.openRequests == 0)
  }

  /// The loop has not yet noticed that somebody has connected, and stops listening.
  @Test(.enabled(if: TestTLS.shared == nil, "a handshake that has not begun is ended"))
  func quiescedItServesThoseWhoHadConnected() throws {
    let server = try TestServer()
    let clients = server.onLoop { server, _ -> [RawConnection] in
      let clients = (0..<100).compactMap { _ in try? RawConnection(port: server.port) }
      for client in clients { client.send("GET /echo HTTP/1.1\r\nHost: t\r\n\r\n") }
      server.quiesce()
      return clients
    }
    #expect(clients?.count == 100)
    for client in clients ?? [] {
      let response = try client.readResponse()
      #expect(response.status == 200)
      #expect(response.headers["connection"] == "close")
    }
    #expect(server.eventually { server.openRequests == 0 })
  }

  @Test func stoppingAbandonsWhatWaits() throws {
    let server = try TestServer()
    let client = try RawConnection(port: server.port)
    client.send("GET /never HTTP/1.1\r\nHost: t\r\n\r\n")
    #expect(server.eventually { server.notes.contains("handle /never") })
    _ = server.onLoop { server, _ in server.stop() }
    #expect(client.readToEnd() == "")
    #expect(server.notes.filter { $0 == "gone" }.count == 1)
    #expect(server.openConnections == 0)
  }

  @Test func aPortIsTakenOnce() throws {
    let server = try TestServer()
    do throws(HTTPError) {
      _ = try ListenSocket.open(host: "127.0.0.1", port: server.port)
      Issue.record("the port was free")
    } catch {
      #expect(error.code == .addressInUse)
    }
  }

  @Test func loopsShareAPort() throws {
    let sockets = try ListenSocket.open(host: "127.0.0.1", port: 0, count: 3)
    #expect(Set(sockets.map(\.port)).count == 1)
    for socket in sockets { close(socket.descriptor) }
  }
}
