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
      async let patient = sender.send(.post("\(silent.url)", deadline: .seconds(600)))
      try await eventually { silent.requests.count == 1 }
      for _ in 0..<10 { _ = try await sender.send(.post("\(server.url)")).get() }
      let impatient = try await code(sender.send(.post("\(silent.url)", deadline: .milliseconds(300))))
      #expect(impatient == .timedOut)
      for _ in 0..<10 { _ = try await sender.send(.post("\(server.url)")).get() }
      #expect(await sender.statistics?.timedOut == 1)
      // The first one is waited for still, and all others were answered meanwhile.
      #expect(silent.openConnections >= 1)
      await sender.close()
      #expect(await code(try patient) == .cancelled)
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
    let log = folder + "/log"
    // Not by Foundation: its children inherit which signals a thread of the tests has blocked, and would outlive the tests.
    let server = try ChildProcess(
      [
        "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", identity.certificateFile, "-key",
        identity.keyFile, "-www",
      ], output: log, folder: folder)
    do {
      var port: Substring = ""
      try await eventually("openssl does not serve") {
        let text = try String(contentsOfFile: log, encoding: .utf8)
        port = text.firstMatch(of: #/ACCEPT 127\.0\.0\.1:(\d+)\s/#)?.1 ?? ""
        return !port.isEmpty
      }
      try await withSender { sender in
        let answer = try await sender.send(.post("https://localhost:\(port)/"))
        guard case .failure(let error) = answer else { Issue.record("it was answered"); return }
        #expect(error.cause.contains("certificate"), "\(error.cause)")
      }
    } catch {
      Issue.record(error)
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
          let request = try OutboundRequest.post("\(slow.url)", deadline: .seconds(600))
          group.addTask { await code(sender.send(request)) }
        }
        #expect(try await group.next() == .busy)
        try await eventually { slow.requests.count == 2 }
        let found = try await sender.send(.post("\(server.url)")).get().status
        #expect(found == 200)
        #expect(slow.connections == 2)
        await sender.close()
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(codes == Array(repeating: .cancelled, count: 5))
    }
  }

  /// An account has half of the places to one host at most, so another account's request does not wait for it.
  @Test func accountsShareTheHostThatTheyAsk() async throws {
    var limits = OutboundLimits()
    limits.requestsPerHostMax = 4
    let server = try ScriptedServer { request, _ in request.body == "slow" ? [.hold] : [.kept(200), .next] }
    try await withSender(limits: limits) { sender in
      try await withThrowingTaskGroup { group in
        for _ in 0..<20 {
          var request = try OutboundRequest.post("\(server.url)", "slow", deadline: .seconds(600))
          request.owner = "alice"
          group.addTask { #expect(await code(sender.send(request)) == .cancelled) }
        }
        try await eventually { server.requests.count == 2 }
        for owner in ["bob", nil] {
          var request = try OutboundRequest.post("\(server.url)", "easy", deadline: .seconds(600))
          request.owner = owner
          #expect(try await sender.send(request).get().status == 200)
        }
        #expect(server.requests.count { $0.body == "slow" } == 2)
        await sender.close()
        try await group.waitForAll()
      }
    }
  }

  @Test func thePlaceOfOneThatIsGivenUpIsTaken() async throws {
    var limits = OutboundLimits()
    limits.requestsPerHostMax = 1
    let slow = try ScriptedServer { _, number in number == 1 ? [.hold] : [.answer(200)] }
    try await withSender(limits: limits) { sender in
      async let first = sender.send(.post("\(slow.url)", deadline: .seconds(1)))
      try await eventually { slow.requests.count == 1 }
      async let second = sender.send(.post("\(slow.url)", deadline: .seconds(600)))
      #expect(await code(try first) == .timedOut)
      let found = try await second.get().status
      #expect(found == 200)
    }
  }

  @Test func whoHasWaitedTooLongIsNotBegun() async throws {
    var limits = OutboundLimits()
    limits.requestsPerHostMax = 1
    let slow = try ScriptedServer { _, _ in [.hold] }
    try await withSender(limits: limits) { sender in
      async let first = sender.send(.post("\(slow.url)", deadline: .seconds(600)))
      try await eventually { slow.requests.count == 1 }
      let second = try await code(sender.send(.post("\(slow.url)", deadline: .milliseconds(200))))
      #expect(second == .notBegun)
      await sender.close()
      #expect(await code(try first) == .cancelled)
    }
    #expect(slow.connections == 1)
  }

  @Test func whoIsCancelledIsAnsweredAtOnceAndTheConnectionIsClosed() async throws {
    let silent = try ScriptedServer { _, _ in [.hold] }
    try await withSender { sender in
      let request = try OutboundRequest.post("\(silent.url)", deadline: .seconds(600))
      let begin = ContinuousClock.now
      try await withThrowingTaskGroup { group in
        group.addTask { #expect(await code(sender.send(request)) == .cancelled) }
        try await eventually { silent.requests.count == 1 }
        group.cancelAll()
        try await group.waitForAll()
      }
      #expect(begin.duration(to: .now) < .seconds(120), "it waited for the deadline")
    }
    try await eventually { silent.openConnections == 0 }
  }

  @Test func closingAnswersWhoeverWaits() async throws {
    let silent = try ScriptedServer { _, _ in [.hold] }
    try await withSender { sender in
      let request = try OutboundRequest.post("\(silent.url)", deadline: .seconds(600))
      async let answer = sender.send(request)
      try await eventually { silent.requests.count == 1 }
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
    try await eventually { server.openConnections == 0 }
  }
}

private func code(_ answer: Result<OutboundResponse, OutboundError>) -> OutboundError.Code? {
  if case .failure(let error) = answer { error.code } else { nil }
}
