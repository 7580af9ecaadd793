import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryServer

@Suite struct PriceTests {
  /// A sender of large notifications would fill Redis many times as fast as others.
  @Test(arguments: ["", "/batch"]) func aLargeSendIsPaidFor(path: String) async throws {
    var limits = Limits()
    limits.sendsPerSecondPerAccount = 1
    try await withBroker(limits: limits) { broker in
      let large =
        #"{"toAccids":["alice"],"body":"\#(String(repeating: "x", count: 4_000))","#
        + #""ext":"\#(String(repeating: "y", count: 4_000))","attach":"\#(String(repeating: "z", count: 4_000))"}"#
      let small = #"{"toAccids":["alice"],"body":"x"}"#
      let (mallory, bob) = (try broker.token("mallory"), try broker.token("bob"))
      // A large one counts as twelve, which leaves ten seconds of debt.
      #expect(try send(large, as: mallory, path, to: broker) == "sent")
      #expect(try send(small, as: mallory, path, to: broker) == "rateLimited")
      #expect(try send(small, as: bob, path, to: broker) == "sent")
    }
  }

  /// An update is an operation, which costs five however small it is.
  @Test(arguments: [(bytes: 1, debts: 1...5), (bytes: 4_000, debts: 20...30)])
  func aLargeUpdateIsPaidFor(bytes: Int, debts: ClosedRange<Int>) async throws {
    var limits = Limits()
    limits.sendsPerSecondPerAccount = 1
    try await withBroker(limits: limits) { broker in
      let alice = try broker.token("alice")
      let sent = try broker.ask("POST", "/v1/notifications", as: alice, #"{"toAccids":["alice"],"body":"x"}"#)
      let path = "/v1/notifications/" + (try #require(sent.json["messageServerId"]?.text))
      // Six bytes for each.
      let text = String(repeating: #"\u0078"#, count: bytes)
      #expect(
        try broker.ask("PATCH", path, as: alice, #"{"body":"\#(text)","ext":"\#(text)"}"#).status == 200)
      let refused = try broker.ask("PATCH", path, as: alice, #"{"body":"y"}"#)
      #expect(refused.code == "rateLimited")
      #expect(debts.contains(Int(refused.headers["retry-after"] ?? "") ?? 0), "\(refused)")
    }
  }

  /// The code of the refusal, or `sent`.
  private func send(
    _ body: String, as token: String, _ path: String, to broker: TestBroker
  ) throws -> String {
    let type = path.isEmpty ? "application/json" : "application/x-ndjson"
    let answer = try broker.ask(
      "POST", "/v1/notifications" + path, as: token, body, headers: [("Content-Type", type)])
    return answer.json["code"]?.text ?? "sent"
  }

  /// An id alone does not say in which space its notification is, and anybody may ask for any id. So a user
  /// pays for the search.
  @Test func aSearchThroughOthersSpacesIsPaidFor() async throws {
    var limits = Limits()
    limits.sendsPerSecondPerAccount = 10
    let onePartition = try #require(Partitions(count: 1))
    try await withBroker(limits: limits, configure: { $0.partitions = onePartition }) { broker in
      let (alice, app) = (try broker.token("alice"), try broker.token("app", .app))
      let sent = try broker.ask("POST", "/v1/notifications", as: app, #"{"toAccids":["alice"]}"#)
      let first = try #require(sent.json["messageServerId"]?.text.flatMap { Int64($0) })
      let lines = (0..<200).map { #"{"toAccids":["a\#($0)","b\#($0)"]}"# }.joined(separator: "\n")
      let batch = try broker.ask(
        "POST", "/v1/notifications/batch", as: app, lines, headers: [("Content-Type", "application/x-ndjson")]
      )
      #expect(batch.status == 200)
      let (own, unknown) = ("/v1/notifications/\(first)", "/v1/notifications/\(first + 1)")
      for method in ["PATCH", "DELETE"] {
        let body = method == "PATCH" ? #"{"body":"x"}"# : nil
        let mallory = try broker.token("mallory-\(method)")
        #expect(try broker.ask(method, unknown, as: mallory, body).code == "notFound")
        #expect(try broker.ask(method, unknown, as: mallory, body).code == "rateLimited")
        // An entry that the account can see is found without a search, and a back end has no pace.
        for _ in 0..<2 { #expect(try broker.ask(method, own, as: alice, body).code == "forbidden") }
        for _ in 0..<2 { #expect(try broker.ask(method, unknown, as: app, body).code == "notFound") }
      }
    }
  }
}
