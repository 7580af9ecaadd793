import BelfryHooks
import BelfryModel
import BelfryOutbound
import Foundation
import Glibc
import TestKit
import Testing

@testable import BelfryServer

/// Callbacks that fail, and callbacks about repeated or joined requests.
@Suite struct CallbackFailureTests: CallbackStage {
  @Test(arguments: [
    [Step.reset], [.hold], [.answer(500)], [.answer(204)], [.answer(302, headers: ["Location: /"])],
    [.answer(200, "rubbish")], [.answer(200, #"{"decision":"perhaps"}"#)],
    [.answer(200, #"{"decision":"allow"}"# + String(repeating: " ", count: 256 << 10))],
  ])
  func whatIsNoAnswerIsDecidedAsConfigured(_ steps: [Step]) async throws {
    for policy in CallbackSettings.OnFailure.allCases {
      let server = try ScriptedServer { _, _ in steps }
      try await withCallback(server, { $0.onFailure = policy }) { broker async throws in
        let answer = try send(broker, #""toAccids":["bob"],"body":"hello""#)
        #expect(answer.status == (policy == .allow ? 201 : 403))
        if policy == .deny { #expect(answer.json["code"] == "refusedByCallback") }
        #expect(try unread(broker, "bob").count == (policy == .allow ? 1 : 0))
        let stats = try broker.ask("GET", "/v1/stats", as: try broker.token("ops", .operation))
        #expect(stats.json["loops"]?[0]?["callbacks"]?["failed"] == 1)
      }
    }
  }

  /// A sender is told what the callback did, and nothing of where it is.
  @Test(arguments: [
    (Step.answer(500), "answered with status 500"), (.hold, "did not answer in time"),
    (.reset, "cannot be reached"), (.answer(200, "rubbish"), "gave an answer that cannot be read"),
  ])
  func aRefusalSaysWhatHappened(step: Step, words: String) async throws {
    let server = try ScriptedServer { _, _ in [step] }
    try await withCallback(server, { $0.onFailure = .deny }) { broker async throws in
      for _ in 0..<CircuitBreaker.failuresMax {
        let answer = try send(broker, #""toAccids":["bob"],"body":"hello""#)
        #expect(answer.json["detail"]?.text == "the callback that decides this \(words)")
      }
      let answer = try send(broker, #""toAccids":["bob"],"body":"hello""#)
      #expect(
        answer.json["detail"]?.text
          == "the callback that decides this has failed several times, and Belfry asks it again only after some seconds"
      )
    }
  }

  /// Unlike with no answer, the operation is not carried out as it was asked for, because the callback
  /// allowed something else. One sender who causes such answers does not close the callback for others.
  @Test(arguments: [
    #""decision":"allow","patch":{"pushPayload":[]}"#, #""decision":"allow","patch":[]"#,
    #""decision":"allow","callbackExt":1"#,
    #""decision":"deny","detail":7,"code":1.5"#,
  ])
  func whatCannotBeUsedIsRefused(_ fields: String) async throws {
    let server = try ScriptedServer(Self.decide("{\(fields)}"))
    let count = CircuitBreaker.failuresMax + 2
    try await withCallback(server, { $0.onFailure = .allow }) { broker async throws in
      for _ in 0..<count {
        let answer = try send(broker, #""toAccids":["bob"],"body":"hello""#)
        #expect(answer.status == 403)
        #expect(answer.json["code"] == "refusedByCallback")
      }
      #expect(try unread(broker, "bob") == [])
    }
    #expect(server.requests.count == count)
  }

  @Test func whoSilencesAnOperationDeniesIt() async throws {
    let server = try ScriptedServer(Self.decide(#"{"decision":"silent"}"#))
    try await withCallback(server, { $0.onFailure = .allow }) { broker async throws in
      for _ in 0...CircuitBreaker.failuresMax {
        let made = try broker.ask("POST", "/v1/servers", as: try broker.token("alice"), #"{"name":"s"}"#)
        #expect(made.status == 403)
      }
    }
    #expect(server.requests.count == CircuitBreaker.failuresMax + 1)
  }

  /// An application that joins at once is another event than one that waits.
  @Test func joiningAtOnceIsAskedAboutAsSuch() async throws {
    let server = try ScriptedServer(Self.decide(#"{"decision":"deny"}"#))
    try await withCallback(server, { $0.events = ["group.join", "room.enter"] }) { broker async throws in
      let made = try broker.ask(
        "POST", "/v1/groups", as: try broker.token("alice"), #"{"name":"g","style":"publicOpen"}"#)
      let id = try #require(made.json["groupId"]?.text)
      #expect(
        try broker.ask("POST", "/v1/groups/\(id)/applications", as: try broker.token("bob")).status == 403)
      let room = try broker.ask("POST", "/v1/rooms", as: try broker.token("alice"), #"{"subject":"r"}"#)
      let roomID = try #require(room.json["roomId"]?.text)
      #expect(
        try broker.ask("POST", "/v1/rooms/\(roomID)/attendees", as: try broker.token("bob")).status == 403)
    }
    #expect(try server.requests.map { try object($0.body)["event"] } == ["group.join", "room.enter"])
  }

  /// A notification that is not stored is sent to each account by itself, so all of them are looked up.
  @Test func whatWasSentToAllIsNotAskedAboutAgain() async throws {
    let server = try ScriptedServer(Self.decide(#"{"decision":"allow"}"#))
    try await withCallback(server) { broker async throws in
      let rest = #""body":"x","setting":{"persistEnable":false},"messageClientId":"m""#
      #expect(try send(broker, #""toAccids":["bob","carol"],\#(rest)"#).json["duplicate"] == false)
      #expect(try send(broker, #""toAccids":["bob","carol"],\#(rest)"#).json["duplicate"] == true)
    }
    #expect(server.requests.count == 1)
  }

  @Test func aDeadCallbackIsLeftAlone() async throws {
    let server = try ScriptedServer { _, _ in [.hold] }
    try await withCallback(server, { $0.onFailure = .allow }) { broker async throws in
      for _ in 0..<CircuitBreaker.failuresMax {
        #expect(try send(broker, #""toAccids":["bob"],"body":"x""#).status == 201)
      }
      for _ in 0..<20 { #expect(try send(broker, #""toAccids":["bob"],"body":"x""#).status == 201) }
      let metrics = try broker.ask("GET", "/metrics").body
      #expect(metrics.contains("belfry_callback_skipped_total{loop=\"0\"} 20"))
    }
    #expect(server.requests.count == CircuitBreaker.failuresMax)
  }

  /// Requests that no callback is asked about are served while another one waits.
  @Test func othersDoNotNotice() async throws {
    let gate = Latch()
    let server = try ScriptedServer { _, _ in
      gate.wait()
      return [.kept(200, #"{"decision":"deny"}"#), .next]
    }
    try await withCallback(server, { $0.timeoutMilliseconds = 30_000 }) { broker async throws in
      defer { gate.open() }
      let status = Shared(0)
      Thread.detachNewThread {
        let sent = try? self.send(broker, #""toAccids":["bob"],"body":"slow""#)
        status.withLock { $0 = sent?.status ?? -1 }
      }
      try await eventually { !server.requests.isEmpty }
      for _ in 0..<20 {
        let answer = try broker.ask(
          "POST", "/v1/notifications", as: try broker.token("app", .app), #"{"toAccids":["bob"],"body":"x"}"#)
        #expect(answer.status == 201)
      }
      // The request still waits, so none of the others has waited for it.
      #expect(status.withLock { $0 } == 0)
      gate.open()
      try await eventually { status.withLock { $0 } == 403 }
    }
  }

  private static let lines = [("Content-Type", "application/x-ndjson")]

  /// A callback takes long over the sends of one user, who sends as many at once as there are places.
  @Test func aUserWhoseQuestionsAreSlowKeepsNobodyElseWaiting() async throws {
    let gate = Latch()
    let server = try ScriptedServer { request, _ in
      if request.body.contains("slow") { gate.wait() }
      return [.kept(200, #"{"decision":"allow"}"#), .next]
    }
    try await withCallback(server, { $0.timeoutMilliseconds = 8_000 }) { broker async throws in
      defer { gate.open() }
      let line = #"{"toAccids":["bob"],"body":"slow"}"#
      let batch = Array(repeating: line, count: 128).joined(separator: "\n")
      let isAnswered = Shared(false)
      Thread.detachNewThread {
        _ = try? broker.ask(
          "POST", "/v1/notifications/batch", as: broker.token("alice"), batch, headers: Self.lines)
        isAnswered.withLock { $0 = true }
      }
      // Half of the 64 places for a host.
      try await eventually { server.requests.count == 32 }
      for _ in 0..<3 {
        #expect(try send(broker, #""toAccids":["bob"],"body":"easy""#, as: "carol").status == 201)
      }
      #expect(!isAnswered.withLock { $0 })
    }
  }

  /// A webhook on the callback's host that never answers has connections of its own.
  @Test func aSlowWebhookOfTheSameHostKeepsNoSenderWaiting() async throws {
    let gate = Latch()
    let server = try ScriptedServer { request, _ in
      guard request.target.hasPrefix("/hook") else { return [.kept(200, #"{"decision":"allow"}"#), .next] }
      gate.wait()
      return [.kept(200), .next]
    }
    try await withCallback(server, { $0.timeoutMilliseconds = 8_000 }) { broker async throws in
      defer { gate.open() }
      let app = try broker.token("app", .app)
      let made = try broker.ask(
        "POST", "/v1/webhooks", as: app, #"{"url":"http://127.0.0.1:\#(server.port)/hook"}"#)
      #expect(made.status == 201)
      // The receivers are in all partitions.
      let lines = (0..<600).map { #"{"toAccids":["r\#($0)"],"body":"x"}"# }.joined(separator: "\n")
      let sent = try broker.ask("POST", "/v1/notifications/batch", as: app, lines, headers: Self.lines)
      #expect(sent.status == 200)
      // The most requests that may be under way to one host.
      try await eventually { server.requests.count { $0.target.hasPrefix("/hook") } == 64 }
      #expect(try send(broker, #""toAccids":["bob"],"body":"x""#).status == 201)
    }
  }

  /// A client that repeats a send before the callback has answered gets the receipt of the first send.
  @Test func aSendThatIsRepeatedMeanwhileIsAskedAboutOnce() async throws {
    let server = try ScriptedServer { _, _ in
      [.pause(milliseconds: 300), .kept(200, #"{"decision":"allow"}"#), .next]
    }
    try await withCallback(server, loops: 2, { $0.timeoutMilliseconds = 5_000 }) { broker async throws in
      let statuses = try await withThrowingTaskGroup { group in
        for number in 0..<20 {
          // Two names, with ten sends each.
          let fields = #""toAccids":["bob"],"body":"x \#(number % 2)","messageClientId":"m\#(number % 2)""#
          group.addTask { try send(broker, fields).status }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.sorted() == Array(repeating: 200, count: 18) + [201, 201])
      #expect(try unread(broker, "bob").count == 2)
    }
    #expect(server.requests.count == 2)
  }
}
