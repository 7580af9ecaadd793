import BelfryModel
import TestKit
import Testing

@testable import BelfryServer

/// If nobody knows if a send was done, its sender is told so, and with which id to repeat it.
@Suite struct UnknownOutcomeTests {
  private let recipient = #""toAccids":["bob"]"#
  /// The whole test uses one token, because a new token makes the broker ask Redis if it was revoked.
  private let token = Shared<String?>(nil)

  private func send(
    _ broker: TestBroker, _ body: String, id: String? = nil, _ path: String = ""
  ) throws -> Answer {
    let named = id.map { #","messageClientId":"\#($0)""# } ?? ""
    let token = try self.token.withLock { kept -> Result<String, any Error> in
      let made = Result { try kept ?? broker.token("alice") }
      kept = try? made.get()
      return made
    }.get()
    return try broker.ask(
      "POST", "/v1/notifications\(path)", as: token, #"{\#(recipient),"body":"\#(body)"\#(named)}"#)
  }

  private func bodies(_ broker: TestBroker) throws -> [String] {
    let page = try broker.ask("GET", "/v1/notifications?limit=500", as: try broker.token("bob"))
    return page.json["notifications"]?.elements.compactMap { $0["body"]?.text } ?? []
  }

  /// Sends requests while Redis is paused, until one of them gets as far as the commit.
  private func untilUnknown(_ broker: TestBroker, _ ask: (Int) throws -> Answer) async throws -> (Int, Answer)
  {
    for round in 0..<100 {
      // The broker need not ask for records that it has read a moment ago, so it sends only the commit.
      #expect(try send(broker, "warm \(round)").status == 201)
      broker.redis.pause()
      let answer = try ask(round)
      broker.redis.resume()
      try await broker.waitUntilReady()
      if answer.status != 503 || answer.code == "unknownOutcome" { return (round, answer) }
      #expect(answer.code == "unavailable", "\(answer.body)")
      #expect(answer.json["messageClientId"] == nil)
    }
    throw TestFailure("no send has come as far as the commit")
  }

  @Test(arguments: [nil, "own"]) func aSendThatMayHaveBeenDoneIsSentAgainOnce(own: String?) async throws {
    try await withBroker { broker in
      let (round, answer) = try await untilUnknown(broker) { round in
        try send(broker, "open \(round)", id: own.map { "\($0) \(round)" })
      }
      #expect(answer.code == "unknownOutcome", "\(answer.body)")
      #expect(answer.headers["retry-after"] == "1")
      let id = try #require(answer.json["messageClientId"]?.text)
      if let own { #expect(id == "\(own) \(round)") }
      let again = try send(broker, "open \(round)", id: id, "/resend")
      #expect([200, 201].contains(again.status), "\(again.body)")
      #expect(try send(broker, "open \(round)", id: id).json["duplicate"] == true)
      #expect(try bodies(broker).count { $0 == "open \(round)" } == 1)
    }
  }

  @Test func aReceiptsIdIsRememberedAlsoIfItWasMade() async throws {
    try await withBroker { broker in
      let id = try #require(try send(broker, "once").json["messageClientId"]?.text)
      #expect(try send(broker, "once", id: id).json["duplicate"] == true)
      #expect(try bodies(broker) == ["once"])
    }
  }

  @Test func whatIsSurelyNotBegunIsUnavailable() async throws {
    try await withBroker { broker in
      #expect(try send(broker, "warm").status == 201)
      await broker.redis.kill()
      try await eventually { try send(broker, "away").code == "unavailable" }
      #expect(try send(broker, "away").json["messageClientId"] == nil)
    }
  }

  /// The broker answers before it has given up on Redis, and the work goes on after the answer.
  @Test func aSendThatTakesTooLongIsSentAgainOnce() async throws {
    try await withBroker(configure: { $0.answerMaxSeconds = 1 }) { broker in
      let (round, answer) = try await untilUnknown(broker) { round in try send(broker, "late \(round)") }
      #expect(answer.code == "unknownOutcome", "\(answer.body)")
      let id = try #require(answer.json["messageClientId"]?.text)
      _ = try send(broker, "late \(round)", id: id, "/resend")
      #expect(try send(broker, "late \(round)", id: id).json["duplicate"] == true)
      #expect(try bodies(broker).count { $0 == "late \(round)" } == 1)
    }
  }

  /// Each line under way is unknown, and has its id. The lines after it are never begun.
  @Test func aBatchThatTakesTooLongSaysWhatIsKnownOfEachLine() async throws {
    try await withBroker(configure: { $0.answerMaxSeconds = 1 }) { broker in
      let app = try broker.token("app", .app)
      func batch(_ lines: [String]) throws -> [JSONValue] {
        let answer = try broker.ask(
          "POST", "/v1/notifications/batch", as: app, lines.joined(separator: "\n"),
          headers: [("Content-Type", "application/x-ndjson")])
        #expect(answer.status == 200, "\(answer.body)")
        return try answer.body.split(separator: "\n").map { try JSONParser.value(of: Array($0.utf8)) }
      }
      func line(_ number: Int, _ more: String = "") -> String {
        #"{\#(recipient),"body":"n\#(number)"\#(more)}"#
      }
      _ = try batch([#"{\#(recipient),"body":"warm"}"#])
      broker.redis.pause()
      let results = try batch((0..<300).map { line($0) })
      broker.redis.resume()
      try await broker.waitUntilReady()
      #expect(results.count == 300)
      let open = results.indices.filter { results[$0]["code"] == "unknownOutcome" }
      #expect(!open.isEmpty && open.count <= 128, "\(open.count)")
      for index in results.indices where !open.contains(index) {
        #expect(results[index]["code"] == "unavailable", "\(results[index])")
      }
      let again = try results.enumerated().map { index, result in
        if !open.contains(index) { return line(index) }
        let id = try #require(result["messageClientId"]?.text)
        return line(index, #","messageClientId":"\#(id)""#)
      }
      for result in try batch(again) { #expect([200, 201].contains(result["status"]?.number), "\(result)") }
      let bodies = try bodies(broker).filter { $0.hasPrefix("n") }
      #expect(bodies.count == 300 && Set(bodies).count == 300, "\(bodies.count) \(Set(bodies).count)")
    }
  }
}
