import BelfryHTTP
import Glibc
import TestKit
import Testing

/// A WebSocket over a real connection, with an owner that repeats all messages.
@Suite struct WebSocketTests {
  fileprivate func open(_ server: TestServer, receiveBytes: Int32? = nil) throws -> RawSocket {
    let socket = try RawSocket(
      port: UInt16(server.port), path: "/socket", receiveBytes: receiveBytes,
      tls: TestTLS.shared?.context)
    #expect(socket.head.status == 101)
    return socket
  }

  @Test(arguments: [0, 1, 125, 126, 16_374, 16_384, 16_385, 60_000, 65_536])
  func echoesOfEachLength(_ count: Int) throws {
    let server = try TestServer()
    let socket = try open(server)
    let text = String(repeating: "*", count: count)
    for _ in 0..<3 {
      socket.say(text)
      #expect(try socket.hear() == .text(text))
    }
    // The frame is sent in pieces, byte by byte at first.
    let frame = socket.frame(0x81, Array(text.utf8))
    for byte in frame.prefix(20) { socket.connection.send([byte]) }
    socket.connection.send(Array(frame.dropFirst(20)))
    #expect(try socket.hear() == .text(text))
  }

  @Test func sixtyFourKiBInFragmentsOfAByte() throws {
    let server = try TestServer()
    let socket = try open(server)
    var bytes: [UInt8] = []
    for index in 0..<65_536 {
      bytes += socket.frame(index == 0 ? 0x01 : index == 65_535 ? 0x80 : 0x00, [UInt8(97 + index % 26)])
      if index % 10_000 == 0 { bytes += socket.frame(0x89, [UInt8(index / 10_000)]) }
    }
    socket.connection.send(bytes)
    for number in 0..<7 as Range<UInt8> { #expect(try socket.hear() == .pong([number])) }
    guard case .text(let text) = try socket.hear() else {
      Issue.record("no echo")
      return
    }
    #expect(text.utf8.count == 65_536 && text.hasPrefix("abcdefghijklmnopqrstuvwxyzab"))
  }

  /// A pong comes between two frames, and never within one.
  @Test func pingsWhileMuchIsSaid() throws {
    let server = try TestServer()
    let socket = try open(server, receiveBytes: 4_096)
    let text = String(repeating: "x", count: 60_000)
    for round in 0..<40 as Range<UInt8> {
      socket.say(text)
      socket.send(0x89, [round])
    }
    var (texts, pongs) = (0, [UInt8]())
    while texts < 40 || pongs.count < 40 {
      switch try socket.hear() {
      case .text(let heard):
        #expect(heard == text)
        texts += 1
      case .pong(let payload): pongs += payload
      case .ping, .close, .end:
        Issue.record("the socket ended")
        return
      }
    }
    #expect(pongs == Array(0..<40))
  }

  @Test func aFloodOfPingsIsAnswered() throws {
    let server = try TestServer()
    let socket = try open(server)
    for round in 0..<100 {
      var bytes: [UInt8] = []
      for number in 0..<200 { bytes += socket.frame(0x89, [UInt8(round), UInt8(number)]) }
      socket.connection.send(bytes)
      for number in 0..<200 { #expect(try socket.hear() == .pong([UInt8(round), UInt8(number)])) }
    }
  }

  /// A client that pings and does not read the pongs is not read from, so nothing accumulates.
  @Test func pingsOfWhoDoesNotRead() throws {
    let server = try TestServer()
    let socket = try open(server, receiveBytes: 4_096)
    socket.connection.setTimeout(microseconds: 100_000)
    var timeout = false
    var sent = 0
    let ping = (0..<500).flatMap { _ in socket.frame(0x89, [UInt8](repeating: 7, count: 120)) }
    while !timeout, sent < 200 << 20 {
      sent += ping.count
      timeout = !socket.connection.sendWithin(milliseconds: 500, ping)
    }
    #expect(timeout, "it took \(sent) bytes")
    let other = try open(server)
    other.say("others are served")
    #expect(try other.hear() == .text("others are served"))
  }

  @Test func aHeldOwnerIsNotToldMore() throws {
    let server = try TestServer()
    let socket = try open(server)
    socket.say("hold")
    for number in 0..<50 { socket.say("\(number)") }
    socket.send(0x88, RawSocket.closing(1_000))
    #expect(try socket.hear() == .text("hold"))
    #expect(!server.eventuallyWithin(milliseconds: 200) { server.openStreams == 0 })
    #expect(server.onLoop { _, handler in handler.echoes[0].heardCount } == 1)
    _ = server.onLoop { _, handler in handler.echoes[0].letGo() }
    var heard: [RawSocket.Heard] = []
    while heard.last != .end { heard.append(try socket.hear()) }
    // Messages from before the close frame are not answered any more once the close frame was read.
    #expect(heard.contains(.close(1_000)))
    #expect(server.onLoop { _, handler in handler.echoes[0].heardCount } == 51)
    socket.connection.close()
    #expect(server.eventually { server.openStreams == 0 })
  }

  @Test func bothCloseAndThenItEnds() throws {
    let server = try TestServer()
    let socket = try open(server)
    socket.say("end")
    #expect(try socket.hear() == .close(4_000))
    // The client is still read from, and gets no answers.
    socket.say("more")
    socket.send(0x89, [1])
    socket.send(0x88, RawSocket.closing(4_000))
    #expect(try socket.hear() == .end)
    socket.connection.close()
    #expect(server.eventually { server.openStreams == 0 })
    #expect(server.notes.contains("finished ended"))
  }

  @Test func whoDoesNotCloseIsCutInTime() throws {
    let server = try TestServer(limits: cuttingSoon)
    let silent = try open(server)
    let begin = ContinuousClock.now
    silent.say("end")
    #expect(try silent.hear() == .close(4_000))
    #expect(try silent.hear() == .end)
    #expect(begin.duration(to: .now) >= cuttingSoon.socketCloseTime)
    #expect(server.eventually { server.openStreams == 0 })
  }

  private var cuttingSoon: HTTPLimits {
    var limits = HTTPLimits.patient
    limits.socketCloseTime = .milliseconds(300)
    return limits
  }

  @Test func whoLeavesWithoutAWord() throws {
    let server = try TestServer()
    let (gone, reset) = (try open(server), try open(server))
    gone.connection.close()
    reset.connection.reset()
    #expect(server.eventually { server.openStreams == 0 })
    #expect(server.notes.filter { $0 == "finished clientGone" }.count == 2)
    let stopped = try open(server)
    _ = server.onLoop { server, _ in server.stop() }
    #expect(try stopped.hear() == .end)
  }

  /// A mistake is reported, even after many correct frames, and nothing after it is read.
  @Test func whatIsWrongIsTold() throws {
    let server = try TestServer()
    for (frame, code) in [
      (RawSocket.frame(0x81, [0x61], mask: nil), 1_002), (RawSocket.frame(0x82, [0x61], mask: 1), 1_003),
      (RawSocket.frame(0x81, [0xFF], mask: 1), 1_007), (RawSocket.frame(0xF1, [], mask: 1), 1_002),
    ] {
      let socket = try open(server)
      let good = socket.frame(0x81, Array("good".utf8))
      socket.connection.send(good + good + frame + good)
      var heard: [RawSocket.Heard] = []
      while heard.last != .end { heard.append(try socket.hear()) }
      #expect(heard.contains(.close(code)), "\(heard)")
      #expect(heard.count { $0 == .text("good") } <= 2)
    }
    #expect(server.eventually { server.openStreams == 0 })
  }

  /// The client sees the close frame, even if much of the refused message is still to come. Afterwards the
  /// connection ends.
  @Test(arguments: [1_002, 1_003, 1_009])
  func whoIsRefusedWhileSendingIsToldWhy(_ code: Int) throws {
    let server = try TestServer()
    let long = [UInt8](repeating: 0x2A, count: 3 << 20)
    let frame = RawSocket.frame(code == 1_003 ? 0x82 : 0x81, long, mask: code == 1_002 ? nil : 1)
    for pause in [0, 1, 10] as [UInt32] {
      let socket = try open(server)
      for start in stride(from: 0, to: frame.count, by: 1 << 18) {
        #expect(socket.connection.send(Array(frame[start..<min(start + 1 << 18, frame.count)])))
        usleep(pause * 1_000)
      }
      #expect(try socket.hear() == .close(code))
      #expect(try socket.hear() == .end)
    }
    #expect(server.eventually { server.openStreams == 0 })
  }

  @Test func whoGoesOnSendingIsCut() throws {
    let server = try TestServer(limits: cuttingSoon)
    let socket = try open(server)
    let begin = ContinuousClock.now
    let more = [UInt8](repeating: 0xFF, count: 1_000)
    while socket.connection.send(more) {
      try #require(begin.duration(to: .now) < .seconds(60), "it is not cut")
      usleep(1_000)
    }
    #expect(begin.duration(to: .now) >= cuttingSoon.socketCloseTime)
    #expect(server.eventually { server.openStreams == 0 })
    #expect(server.notes.filter { $0.hasPrefix("finished") } == ["finished ended"])
  }

  /// The server notices bytes that the kernel holds for a client that does not read, and notices when they
  /// are gone.
  @Test func whatIsOnItsWayIsSeen() throws {
    let server = try TestServer()
    let socket = try open(server, receiveBytes: 4_096)
    let isOnItsWay = { server.onLoop { _, handler in handler.echoes[0].socket?.hasUnacknowledged } == true }
    #expect(!isOnItsWay())
    let text = String(repeating: "x", count: 60_000)
    for _ in 0..<4 { socket.say(text) }
    #expect(server.eventually { isOnItsWay() })
    for _ in 0..<4 { #expect(try socket.hear() == .text(text)) }
    #expect(server.eventually { !isOnItsWay() })
  }

  @Test func messagesCountInTheBudget() throws {
    let budgets = HTTPBudgets(bodies: SharedBytes(limitBytes: 100_000, accountBytes: 100_000))
    let server = try TestServer(budgets: budgets)
    let sockets = try (0..<3).map { _ in try open(server) }
    for (index, socket) in sockets.enumerated() {
      socket.send(0x01, [UInt8](repeating: 0x2A, count: 45_000))
      // The first two fit in together. Each must be held before the next one is sent.
      if index < 2 { #expect(server.eventually { budgets.bodies.heldBytes >= 45_000 * (index + 1) }) }
    }
    #expect(try sockets[2].hear() == .close(1_013))
    for socket in sockets.prefix(2) {
      socket.send(0x80, [])
      #expect(try socket.hear() != .close(1_013))
    }
    #expect(server.eventually { budgets.bodies.heldBytes == 0 })
  }
}

extension WebSocketTests {
  /// The client does not close, so the broker waits for it.
  @Test func aRefusedMessageIsHeldNoLonger() throws {
    let budgets = HTTPBudgets(bodies: SharedBytes(limitBytes: 100_000, accountBytes: 100_000))
    let server = try TestServer(budgets: budgets)
    let (first, second) = (try open(server), try open(server))
    first.send(0x01, [UInt8](repeating: 0x2A, count: 60_000))
    #expect(server.eventually { budgets.bodies.heldBytes == 60_000 })
    let frame = second.frame(0x01, [UInt8](repeating: 0x2A, count: 45_000))
    second.connection.send(Array(frame.prefix(20_000)))
    #expect(server.eventually { budgets.bodies.heldBytes > 75_000 })
    second.connection.send(Array(frame.dropFirst(20_000)))
    #expect(try second.hear() == .close(1_013))
    #expect(server.eventually { budgets.bodies.heldBytes == 60_000 })
    // The broker throws away all that still comes.
    second.send(0x00, [UInt8](repeating: 0x2A, count: 30_000))
    second.send(0x08, [0x03, 0xE8])
    #expect(server.eventually { second.connection.ends() })
    #expect(budgets.bodies.heldBytes == 60_000)
    first.send(0x80, [])
    #expect(try first.hear() == .text(String(repeating: "*", count: 60_000)))
  }
}

extension TestServer {
  /// True if the condition becomes true within a time in which it should not.
  func eventuallyWithin(milliseconds: Int, _ condition: () -> Bool) -> Bool {
    let end = ContinuousClock.now + .milliseconds(milliseconds)
    while ContinuousClock.now < end {
      if condition() { return true }
    }
    return false
  }
}
