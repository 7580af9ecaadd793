import BelfryHooks
import BelfryModel
import BelfryOutbound
import Foundation
import TestKit
import Testing

@testable import BelfryServer

/// A broker that asks a scripted server before something is done.
protocol CallbackStage {}

extension CallbackStage {
  static var secret: String { "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLdSw" }

  func callback(
    _ server: ScriptedServer, _ change: (inout CallbackSettings) -> Void = { _ in }
  ) throws -> CallbackSettings {
    var callback = CallbackSettings(
      url: try #require(OutboundURL("http://127.0.0.1:\(server.port)/before") as OutboundURL?),
      secret: try #require(WebhookSecret(Self.secret)),
      events: ["notification.send", "notification.update", "server.create", "server.invite"], onFailure: .deny
    )
    callback.timeoutMilliseconds = 400
    change(&callback)
    return callback
  }

  /// A broker that asks the server, and a group space of alice and bob.
  func withCallback<R: Sendable>(
    _ server: ScriptedServer, loops: Int = 1, _ change: (inout CallbackSettings) -> Void = { _ in },
    _ body: @Sendable (TestBroker) async throws -> R
  ) async throws -> R {
    let callback = try callback(server, change)
    return try await withBroker(
      loops: loops,
      configure: {
        $0.allowedNetworks = try [#require(IPNetwork("127.0.0.0/8"))]
        $0.callbacks = [callback]
      }, body)
  }

  static func decide(_ json: String) -> @Sendable (ScriptedRequest, Int) -> [Step] {
    { _, _ in [.kept(200, json), .next] }
  }

  func send(_ broker: TestBroker, _ fields: String, as name: String = "alice") throws -> Answer {
    try broker.ask("POST", "/v1/notifications", as: try broker.token(name), "{\(fields)}")
  }

  func unread(_ broker: TestBroker, _ name: String) throws -> [JSONValue] {
    try broker.ask("GET", "/v1/notifications", as: try broker.token(name)).json["notifications"]?.elements
      ?? []
  }

  func object(_ text: String) throws -> JSONValue { try JSONParser.value(of: Array(text.utf8)) }
}
