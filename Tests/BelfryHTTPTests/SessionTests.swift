import BelfryHTTP
import BelfryTransport
import TestCertificates
import TestKit
import Testing

/// A client that comes back, on any loop, or speaks other protocols.
@Suite struct SessionTests {
  private static let request = "GET /echo HTTP/1.1\r\nHost: t\r\n\r\n"

  // SAFETY: the session is OpenSSL's, which the caller frees.
  private func connect(
    _ server: TestServer, is13: Bool, protocols: String? = nil, _ session: inout UnsafeMutableRawPointer?
  ) throws -> Int {
    let client = try RawConnection(port: server.port, tls: nil)
    return Int(unsafe test_tls_session(client.descriptor, is13 ? 1 : 0, protocols, Self.request, &session))
  }

  @Test(arguments: [false, true]) func sessionsAreResumedOnEveryLoop(is13: Bool) throws {
    try TLSStage.with { stage in
      let loops = [stage.server, try TestServer(by: stage.tls)]
      var session: UnsafeMutableRawPointer?
      defer { unsafe test_tls_forget(session) }
      #expect(try unsafe connect(loops[0], is13: is13, &session) == test_tls_full)
      for number in 1...6 {
        #expect(try unsafe connect(loops[number % 2], is13: is13, &session) == test_tls_resumed)
      }
      // Another certificate makes no ticket void, and another ticket key does not make earlier tickets void.
      try stage.tls.take(TLSIdentity(stage.identity, minimum: .v12))
      #expect(try unsafe connect(loops[1], is13: is13, &session) == test_tls_resumed)
      let later = ContinuousClock.now + TicketKeys.lifetime
      try stage.tls.renewTickets(now: later)
      #expect(try unsafe connect(loops[0], is13: is13, &session) == test_tls_resumed)
      // The ticket now has the newer key, which the next change keeps as well.
      try stage.tls.renewTickets(now: later + TicketKeys.lifetime)
      #expect(try unsafe connect(loops[1], is13: is13, &session) == test_tls_resumed)
      #expect(loops.map { $0.handshakes?.resumed } == [4, 5])
      // Two changes make tickets void that were not used in between.
      try stage.tls.renewTickets(now: later + TicketKeys.lifetime * 2)
      try stage.tls.renewTickets(now: later + TicketKeys.lifetime * 3)
      #expect(try unsafe connect(loops[0], is13: is13, &session) == test_tls_full)
    }
  }

  @Test func whoWantsAnotherProtocolIsRefused() throws {
    try TLSStage.with { stage in
      for (protocols, expected) in [
        ("\u{2}h2", test_tls_refused), ("\u{2}h2\u{8}http/1.1", test_tls_full), (nil, test_tls_full),
      ] {
        var session: UnsafeMutableRawPointer?
        defer { unsafe test_tls_forget(session) }
        let result = try unsafe connect(stage.server, is13: true, protocols: protocols, &session)
        #expect(result == expected)
      }
      #expect(stage.server.notes.contains("handshake: no application protocol"))
      #expect(stage.server.handshakes?.done == 2 && stage.server.handshakes?.failed == [.refused: 1])
    }
  }

  @Test func theMinimumIsKept() throws {
    try TLSStage.with(minimum: .v13) { stage in
      var session: UnsafeMutableRawPointer?
      defer { unsafe test_tls_forget(session) }
      let older = try unsafe connect(stage.server, is13: false, &session)
      #expect(older == test_tls_refused)
      let newer = try unsafe connect(stage.server, is13: true, &session)
      #expect(newer == test_tls_full)
    }
  }
}
