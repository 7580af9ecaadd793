import BelfryLoop
import Foundation
import Glibc
import TestKit
import Testing

@testable import BelfryOutbound

@Suite struct OutboundClientTests {
  @Test func aRequestArrivesAsItWasGivenAndItsAnswerComesBack() async throws {
    let server = try ScriptedServer { _, _ in [.answer(201, #"{"a":1}"#, headers: ["Retry-After: 7"])] }
    try await withSender { sender in
      let response = try await sender.send(.post("\(server.url)/hook?x=1", "hällo")).get()
      #expect(response.status == 201)
      #expect(response.retryAfter == "7")
      #expect(response.body == Array(#"{"a":1}"#.utf8))
    }
    let request = try #require(server.requests.first)
    #expect(request.method == "POST")
    #expect(request.target == "//hook?x=1" || request.target == "/hook?x=1")
    #expect(request.body == "hällo")
    #expect(request.headers["user-agent"] == "belfry/test")
    #expect(request.headers["expect"] == nil)
  }

  @Test func aConnectionIsUsedAgain() async throws {
    let server = try ScriptedServer { _, number in [.kept(200, "\(number)"), .next] }
    try await withSender { sender in
      for number in 1...20 {
        let response = try await sender.send(.post("\(server.url)")).get()
        #expect(response.body == Array("\(number)".utf8))
      }
    }
    #expect(server.connections == 1)
  }

  @Test func whereItMayNotGoNothingIsConnected() async throws {
    let server = try ScriptedServer { _, _ in [.answer(200)] }
    try await withSender(allowing: ["10.0.0.0/8"]) { sender in
      for host in ["127.0.0.1", "localhost", "2130706433", "[::ffff:127.0.0.1]"] {
        let answer = await sender.send(try .post("http://\(host):\(server.port)/"))
        guard case .failure(let error) = answer else { Issue.record("\(host) was connected to"); continue }
        #expect(error.code == .refusedAddress, "\(host): \(error)")
      }
    }
    #expect(server.connections == 0)
  }

  @Test func aRedirectIsAnAnswerAndIsNotFollowed() async throws {
    let other = try ScriptedServer { _, _ in [.answer(200)] }
    let server = try ScriptedServer { _, _ in [.answer(302, headers: ["Location: \(other.url)"])] }
    try await withSender { sender in
      let found = try await sender.send(.post("\(server.url)")).get().status
      #expect(found == 302)
    }
    #expect(other.connections == 0)
  }

  @Test func whoDoesNotAnswerIsGivenUpAndOthersDoNotNotice() async throws {
    let silent = try ScriptedServer { _, _ in [.hold] }
    let server = try ScriptedServer { _, _ in [.answer(200)] }
    try await withSender { sender in
      async let answer = sender.send(.post("\(silent.url)", deadline: .milliseconds(300)))
      let begin = ContinuousClock.now
      for _ in 0..<10 { _ = try await sender.send(.post("\(server.url)")).get() }
      #expect(begin.duration(to: .now) < .milliseconds(250))
      #expect(await code(try answer) == .timedOut)
      #expect(await sender.statistics?.timedOut == 1)
    }
  }

  @Test func aLongAnswerIsCutOff() async throws {
    let server = try ScriptedServer { _, number in
      [.answer(200, String(repeating: "a", count: number == 1 ? 1_000 : 1_001))]
    }
    try await withSender { sender in
      let found = try await sender.send(.post("\(server.url)", answerMaxBytes: 1_000)).get().body.count
      #expect(found == 1_000)
      let failure = try await code(sender.send(.post("\(server.url)", answerMaxBytes: 1_000)))
      #expect(failure == .tooLarge)
    }
  }

  @Test func aHeadWithoutEndIsCutOff() async throws {
    let server = try ScriptedServer { _, _ in
      [.write("HTTP/1.1 200 OK\r\n" + String(repeating: "X-A: bbbbbbbb\r\n", count: 2_000) + "\r\n")]
    }
    try await withSender { sender in
      let failure = try await code(sender.send(.post("\(server.url)")))
      #expect(failure == .tooLarge)
    }
  }

  @Test(arguments: [
    [Step.reset], [.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")], [.write("rubbish\r\n\r\n")],
  ])
  func whatBreaksOffIsNoAnswer(_ steps: [Step]) async throws {
    let server = try ScriptedServer { _, _ in steps }
    try await withSender { sender in
      let failure = try await code(sender.send(.post("\(server.url)")))
      #expect(failure == .unreachable)
    }
  }

  @Test func nobodyListening() async throws {
    try await withSender { sender in
      let failure = try await code(sender.send(.post("http://127.0.0.1:1/")))
      #expect(failure == .unreachable)
    }
  }

  @Test func aNameThatNobodyKnowsIsNoAnswer() async throws {
    try await withSender { sender in
      let failure = try await code(sender.send(.post("https://nobody.invalid/")))
      #expect(failure == .unreachable)
    }
  }

  /// Somebody else's certificate is no answer, and nothing is sent to its owner.
  @Test func certificatesAreChecked() async throws {
    let folder = try makeTemporaryFolder()
    defer { removeFolder(folder) }
    let identity = try TestAuthority(in: folder).identity()
    let port = try findFreePort()
    // Foundation's would be started with the signals that the tests block, and could not be ended by one of them.
    let server = try ChildProcess(
      [
        "openssl", "s_server", "-accept", "\(port)", "-cert", identity.certificateFile, "-key",
        identity.keyFile, "-www", "-quiet",
      ], output: folder + "/server.log", folder: folder)
    var cause = ""
    do {
      try await withSender { sender in
        try await eventually("the certificate is not refused", every: .milliseconds(50)) {
          let answer = try await sender.send(.post("https://localhost:\(port)/"))
          guard case .failure(let error) = answer else { throw FixtureError("it was answered") }
          cause = error.cause
          return cause.contains("certificate")
        }
      }
    } catch {
      Issue.record("\(error): \(cause) \(lastLogLines(of: folder + "/server.log"))")
    }
    server.signal(SIGKILL)
    #expect(await server.hasEnded(within: .seconds(60)))
  }

  /// Only so many go to one host at a time, so many wait, and one more is refused; a second host has room all the same.
  @Test func eachHostHasItsShare() async throws {
    var limits = OutboundLimits()
    limits.requestsPerHostMax = 2
    limits.waitingPerHostMax = 3
    let slow = try ScriptedServer { _, _ in [.hold] }
    let server = try ScriptedServer { _, _ in [.answer(200)] }
    try await withSender(limits: limits) { sender in
      let codes = try await withThrowingTaskGroup { group in
        for _ in 0..<6 {
          let request = try OutboundRequest.post("\(slow.url)", deadline: .milliseconds(800))
          group.addTask { await code(sender.send(request)) }
        }
        try await Task.sleep(for: .milliseconds(300))
        #expect(slow.openConnections == 2)
        let found = try await sender.send(.post("\(server.url)")).get().status
        #expect(found == 200)
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(codes.count { $0 == .busy } == 1)
      // When the first two are given up two others begin, or all three have waited too long.
      #expect(codes.count { $0 == .timedOut } >= 2)
      #expect(codes.count { $0 == .timedOut || $0 == .notBegun } == 5)
    }
  }

  @Test func whoIsCancelledIsAnsweredAtOnceAndTheConnectionIsClosed() async throws {
    let silent = try ScriptedServer { _, _ in [.hold] }
    try await withSender { sender in
      let request = try OutboundRequest.post("\(silent.url)", deadline: .seconds(30))
      let begin = ContinuousClock.now
      await withTaskGroup { group in
        group.addTask { #expect(await code(sender.send(request)) == .cancelled) }
        try? await Task.sleep(for: .milliseconds(200))
        group.cancelAll()
      }
      #expect(begin.duration(to: .now) < .seconds(5))
    }
    for _ in 0..<100 where silent.openConnections > 0 { try await Task.sleep(for: .milliseconds(20)) }
    #expect(silent.openConnections == 0)
  }

  @Test func closingAnswersWhoeverWaits() async throws {
    let silent = try ScriptedServer { _, _ in [.hold] }
    try await withSender { sender in
      let request = try OutboundRequest.post("\(silent.url)", deadline: .seconds(30))
      async let answer = sender.send(request)
      try await Task.sleep(for: .milliseconds(200))
      await sender.close()
      #expect(await code(answer) == .cancelled)
    }
  }

  /// In a seeded order servers answer, reset, stall and are given up, hundreds of times: each request has one answer, and
  /// none is left under way.
  @Test func manyAtOnceEachHaveOneAnswer() async throws {
    let server = try ScriptedServer { request, _ in
      switch request.target.utf8.reduce(0, { ($0 &* 31 &+ Int($1)) & 0xffff }) % 5 {
      case 0: [.reset]
      case 1: [.hold]
      case 2: [.pause(milliseconds: 5), .kept(200, request.target), .next]
      default: [.kept(200, request.target), .next]
      }
    }
    try await withSender { sender in
      let url = "http://127.0.0.1:\(server.port)"
      try await withThrowingTaskGroup { group in
        for number in 0..<400 {
          let request = try OutboundRequest.post("\(url)/\(number)", deadline: .milliseconds(500))
          group.addTask {
            if case .success(let response) = await sender.send(request) {
              #expect(response.body == Array("/\(number)".utf8))
            }
          }
        }
        try await group.waitForAll()
      }
      let good = try await sender.send(.post("\(url)/2", deadline: .seconds(2)))
      if case .failure(let error) = good { #expect(error.code == .unreachable || error.code == .timedOut) }
    }
    for _ in 0..<100 where server.openConnections > 0 { try await Task.sleep(for: .milliseconds(20)) }
    #expect(server.openConnections == 0)
  }
}

private func code(_ answer: Result<OutboundResponse, OutboundError>) -> OutboundError.Code? {
  if case .failure(let error) = answer { error.code } else { nil }
}
