import BelfryBytes
import BelfryHooks
import BelfryModel
import BelfryOutbound
import Foundation
import TestKit
import Testing

@testable import BelfryServer

/// A broker that may post copies to scripted servers.
protocol WebhookStage {}

extension WebhookStage {
  func withWebhooks<R: Sendable>(
    loops: Int = 2, timeoutMilliseconds: Int = 1_000, _ body: @Sendable (TestBroker) async throws -> R
  ) async throws -> R {
    try await withBroker(
      loops: loops,
      configure: {
        $0.allowedNetworks = try [#require(IPNetwork("127.0.0.0/8"))]
        $0.webhookTimeoutMilliseconds = timeoutMilliseconds
        $0.retryDelaysSeconds = [1]
      }, body)
  }

  /// - Parameter origin: the scheme and the host by which the server is reached.
  @discardableResult
  func register(
    _ server: ScriptedServer, at broker: TestBroker, _ more: String = "", origin: String = "http://127.0.0.1"
  ) throws -> (id: String, secret: String) {
    let made = try broker.ask(
      "POST", "/v1/webhooks", as: try broker.token("app", .app),
      #"{"url":"\#(origin):\#(server.port)/copies"\#(more)}"#)
    try #require(made.status == 201, "\(made)")
    return (try #require(made.json["webhookId"]?.text), try #require(made.json["secret"]?.text))
  }

  @discardableResult
  func send(_ broker: TestBroker, _ fields: String) throws -> String {
    let sent = try broker.ask(
      "POST", "/v1/notifications", as: try broker.token("app", .app), "{\(fields)}")
    try #require(sent.status == 201, "\(sent)")
    return try #require(sent.json["messageServerId"]?.text)
  }

  func show(_ broker: TestBroker, _ id: String) throws -> JSONValue {
    try broker.ask("GET", "/v1/webhooks/\(id)", as: try broker.token("app", .app)).json
  }

  static var accepting: @Sendable (ScriptedRequest, Int) -> [Step] { { _, _ in [.kept(200), .next] } }

  func body(_ request: ScriptedRequest) -> JSONValue {
    (try? JSONParser.value(of: Array(request.body.utf8))) ?? .null
  }

  func ids(_ server: ScriptedServer) -> [String] {
    server.requests.compactMap { $0.headers["webhook-id"] }
  }

  func signature(of request: ScriptedRequest, by secrets: [String]) -> String? {
    WebhookHeaders(
      id: request.headers["webhook-id"] ?? "", body: Array(request.body.utf8),
      secrets: secrets.compactMap { WebhookSecret($0) },
      nowSeconds: Int64(request.headers["webhook-timestamp"] ?? "") ?? 0
    ).all.last?.value
  }
}
