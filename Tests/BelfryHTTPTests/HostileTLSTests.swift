import BelfryHTTP
import BelfryTransport
import Glibc
import TestCertificates
import TestKit
import Testing

/// Clients that are malicious or broken, and an honest one that does not notice them.
@Suite struct HostileTLSTests {
  private static let hello: [UInt8] = [22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3]

  @Test func noiseEndsItsOwnConnectionOnly() throws {
    try TLSStage.with { stage in
      let honest = try stage.client()
      var generator = SeededGenerator(seed: TestEnvironment.seed)
      for _ in 0..<200 {
        let client = try stage.plainClient()
        var noise = (0..<Int.random(in: 1...400, using: &generator)).map { _ in
          UInt8.random(in: .min ... .max, using: &generator)
        }
        // Half of them begin as a record does.
        if Bool.random(using: &generator) {
          noise.replaceSubrange(0..<min(3, noise.count), with: [22, 3, 1].prefix(noise.count))
        }
        client.send(noise)
      }
      #expect(try honest.get("/echo").status == 200)
      #expect(try stage.client().get("/echo").status == 200)
    }
  }

  /// RFC 8446 section 5.1: a record has no more than 2^14 bytes, and 256 more when it is encrypted.
  @Test(
    arguments: [[UInt8]]([
      [22, 3, 1, 0xFF, 0xFF], [22, 3, 3, 0x48, 1], [0x80, 0x2E, 1, 3, 1], [21, 3, 1, 0, 2, 1, 0],
    ]))
  func recordsThatAreTooLongOrOutOfPlaceEndIt(record: [UInt8]) throws {
    try TLSStage.with { stage in
      let client = try stage.plainClient()
      client.send(record + [UInt8](repeating: 1, count: 70_000))
      #expect(client.ends())
      #expect(try stage.client().get("/echo").status == 200)
    }
  }

  @Test func afterTheHandshakeTooMuchInARecordEndsIt() throws {
    try TLSStage.with { stage in
      let client = try stage.client()
      #expect(try client.get("/echo").status == 200)
      let record: [UInt8] = [23, 3, 3, 0x48, 0] + [UInt8](repeating: 7, count: 0x4800)
      _ = unsafe Glibc.send(client.descriptor, record, record.count, Int32(MSG_NOSIGNAL))
      #expect(client.ends())
      #expect(stage.server.eventually { stage.server.openConnections == 0 })
    }
  }

  /// One more than may wait ends the one that has waited longest, so that nobody is kept out.
  @Test func stalledHandshakesKeepNobodyOut() throws {
    var limits = HTTPLimits.patient
    limits.handshakesWaiting = 50
    try TLSStage.with(limits: limits) { stage in
      let stalled = try (0..<300).map { _ in
        let client = try stage.plainClient()
        client.send(Self.hello)
        return client
      }
      for _ in 0..<20 { #expect(try stage.client().get("/echo").status == 200) }
      #expect(stage.server.eventually { stage.server.openConnections <= 51 })
      #expect(stalled[0].ends())
      let counts = try #require(stage.server.handshakes)
      #expect(
        counts.done == 20 && counts.failed[.tooManyWait] ?? 0 >= 250 && counts.waiting <= 51, "\(counts)")
      stalled[299].setTimeout(microseconds: 50_000)
      #expect(!stalled[299].ends())
    }
  }

  @Test func whoStallsIsCountedByHow() throws {
    var limits = HTTPLimits.patient
    // All of them are late, and the test decides when deadlines are checked.
    (limits.handshakeTime, limits.sweepInterval) = (.zero, .seconds(3_600))
    try TLSStage.with(limits: limits) { stage in
      let (silent, slow) = (try stage.plainClient(), try stage.plainClient())
      slow.send(Self.hello)
      let plain = try stage.plainClient()
      plain.send("GET / HTTP/1.1\r\nHost: t\r\n\r\n")
      #expect(try plain.readResponse().status == 400)
      #expect(stage.server.eventually { stage.server.handshakes?.waiting == 2 })
      _ = stage.server.onLoop { server, _ in server.endOverdue() }
      #expect(silent.ends() && slow.ends())
      // A client that only checks if somebody listens is no failure.
      try stage.plainClient().close()
      #expect(stage.server.eventually { stage.server.openConnections <= 1 })
      #expect(stage.server.handshakes?.failed == [.silent: 1, .tooSlow: 1, .notEncrypted: 1])
    }
  }

  /// Connections that send nothing cost no session, and are not counted as sessions.
  @Test func silentConnectionsKeepNobodyOut() throws {
    var limits = HTTPLimits.patient
    limits.handshakesWaiting = 10
    try TLSStage.with(limits: limits) { stage in
      let silent = try (0..<500).map { _ in try stage.plainClient() }
      #expect(try stage.client().get("/echo").status == 200)
      #expect(stage.server.eventually { stage.server.openConnections >= 500 })
      for client in silent { client.close() }
      #expect(stage.server.eventually { stage.server.openConnections == 0 })
    }
  }

  /// When the limit is reached, connections that send nothing make room before those that wait for their next request.
  @Test func silentConnectionsMakeRoomBeforeIdleOnes() throws {
    var limits = HTTPLimits.patient
    limits.connectionsPerLoop = 8
    try TLSStage.with(limits: limits) { stage in
      let honest = try stage.client()
      #expect(try honest.get("/echo").status == 200)
      var silent: [RawConnection] = []
      for _ in 0..<40 {
        silent.append(try stage.plainClient())
        let late = try stage.client()
        #expect(try late.get("/echo").status == 200)
        late.close()
      }
      #expect(try honest.get("/echo").status == 200)
      for client in silent { client.close() }
    }
  }

  @Test(arguments: [test_tls_renegotiates, test_tls_updates_keys])
  func whoWantsOtherKeysAllTheTimeDelaysNobody(
    attack: Int
  ) throws {
    try TLSStage.with { stage in
      let honest = try stage.client()
      let attacker = try stage.plainClient()
      var answer = [CChar](repeating: 0, count: 4_096)
      let times: Int32 = attack == test_tls_renegotiates ? 1 : 1_000
      let count = unsafe test_tls_attack(
        attacker.descriptor, Int32(attack), times, "GET /echo HTTP/1.1\r\nHost: t\r\n\r\n", &answer,
        answer.count)
      // Keys may be updated as often as a client likes; nothing is negotiated again, which ends what asks for it.
      #expect(count > 0 || attack == test_tls_renegotiates)
      #expect(try honest.get("/echo").status == 200)
    }
  }

  @Test func handshakesAreEndedByADrain() throws {
    try TLSStage.with { stage in
      let client = try stage.plainClient()
      client.send(Self.hello)
      #expect(stage.server.eventually { stage.server.openConnections == 1 })
      _ = stage.server.onLoop { server, _ in server.quiesce() }
      #expect(client.ends())
      #expect(stage.server.openConnections == 0)
    }
  }
}
