import BelfryBytes
import BelfryHooks
import BelfryModel
import BelfryOutbound
import Foundation
import TestKit
import Testing

@testable import BelfryServer

/// Copies of notifications, delivered to real receivers.
@Suite struct WebhookTests: WebhookStage {
  // MARK: Copied notifications

  @Test func everyKindOfNotificationIsCopiedOnceSignedAndInOrder() async throws {
    let server = try ScriptedServer(Self.accepting)
    try await withWebhooks { broker async throws in
      let (_, secret) = try register(server, at: broker)
      let place = try broker.makeServer(owner: "alice", members: ["bob"])
      var sent: [String] = []
      for number in 0..<5 { sent.append(try send(broker, #""serverId":"\#(place)","body":"n\#(number)""#)) }
      sent.append(try send(broker, #""toAccids":["bob"],"body":"one""#))
      sent.append(try send(broker, #""toAccids":["bob","carol"],"body":"two""#))
      let lines = (0..<20).map { #"{"serverId":"\#(place)","body":"b\#($0)"}"# }
      let batch = try broker.ask(
        "POST", "/v1/notifications/batch", as: try broker.token("app", .app), lines.joined(separator: "\n"),
        headers: [("Content-Type", "application/x-ndjson")])
      for line in batch.body.split(separator: "\n") {
        let result = try JSONParser.value(of: Array(line.utf8))
        sent.append(try #require(result["messageServerId"]?.text))
      }
      let updated = try broker.ask(
        "PATCH", "/v1/notifications/\(sent[0])", as: try broker.token("app", .app), #"{"body":"changed"}"#)
      #expect(updated.status == 200)
      let recalled = try broker.ask(
        "DELETE", "/v1/notifications/\(sent[1])", as: try broker.token("app", .app))
      #expect(recalled.status == 204)

      // The announcements of creating and joining the server are copied too.
      try await broker.waitUntilNothingIsToBeSent()
      #expect(Set(sent).isSubset(of: ids(server)) && server.requests.count > sent.count)
      let all = ids(server)
      #expect(all.count == Set(all).count)
      let bodies = server.requests.map(body)
      let inPlace = zip(all, bodies).filter { $0.1["data"]?["space"]?.text == "server:\(place)" }
        .compactMap { Int64($0.0) }
      #expect(inPlace == inPlace.sorted())
      let first = try #require(bodies.first { $0["data"]?["notification"]?["body"] == "n0" })
      #expect(first["type"] == "notification.sent")
      #expect(first["data"]?["notification"]?["messageServerId"]?.text == sent[0])
      let change = try #require(bodies.first { $0["type"] == "notification.updated" })
      #expect(change["data"]?["notification"]?["body"] == "changed")
      #expect(change["data"]?["notification"]?["messageServerId"]?.text == sent[0])
      let retraction = try #require(bodies.first { $0["type"] == "notification.retracted" })
      #expect(retraction["data"]?["notification"] == ["messageServerId": .string(sent[1])])
      for request in server.requests {
        let headers = WebhookHeaders(
          id: request.headers["webhook-id"] ?? "", body: Array(request.body.utf8),
          secrets: [try #require(WebhookSecret(secret))],
          nowSeconds: Int64(request.headers["webhook-timestamp"] ?? "") ?? 0)
        #expect(request.headers["webhook-signature"] == headers.all.last?.value)
      }
    }
  }

  @Test func filtersAndRouteEnableAreKeptTo() async throws {
    let (every, some, env) = (
      try ScriptedServer(Self.accepting), try ScriptedServer(Self.accepting),
      try ScriptedServer(Self.accepting)
    )
    try await withWebhooks { broker async throws in
      let place = try broker.makeServer(owner: "alice", members: ["bob"])
      try register(every, at: broker, #","types":[100]"#)
      try register(some, at: broker, #","spaces":["account:bob"]"#)
      try register(env, at: broker, #","env":"test","format":"cloudevents""#)
      let one = try send(broker, #""serverId":"\#(place)","body":"1""#)
      let two = try send(broker, #""toAccids":["bob"],"body":"2""#)
      try send(broker, #""toAccids":["bob"],"body":"3","setting":{"routeEnable":false}"#)
      try send(broker, #""toAccids":["bob"],"body":"4","setting":{"persistEnable":false}"#)
      let expiry = Int64(Date().timeIntervalSince1970 * 1_000) + 3_600_000
      let five = try send(
        broker, #""serverId":"\#(place)","body":"5","env":"test","expireAt":\#(expiry)"#)
      try await broker.waitUntilNothingIsToBeSent()
      #expect(Set(ids(every)) == [one, two, five])
      #expect(ids(some) == [two] && ids(env) == [five])
      let event = body(try #require(env.requests.first))
      #expect(env.requests.first?.headers["content-type"] == "application/cloudevents+json")
      #expect(event["specversion"] == "1.0")
      #expect(event["id"]?.text == five)
      #expect(event["source"]?.text == "server:\(place)")
      #expect(event["type"] == "notification.sent")
      #expect(event["data"]?["body"] == "5")
      #expect(event["expirytime"]?.text == Timestamp.text(milliseconds: expiry))
    }
  }

  @Test func anEmptyFilterCopiesAll() async throws {
    let receiver = try ScriptedServer(Self.accepting)
    try await withWebhooks { broker async throws in
      let id = try register(
        receiver, at: broker, #","types":[100],"spaces":["account:bob"],"env":"test""#
      ).id
      let app = try broker.token("app", .app)
      let kept = try broker.ask("PATCH", "/v1/webhooks/\(id)", as: app, #"{"enabled":true}"#)
      #expect(kept.json["types"] != nil && kept.json["spaces"] != nil && kept.json["env"] == "test")
      let changed = try broker.ask(
        "PATCH", "/v1/webhooks/\(id)", as: app, #"{"types":[],"spaces":[],"env":""}"#)
      #expect(changed.status == 200, "\(changed.body)")
      #expect(changed.json["types"] == nil && changed.json["spaces"] == nil && changed.json["env"] == nil)
      let sent = try send(broker, #""toAccids":["carol"],"body":"1""#)
      try await broker.waitUntilNothingIsToBeSent()
      #expect(ids(receiver) == [sent])
      let none = try broker.ask("POST", "/v1/webhooks", as: app, #"{"url":"https://a.example/","types":[]}"#)
      #expect(none.status == 400)
    }
  }

  /// A notification that a user reads at once is gone from the user's log, and is still copied.
  @Test func whatIsReadBeforeItIsCopiedIsCopied() async throws {
    let server = try ScriptedServer { _, number in number == 1 ? [.answer(500)] : [.kept(200), .next] }
    try await withWebhooks { broker async throws in
      try register(server, at: broker)
      let id = try send(broker, #""toAccids":["bob"],"body":"x""#)
      _ = try broker.ask(
        "POST", "/v1/notifications/read", as: try broker.token("bob"), #"{"upTo":"\#(id)"}"#)
      try await eventually { ids(server) == [id, id] }
    }
  }

  // MARK: Managing

  @Test func aRotationSignsWithBothSecrets() async throws {
    let server = try ScriptedServer(Self.accepting)
    try await withWebhooks { broker async throws in
      let (id, old) = try register(server, at: broker)
      let rotated = try broker.ask("POST", "/v1/webhooks/\(id)/rotate", as: try broker.token("app", .app))
      let new = try #require(rotated.json["secret"]?.text)
      #expect(new != old)
      let tested = try broker.ask("POST", "/v1/webhooks/\(id)/test", as: try broker.token("app", .app))
      #expect(tested.json == ["delivered": true, "status": 200])
      let request = try #require(server.requests.last)
      let secrets = [new, old].compactMap { WebhookSecret($0) }
      let headers = WebhookHeaders(
        id: request.headers["webhook-id"] ?? "", body: Array(request.body.utf8), secrets: secrets,
        nowSeconds: Int64(request.headers["webhook-timestamp"] ?? "") ?? 0)
      #expect(request.headers["webhook-signature"] == headers.all.last?.value)
      #expect(body(request)["type"] == "webhook.test")
      // A secret is shown when it is made, and never again.
      #expect(try show(broker, id)["secret"] == nil)
    }
  }

  /// Each replaced secret signs for its day, even if others replace the next one many times.
  @Test func severalRotationsInADayKeepAllSecrets() async throws {
    let server = try ScriptedServer(Self.accepting)
    try await withWebhooks { broker async throws in
      let token = try broker.token("app", .app)
      let (id, first) = try register(server, at: broker)
      var secrets = [first]
      for _ in 0..<WebhookEndpoint.formerSecretsMax {
        let rotated = try broker.ask("POST", "/v1/webhooks/\(id)/rotate", as: token)
        secrets.insert(try #require(rotated.json["secret"]?.text), at: 0)
      }
      _ = try broker.ask("POST", "/v1/webhooks/\(id)/test", as: token)
      let request = try #require(server.requests.last)
      #expect(request.headers["webhook-signature"] == signature(of: request, by: secrets))
      let refused = try broker.ask("POST", "/v1/webhooks/\(id)/rotate", as: token)
      #expect(refused.code == "tooMany")
    }
  }

  /// A caller that receives a secret has the valid one, and a webhook that a caller is told is disabled is
  /// disabled. Others may change the webhook meanwhile.
  @Test func changesAtOnceDoNotUndoEachOther() async throws {
    let server = try ScriptedServer(Self.accepting)
    try await withWebhooks { broker async throws in
      let token = try broker.token("app", .app)
      for _ in 0..<20 {
        let (id, _) = try register(server, at: broker)
        async let rotated = Task.detached {
          try broker.ask("POST", "/v1/webhooks/\(id)/rotate", as: token)
        }.value
        async let paused = Task.detached {
          try broker.ask("PATCH", "/v1/webhooks/\(id)", as: token, #"{"enabled":false}"#)
        }.value
        async let patched = Task.detached {
          try broker.ask("PATCH", "/v1/webhooks/\(id)", as: token, #"{"types":[7]}"#)
        }.value
        let answers = [try await rotated, try await paused, try await patched]
        #expect(answers.map(\.status) == [200, 200, 200])
        let state = try show(broker, id)
        #expect(state["enabled"] == false)
        #expect(state["types"] == [7])
        _ = try broker.ask("POST", "/v1/webhooks/\(id)/test", as: token)
        let request = try #require(server.requests.last)
        let signatures = request.headers["webhook-signature"]?.split(separator: " ").map(String.init)
        let secret = try #require(answers[0].json["secret"]?.text)
        #expect(signatures?.first == signature(of: request, by: [secret]))
        _ = try broker.ask("DELETE", "/v1/webhooks/\(id)", as: token)
      }
    }
  }

  @Test func aTestSaysWhatWasAnswered() async throws {
    let status = Shared(503)
    let server = try ScriptedServer { _, _ in [.answer(status.withLock { $0 })] }
    try await withWebhooks { broker async throws in
      let token = try broker.token("app", .app)
      let (id, _) = try register(server, at: broker)
      for code in [503, 302, 410] {
        status.withLock { $0 = code }
        let tested = try broker.ask("POST", "/v1/webhooks/\(id)/test", as: token)
        #expect(tested.json["delivered"] == false)
        #expect(tested.json["status"]?.number == Int64(code))
        #expect(tested.json["failure"]?.text?.contains("\(code)") == true)
      }
      let made = try broker.ask("POST", "/v1/webhooks", as: token, #"{"url":"http://127.0.0.1:1/"}"#)
      let dead = try #require(made.json["webhookId"]?.text)
      let tested = try broker.ask("POST", "/v1/webhooks/\(dead)/test", as: token)
      #expect(tested.json["delivered"] == false)
      #expect(tested.json["status"] == nil)
    }
  }

  @Test func aReplayDeliversAgainFromThere() async throws {
    let server = try ScriptedServer(Self.accepting)
    try await withWebhooks { broker async throws in
      let (id, _) = try register(server, at: broker, #","types":[100]"#)
      let place = try broker.makeServer(owner: "alice")
      let sent = try (0..<6).map { try send(broker, #""serverId":"\#(place)","body":"\#($0)""#) }
      try await eventually { ids(server) == sent }
      let token = try broker.token("app", .app)
      #expect(
        try broker.ask("POST", "/v1/webhooks/\(id)/replay", as: token, #"{"from":"\#(sent[3])"}"#).status
          == 204)
      let again = try send(broker, #""serverId":"\#(place)","body":"again""#)
      try await eventually { ids(server) == sent + sent[3...] + [again] }
      #expect(try broker.ask("POST", "/v1/webhooks/\(id)/replay", as: token, #"{"from":0}"#).status == 204)
      let last = try send(broker, #""serverId":"\#(place)","body":"last""#)
      try await eventually { ids(server).suffix(8) == sent + [again, last] }
    }
  }

  @Test func whatIsNoWebhookIsRefused() async throws {
    try await withWebhooks { broker async throws in
      let token = try broker.token("app", .app)
      for (body, field) in [
        (#"{"url":"ftp://example.org"}"#, "url"), (#"{}"#, "url"),
        (#"{"url":"https://example.org","spaces":["nowhere"]}"#, "spaces[0]"),
        (#"{"url":"https://example.org","spaces":["server:1","group:abc"]}"#, "spaces[1]"),
        (#"{"url":"https://example.org","types":[]}"#, "types"),
        (#"{"url":"https://example.org","types":[100,9999]}"#, "types[1]"),
        (#"{"url":"https://example.org","format":"xml"}"#, "format"),
        (#"{"url":"https://203.0.113.7/copies"}"#, "url"), (#"{"url":"https://[::1]/copies"}"#, "url"),
        (#"{"url":"http://93.184.216.34/"}"#, "url"),
      ] {
        let answer = try broker.ask("POST", "/v1/webhooks", as: token, body)
        #expect(answer.status == 400, "\(body)")
        #expect(answer.field == field)
      }
      let made = try broker.ask("POST", "/v1/webhooks", as: token, #"{"url":"https://example.org"}"#)
      let id = try #require(made.json["webhookId"]?.text)
      let changed = try broker.ask("PATCH", "/v1/webhooks/\(id)", as: token, #"{"url":"https://10.0.0.1"}"#)
      #expect(changed.status == 400 && changed.field == "url")
      #expect(
        changed.json["detail"]?.text
          == "cannot lead to 10.0.0.1, which is not a public address, and not in a network of webhooks.allowedNetworks"
      )
      #expect(try broker.ask("GET", "/v1/webhooks/7", as: token).status == 404)
      #expect(try broker.ask("DELETE", "/v1/webhooks/7", as: token).status == 404)
      #expect(try broker.ask("GET", "/v1/webhooks", as: try broker.token("alice")).status == 403)
    }
  }

  // MARK: Costs

  private func calls(_ broker: TestBroker, _ name: String) throws -> Int {
    let info = try broker.redis.command("INFO", "commandstats")
    let line = info.split(whereSeparator: \.isNewline).first { $0.hasPrefix("cmdstat_\(name):") } ?? ""
    return Int(line.split(separator: "=").dropFirst().first?.prefix { $0.isNumber } ?? "") ?? 0
  }

  /// Without an endpoint a send has its usual calls; with one it has one more. When the endpoint is gone, it
  /// has the usual calls again.
  @Test func aSendCostsOneCallMoreWhereThereIsAnEndpoint() async throws {
    let server = try ScriptedServer(Self.accepting)
    try await withWebhooks(loops: 1) { broker async throws in
      let place = try broker.makeServer(owner: "alice")
      func appends() throws -> Int {
        try send(broker, #""serverId":"\#(place)","body":"warm""#)
        let before = try calls(broker, "xadd")
        for _ in 0..<10 { try send(broker, #""serverId":"\#(place)","body":"x""#) }
        return try calls(broker, "xadd") - before
      }
      #expect(try appends() == 10)
      let (id, _) = try register(server, at: broker)
      #expect(try appends() == 20)
      let removed = try broker.ask("DELETE", "/v1/webhooks/\(id)", as: try broker.token("app", .app))
      #expect(removed.status == 204)
      #expect(try appends() == 10)
      #expect(try broker.redis.command("KEYS", "belfry:*copies*").isEmpty)
    }
  }
}
