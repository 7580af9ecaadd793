import BelfryHTTP
import Foundation
import Glibc
import TestKit
import Testing

/// Clients that mean harm on plain connections and on sockets, beside one that does not notice them.
@Suite struct HostileClientTests {
  private func open(_ server: TestServer, receiveBytes: Int32? = nil) throws -> RawSocket {
    try RawSocket(
      port: UInt16(server.port), path: "/socket", receiveBytes: receiveBytes, timeoutSeconds: 20,
      tls: TestTLS.shared?.context)
  }

  /// In the process that has both sides.
  private func residentBytes() throws -> Int {
    let words = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    return (Int(words[1]) ?? 0) * 4_096
  }

  /// Who asks without end and reads no answer is not read from, so a connection holds a few requests of thousands. When it
  /// reads after all it has each answer, in order.
  @Test(.enabled(if: !TestTLS.isOn)) func tenThousandRequestsWhoseAnswersNobodyReads() throws {
    let server = try TestServer()
    let requests = (0..<10_000).flatMap { Array("GET /echo/\($0) HTTP/1.1\r\nHost: t\r\n\r\n".utf8) }
    let clients = try (0..<50).map { _ in try RawConnection(port: server.port, receiveBytes: 4_096) }
    let before = try residentBytes()
    var sent = clients.map { _ in 0 }
    for _ in 0..<40 {
      for (index, client) in clients.enumerated() {
        let piece = Array(requests[sent[index]..<min(sent[index] + 8_192, requests.count)])
        let count = unsafe piece.withUnsafeBytes { bytes in
          unsafe Glibc.send(
            client.descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
        sent[index] += max(0, count)
      }
    }
    let other = try RawConnection(port: server.port)
    for _ in 0..<20 { #expect(try other.get("/echo").status == 200) }
    let grown = try residentBytes() - before
    #expect(grown < 30 << 20, "\(grown) bytes for 50 connections")
    // The others stay as they are.
    let client = clients[0]
    let rest = Array(requests[sent[0]...])
    let sender = Thread { client.send(rest) }
    sender.start()
    for number in 0..<10_000 {
      let answer = try client.readResponse().body
      guard answer == "GET echo|\(number)  " else {
        Issue.record("instead of \(number): \(answer)")
        return
      }
    }
  }

  /// A message in a million frames, all but one of them empty, is a short message; it costs its client more than the broker.
  @Test func aMillionFramesOfNothing() throws {
    let server = try TestServer()
    let socket = try open(server)
    let other = try open(server)
    let before = try residentBytes()
    socket.connection.send(socket.frame(0x01, Array("a".utf8)))
    let many = (0..<10_000).flatMap { _ in socket.frame(0x00, []) }
    var longest = Duration.zero
    for _ in 0..<100 {
      #expect(socket.connection.send(many))
      let begin = ContinuousClock.now
      other.say("b")
      #expect(try other.hear() == .text("b"))
      longest = max(longest, begin.duration(to: .now))
    }
    socket.connection.send(socket.frame(0x80, Array("c".utf8)))
    #expect(try socket.hear() == .text("ac"))
    #expect(longest < .seconds(2), "\(longest)")
    #expect(try residentBytes() - before < 20 << 20)
  }

  /// What is held of messages that never end counts, and is given back.
  @Test func halfMessagesUpToTheLimit() throws {
    let budgets = HTTPBudgets(bodies: SharedBytes(limitBytes: 2 << 20, accountBytes: 2 << 20))
    let server = try TestServer(budgets: budgets)
    let half = [UInt8](repeating: 0x2A, count: 60_000)
    let sockets = try (0..<60).map { _ in
      let socket = try open(server)
      socket.send(0x01, half)
      return socket
    }
    #expect(server.eventually { budgets.bodies.heldBytes > 1 << 20 })
    var refused = 0
    for socket in sockets {
      socket.connection.setTimeout(microseconds: 200_000)
      if case .close(1_013)? = try? socket.hear() { refused += 1 }
    }
    #expect(refused >= 60 - (2 << 20) / 60_000 && refused < 60, "\(refused)")
    for socket in sockets { socket.connection.close() }
    #expect(server.eventually { budgets.bodies.heldBytes == 0 && server.openStreams == 0 })
    let next = try open(server)
    next.say(String(repeating: "x", count: 60_000))
    #expect(try next.hear() == .text(String(repeating: "x", count: 60_000)))
  }

  @Test func moreSocketsThanThereIsRoomFor() throws {
    var limits = HTTPLimits()
    limits.streamsPerLoop = 3
    let server = try TestServer(limits: limits)
    let sockets = try (0..<3).map { _ in try open(server) }
    #expect(try open(server).head.status == 503)
    #expect(try RawConnection(port: server.port).get("/echo").status == 200)
    sockets[1].send(0x88, RawSocket.closing(1_000))
    #expect(try sockets[1].hear() == .close(1_000))
    sockets[1].connection.close()
    #expect(server.eventually { server.openStreams == 2 })
    let next = try open(server)
    next.say("x")
    #expect(try next.hear() == .text("x"))
  }
}
