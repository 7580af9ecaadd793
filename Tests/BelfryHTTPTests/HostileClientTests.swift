import BelfryHTTP
import CallCounts
import Foundation
import Glibc
import TestKit
import Testing

/// Malicious clients on plain connections and on sockets, and an honest one that does not notice them.
@Suite struct HostileClientTests {
  private func open(_ server: TestServer, receiveBytes: Int32? = nil) throws -> RawSocket {
    try RawSocket(
      port: UInt16(server.port), path: "/socket", receiveBytes: receiveBytes,
      tls: TestTLS.shared?.context)
  }

  /// The bytes in use by this process, which has both sides.
  private var bytesInUse: Int { Int(count_of_bytes_in_use()) }

  /// A client that sends requests without end and reads no answer is not read from. So a connection holds
  /// only a few of thousands of requests. When the client finally reads, it receives each answer, in order.
  @Test(.enabled(if: !TestTLS.isOn)) func tenThousandRequestsWhoseAnswersNobodyReads() throws {
    let server = try TestServer()
    let requests = (0..<10_000).flatMap { Array("GET /echo/\($0) HTTP/1.1\r\nHost: t\r\n\r\n".utf8) }
    let clients = try (0..<50).map { _ in try RawConnection(port: server.port, receiveBytes: 4_096) }
    let before = bytesInUse
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
    let grown = bytesInUse - before
    #expect(grown < 12 << 20, "\(grown) bytes for 50 connections")
    // The other clients stay as they are.
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
    let before = bytesInUse
    socket.connection.send(socket.frame(0x01, Array("a".utf8)))
    let many = (0..<10_000).flatMap { _ in socket.frame(0x00, []) }
    for _ in 0..<100 {
      #expect(socket.connection.send(many))
      other.say("b")
      #expect(try other.hear() == .text("b"))
    }
    socket.connection.send(socket.frame(0x80, Array("c".utf8)))
    #expect(try socket.hear() == .text("ac"))
    let grown = bytesInUse - before
    #expect(grown < 1 << 20, "\(grown) bytes for a message of two letters")
  }

  /// The bytes of messages that never end are counted, and given back.
  @Test func halfMessagesUpToTheLimit() throws {
    let budgets = HTTPBudgets(bodies: SharedBytes(limitBytes: 2 << 20, accountBytes: 2 << 20))
    let server = try TestServer(budgets: budgets)
    let half = [UInt8](repeating: 0x2A, count: 60_000)
    let frame = RawSocket.frame(0x01, half, mask: 1)
    let sockets = try (0..<60).map { _ in
      let socket = try open(server)
      socket.connection.send(frame)
      socket.send(0x89, [1])
      return socket
    }
    // A half is counted after the pings that come with it. So the second pong says that it is held.
    var refused = 0
    for socket in sockets {
      var heard = try socket.hear()
      if heard == .pong([1]) {
        socket.send(0x89, [2])
        heard = try socket.hear()
      }
      #expect(heard == .pong([2]) || heard == .close(1_013), "\(heard)")
      if heard == .close(1_013) { refused += 1 }
    }
    #expect(budgets.bodies.heldBytes > 1 << 20)
    #expect(refused >= 60 - (2 << 20) / 60_000 && refused < 60, "\(refused)")
    for socket in sockets { socket.connection.close() }
    #expect(server.eventually { budgets.bodies.heldBytes == 0 && server.openStreams == 0 })
    let next = try open(server)
    next.say(String(repeating: "x", count: 60_000))
    #expect(try next.hear() == .text(String(repeating: "x", count: 60_000)))
  }

  @Test func moreSocketsThanThereIsRoomFor() throws {
    var limits = HTTPLimits.patient
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
