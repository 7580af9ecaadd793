import BelfryHTTP
import BelfryTransport
import Foundation
import Glibc
import TestKit
import Testing

/// A server with TLS, and the keys that its clients need.
struct TLSStage {
  let server: TestServer
  let authority: TestAuthority
  let identity: TestAuthority.Identity
  let tls: ServerTLS
  let trusting: TLSContext
  private let folder: String

  init(limits: HTTPLimits = .patient, minimum: TLSVersion = .v12) throws {
    folder = try makeTemporaryFolder()
    authority = try TestAuthority(in: folder)
    identity = try authority.identity()
    tls = try ServerTLS(TLSIdentity(identity, minimum: minimum))
    trusting = try authority.clientContext()
    server = try TestServer(limits: limits, by: tls)
  }

  func client(receiveBytes: Int32? = nil) throws -> RawConnection {
    try RawConnection(port: server.port, receiveBytes: receiveBytes, tls: trusting)
  }

  /// A client without TLS.
  func plainClient() throws -> RawConnection { try RawConnection(port: server.port, tls: nil) }

  static func with(
    limits: HTTPLimits = .patient, minimum: TLSVersion = .v12, _ body: (TLSStage) throws -> Void
  ) throws {
    let stage = try TLSStage(limits: limits, minimum: minimum)
    defer { removeFolder(stage.folder) }
    try body(stage)
  }
}

@Suite struct TLSTests {
  @Test func requestsAreAnswered() throws {
    try TLSStage.with { stage in
      let client = try stage.client()
      client.send("GET /echo/a HTTP/1.1\r\nHost: t\r\n\r\n")
      #expect(try client.readResponse().body == "GET echo|a  ")
      // Another on the same connection, with a body of several records, and an answer of many.
      let body = String(repeating: "x", count: 100_000)
      client.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body)
      #expect(try client.readResponse().body == "POST echo  " + body)
      client.send("GET /large HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n")
      #expect(try client.readResponse().bytes.count == 8 << 20)
      #expect(client.readToEnd() == "")
    }
  }

  /// A record may bring more than one piece of the input, or less than one. However the pieces fall, no
  /// received bytes wait.
  @Test func recordsMayFallAnyHow() throws {
    try TLSStage.with { stage in
      var generator = SeededGenerator(seed: TestEnvironment.seed)
      for _ in 0..<20 {
        let client = try stage.client()
        let bodies = (0..<4).map { _ in
          String(repeating: "y", count: .random(in: 0...60_000, using: &generator))
        }
        var rest = Array(
          bodies.map { "POST /later HTTP/1.1\r\nHost: t\r\nContent-Length: \($0.utf8.count)\r\n\r\n\($0)" }
            .joined()
            .utf8)[...]
        while !rest.isEmpty {
          let count = min(rest.count, .random(in: 1...40_000, using: &generator))
          #expect(client.send(Array(rest.prefix(count))))
          rest = rest.dropFirst(count)
        }
        for body in bodies {
          #expect(
            try client.readResponse().body == "POST later  " + body, "BELFRY_SEED=\(TestEnvironment.seed)")
        }
      }
    }
  }

  @Test func aSlowReaderOfAStreamMissesNothing() throws {
    try TLSStage.with { stage in
      let total = 5_000_000
      let slow = try stage.client(receiveBytes: 4_096)
      slow.send("GET /stream?bytes=\(total) HTTP/1.1\r\nHost: t\r\n\r\n")
      _ = try slow.readHead()
      for _ in 0..<10 { #expect(try stage.client().get("/echo").status == 200) }
      var position = 0
      while let chunk = try slow.readChunk(), !chunk.isEmpty {
        let isIntact = chunk.enumerated().allSatisfy { $1 == UInt8(ascii: "a") + UInt8((position + $0) % 26) }
        #expect(isIntact)
        position += chunk.count
      }
      #expect(position == total)
    }
  }

  @Test(arguments: [true, false]) func whoLeavesAStreamIsNoticed(inOrder: Bool) throws {
    try TLSStage.with { stage in
      let client = try stage.client()
      client.send("GET /stream HTTP/1.1\r\nHost: t\r\n\r\n")
      _ = try client.readHead()
      if inOrder { client.close() } else { client.reset() }
      #expect(stage.server.eventually { stage.server.notes.contains("finished clientGone") })
      #expect(stage.server.openConnections == 0)
    }
  }

  @Test func aPlainRequestIsToldWhatIsMissing() throws {
    try TLSStage.with { stage in
      for method in ["GET", "DELETE", "BREW"] {
        let client = try stage.plainClient()
        client.send("\(method) /echo HTTP/1.1\r\nHost: t\r\n\r\n")
        #expect(try client.readResponse().status == 400)
        #expect(client.readToEnd() == "")
      }
      #expect(stage.server.notes.contains("handshake: it speaks HTTP, not HTTPS"))
      // The handler was asked only for the text of the refusal.
      #expect(!stage.server.notes.contains { $0.hasPrefix("route") })
      #expect(try stage.client().get("/echo").status == 200)
    }
  }

  @Test func anotherCertificateIsForNewConnections() throws {
    try TLSStage.with { stage in
      let before = try stage.client()
      #expect(try before.get("/echo").status == 200)
      let other = try TestAuthority(
        in: URL(filePath: stage.authority.file).deletingLastPathComponent().path, name: "another authority")
      try stage.tls.take(TLSIdentity(other.identity("other")))
      #expect(throws: FixtureError.self) { try stage.client() }
      let after = try RawConnection(port: stage.server.port, tls: other.clientContext())
      #expect(try after.get("/echo").status == 200)
      #expect(try before.get("/echo").status == 200)
      // An identity that cannot be used leaves the present one in place.
      let wrong = TLSIdentity(certificates: try other.identity("x").certificate, key: stage.identity.key)
      let error = #expect(throws: TLSError.self) { try stage.tls.take(wrong) }
      #expect(error?.code == .keyOfAnother)
      #expect(
        try RawConnection(port: stage.server.port, tls: other.clientContext()).get("/echo").status == 200)
    }
  }

  @Test func keysForTicketsAreReplacedInTime() throws {
    let keys = try TicketKeys(now: .now)
    let later = ContinuousClock.now + TicketKeys.lifetime
    #expect(!keys.isStale(now: .now) && keys.isStale(now: later))
    let replaced = try keys.replaced(now: later)
    #expect(!replaced.isStale(now: later))
  }

  @Test func whoEndsTheHandshakeLateOrNeverIsCut() throws {
    var limits = HTTPLimits.patient
    limits.handshakeTime = .milliseconds(300)
    try TLSStage.with(limits: limits) { stage in
      let (silent, half) = (try stage.plainClient(), try stage.plainClient())
      half.send([22, 3, 1, 2, 0, 1])
      #expect(silent.ends())
      #expect(half.ends())
      #expect(stage.server.openConnections == 0)
    }
  }
}
