import BelfryBytes
import BelfryHooks
import BelfryModel
import BelfryOutbound
import TestKit
import Testing

@testable import BelfryServer

/// Gateways that fail or refuse, and the pushers that lead to them.
@Suite struct PushGatewayTests: PushStage {
  // MARK: Gateways

  @Test func whatAGatewayDoesNotKnowAnyMoreIsRemovedUnlessItWasReplaced() async throws {
    let (isAsked, gate) = (Shared(false), Latch())
    let server = try gateway { value, _ in
      let key = value["notification"]?["devices"]?[0]?["pushkey"]?.text ?? ""
      switch key {
      case "lost": return [.kept(200, #"{"rejected":["lost"]}"#), .next]
      case "missing": return [.kept(404), .next]
      case "old":
        isAsked.withLock { $0 = true }
        gate.wait()
        return [.kept(200, #"{"rejected":["old"]}"#), .next]
      default: return [.kept(200, #"{"rejected":[]}"#), .next]
      }
    }
    try await withPush { broker async throws in
      try put("bob", device: "a", key: "lost", server, broker)
      try put("bob", device: "b", key: "missing", server, broker)
      try put("bob", device: "c", key: "fine", server, broker)
      try put("carol", device: "a", key: "old", server, broker)
      try send(broker, #""toAccids":["bob","carol"],"body":"hello""#)
      try await eventually { isAsked.withLock { $0 } }
      // The gateway is still about to reject the previous key.
      try put("carol", device: "a", key: "new", server, broker)
      gate.open()
      try await broker.waitUntilNothingIsToBeSent()
      #expect(try devices("bob", broker) == ["c"])
      #expect(try devices("carol", broker) == ["a"])
    }
  }

  @Test func whatFailsIsTriedAgain() async throws {
    // Down, a wrong answer, a redirect; then the gateway works.
    for first: [Step] in [[.kept(503), .next], [.kept(200, "<html>"), .next], [.reset]] {
      let server = try gateway { _, number in number == 1 ? first : [.kept(200, #"{"rejected":[]}"#), .next] }
      try await withPush { broker async throws in
        try put("bob", server, broker)
        let sent = try send(broker, #""toAccids":["bob"],"body":"again""#)
        try await expect(["\(sent) to bob", "\(sent) to bob"], at: server, on: broker)
        #expect(try devices("bob", broker) == ["phone"])
      }
    }
  }

  /// A service refuses all devices of an account, and says nothing of others' by that. So it is not left alone.
  @Test func refusedDevicesOfAnAccountKeepNoOtherWaiting() async throws {
    let server = try gateway { value, _ in
      let key = value["notification"]?["devices"]?[0]?["pushkey"]?.text ?? ""
      return key.hasPrefix("mallory") ? [.kept(403), .next] : [.kept(200, #"{"rejected":[]}"#), .next]
    }
    let devices = CircuitBreaker.failuresMax + 1
    try await withPush(loops: 1) { broker async throws in
      for number in 0..<devices {
        try put("mallory", device: "d\(number)", key: "mallory \(number)", server, broker)
      }
      try put("bob", server, broker)
      try send(broker, #""toAccids":["mallory"],"body":"refused""#)
      // They are tried again and again. A service that is left alone would get one request in ten seconds.
      try await eventually { server.requests.count > 3 * devices }
      let sent = try send(broker, #""toAccids":["bob"],"body":"hello""#)
      try await eventually { posts(server).contains("\(sent) to bob") }
      #expect(try count("failed", of: broker) > 0)
    }
  }

  @Test func anAccountIsShownTheFailuresOfItsPushers() async throws {
    let answers = Shared<Step>(.kept(503))
    let server = try gateway { _, _ in [answers.withLock { $0 }, .next] }
    try await withPush({ $0.retryDelaysSeconds = [1] }) { broker async throws in
      try put("bob", server, broker)
      let pusher = { try broker.ask("GET", "/v1/account/pushers/phone", as: try broker.token("bob")).json }
      try send(broker, #""toAccids":["bob"],"body":"again""#)
      try await eventually("the failure is shown") { try pusher()["failure"] != nil }
      #expect(try pusher()["failure"]?.text == "it answered with status 503")
      #expect(try #require(try pusher()["failedAt"]?.number) > 1_700_000_000_000)
      let list = try broker.ask("GET", "/v1/account/pushers", as: try broker.token("bob")).json
      #expect(list["pushers"]?.elements.first?["failure"]?.text == "it answered with status 503")
      answers.withLock { $0 = .kept(200, #"{"rejected":[]}"#) }
      try await eventually("the failure has ended") { try pusher()["failure"] == nil }
    }
  }

  /// Eleven notifications for 20 devices are 20 pushes more than an account may have waiting.
  @Test func whatAnAccountHasBeyondItsShareIsGivenUpAndShown() async throws {
    let dead = try gateway { _, _ in [.kept(503), .next] }
    let server = try gateway { _, number in
      number == 1 ? [.kept(503), .next] : [.kept(200, #"{"rejected":[]}"#), .next]
    }
    try await withPush({ $0.partitions = try #require(Partitions(count: 1)) }) { broker async throws in
      let connection = try broker.connect()
      for number in 0..<Limits.pushersPerAccount {
        try put("alice", device: "d\(number)", dead, broker, on: connection)
      }
      try put("bob", server, broker)
      let setting = #""pushEnable":true,"needBadge":false"#
      for _ in 1...11 { try send(broker, #""toAccids":["alice"],"body":"again""#, setting: setting) }
      try await eventually("20 are given up") { try count("givenUp", of: broker) == 20 }
      try await eventually("the account is shown that") {
        try broker.ask("GET", "/v1/account/pushers", as: try broker.token("alice")).json["pushers"]?.elements
          .contains { $0["failure"]?.text?.hasSuffix("pushes were given up because too many waited") == true }
          ?? false
      }
      // Another account's push is tried again.
      let sent = try send(broker, #""toAccids":["bob"],"body":"one""#, setting: setting)
      try await eventually("bob is pushed to") { posts(server) == ["\(sent) to bob", "\(sent) to bob"] }
      #expect(try count("givenUp", of: broker) == 20)
    }
  }

  @Test func redirectsAreNotFollowed() async throws {
    let inside = try gateway()
    let server = try gateway { [port = inside.port] _, _ in
      [.answer(307, headers: ["Location: http://127.0.0.1:\(port)/"])]
    }
    try await withPush { broker async throws in
      try put("bob", server, broker)
      try send(broker, #""toAccids":["bob"],"body":"redirected""#)
      try await eventually { try failures(broker) > 0 }
      #expect(!server.requests.isEmpty)
      #expect(inside.requests.isEmpty)
    }
  }

  /// Any account may name a URL: the networks that the operator has opened for webhooks are not open to it.
  @Test func pushesDoNotGoIntoTheNetworksOfWebhooks() async throws {
    let inside = try gateway()
    let loopback = try #require(IPNetwork("127.0.0.0/8"))
    let other = try #require(IPNetwork("10.0.0.0/8"))
    try await withPush({
      $0.allowedNetworks = [loopback]
      $0.push.allowedNetworks = [other]
    }) { broker async throws in
      // Only the connection shows where a name leads.
      let put = try broker.ask(
        "PUT", "/v1/account/pushers/phone", as: try broker.token("bob"),
        #"{"kind":"matrix","url":"http://localhost:\#(inside.port)","appId":"app","pushkey":"key"}"#)
      try #require(put.status == 200, "\(put)")
      try send(broker, #""toAccids":["bob"],"body":"inside""#)
      try await eventually { try failures(broker) > 0 }
      #expect(inside.requests.isEmpty)
    }
    // If no network is open to pushes, nothing but https can succeed.
    try await withPush({
      $0.allowedNetworks = [loopback]
      $0.push.allowedNetworks = []
    }) { broker async throws in
      let answer = try broker.ask(
        "PUT", "/v1/account/pushers/phone", as: try broker.token("bob"),
        #"{"kind":"matrix","url":"http://127.0.0.1:\#(inside.port)","appId":"app","pushkey":"key"}"#)
      #expect(answer.status == 400 && answer.json["field"] == "url", "\(answer)")
    }
  }

  /// A stored pusher may lead to a place that the present settings do not allow.
  @Test func storedPushersAreHeldToTheSettings() async throws {
    let server = try gateway()
    try await withPush { broker async throws in
      for name in ["bob", "carol"] { try put(name, server, broker) }
      let script = """
        local key = redis.call('KEYS', 'belfry:*:pushers:bob')[1]
        local record = redis.call('HGET', key, 'phone')
        return redis.call('HSET', key, 'phone', (string.gsub(record, '/_matrix/push/v1/notify', '/latest/meta-data')))
        """
      #expect(try broker.redis.command("EVAL", script, "0") == "0")
      let sent = try send(broker, #""toAccids":["bob","carol"],"body":"hello""#)
      try await expect(["\(sent) to carol"], at: server, on: broker)
      #expect(try failures(broker) == 1)
    }
  }

  /// An address in place of a name shows at once that each push to it would fail.
  @Test func aURLToWhichNoPushCouldGoIsRefused() async throws {
    let open = try #require(IPNetwork("10.0.0.0/8"))
    try await withPush({ $0.push.allowedNetworks = [open] }) { broker async throws in
      let bob = try broker.token("bob")
      let point = Base64URL.encode(P256PrivateKey().point)
      let secret = Base64URL.encode([UInt8](repeating: 7, count: 16))
      let put = { (url: String, isWebPush: Bool) in
        let body =
          isWebPush
          ? #"{"kind":"webpush","endpoint":"\#(url)","p256dh":"\#(point)","auth":"\#(secret)"}"#
          : #"{"kind":"matrix","url":"\#(url)","appId":"app","pushkey":"key"}"#
        return try broker.ask("PUT", "/v1/account/pushers/phone", as: bob, body)
      }
      for (url, cause) in [
        (
          "https://203.0.113.7",
          "cannot lead to 203.0.113.7, which is not a public address, and not in a network of push.allowedNetworks"
        ),
        (
          "https://[::1]:8443",
          "cannot lead to ::1, which is not a public address, and not in a network of push.allowedNetworks"
        ),
        (
          "http://93.184.216.34",
          "must be an https URL, because http is only for the networks of push.allowedNetworks"
        ),
      ] {
        for isWebPush in [false, true] {
          let answer = try put(url, isWebPush)
          #expect(answer.status == 400 && answer.field == (isWebPush ? "endpoint" : "url"), "\(answer)")
          #expect(answer.json["detail"]?.text == cause)
        }
      }
      for url in ["http://10.0.0.1", "https://93.184.216.34", "https://push.example"] {
        for isWebPush in [false, true] { #expect(try put(url, isWebPush).status == 200, "\(url)") }
      }
    }
  }

  @Test func pushersLeadWhereTheConfigurationSays() async throws {
    let server = try gateway()
    try await withPush({ $0.push.origins = ["https://push.example"] }) { broker async throws in
      let bob = try broker.token("bob")
      let body = { (url: String) in #"{"kind":"matrix","url":"\#(url)","appId":"app","pushkey":"key"}"# }
      let refused = try broker.ask(
        "PUT", "/v1/account/pushers/phone", as: bob, body("http://127.0.0.1:\(server.port)"))
      #expect(refused.status == 400 && refused.json["field"] == "url", "\(refused)")
      #expect(
        try broker.ask("PUT", "/v1/account/pushers/phone", as: bob, body("https://push.example:443/x")).status
          == 200)
    }
  }

  // MARK: Pushers

  @Test func pushersAreChecked() async throws {
    try await withPush { broker async throws in
      let bob = try broker.token("bob")
      let put = { (body: String) in try broker.ask("PUT", "/v1/account/pushers/phone", as: bob, body) }
      let point = Base64URL.encode(P256PrivateKey().point)
      let secret = Base64URL.encode([UInt8](repeating: 7, count: 16))
      for (body, field) in [
        (#"{"kind":"pigeon"}"#, "kind"), (#"{"kind":"matrix","appId":"a","pushkey":"k"}"#, "url"),
        (#"{"kind":"matrix","url":"https://x.example","pushkey":"k"}"#, "appId"),
        (#"{"kind":"matrix","url":"ftp://x.example","appId":"a","pushkey":"k"}"#, "url"),
        (#"{"kind":"matrix","url":"https://x.example/other?a=b","appId":"a","pushkey":"k"}"#, "url"),
        (#"{"kind":"matrix","url":"https://x.example","appId":"a","pushkey":"k","data":[1]}"#, "data"),
        (
          #"{"kind":"matrix","url":"https://x.example","appId":"a","pushkey":"k","auth":"\#(secret)"}"#,
          "auth"
        ),
        (#"{"kind":"webpush","endpoint":"https://x.example/1","auth":"\#(secret)"}"#, "p256dh"),
        (
          #"{"kind":"webpush","endpoint":"https://x.example/1","p256dh":"\#(String(repeating: "A", count: 87))","auth":"\#(secret)"}"#,
          "p256dh"
        ),
        (#"{"kind":"webpush","endpoint":"https://x.example/1","p256dh":"\#(point)","auth":"short"}"#, "auth"),
      ] {
        let answer = try put(body)
        #expect(answer.status == 400 && answer.json["field"]?.text == field, "\(body): \(answer)")
      }
      let good = try put(
        #"{"kind":"webpush","endpoint":"https://x.example/1","p256dh":"\#(point)","auth":"\#(secret)"}"#)
      #expect(good.status == 200)
      #expect(good.json["p256dh"]?.text == point && good.json["auth"] == nil)
      #expect(try broker.ask("GET", "/v1/account/pushers/phone", as: bob).json == good.json)
      #expect(try broker.ask("GET", "/v1/account/pushers/phone", as: try broker.token("eve")).status == 404)
      #expect(try broker.ask("DELETE", "/v1/account/pushers/phone", as: bob).status == 204)
      #expect(try broker.ask("DELETE", "/v1/account/pushers/phone", as: bob).status == 404)
    }
  }

  @Test func anAccountHasSoManyAndNoMore() async throws {
    let server = try gateway()
    try await withPush { broker async throws in
      for number in 0..<Limits.pushersPerAccount { try put("bob", device: "d\(number)", server, broker) }
      // An existing pusher may be replaced.
      try put("bob", device: "d3", key: "other", server, broker)
      let more = try broker.ask(
        "PUT", "/v1/account/pushers/one-more", as: try broker.token("bob"),
        #"{"kind":"matrix","url":"https://x.example","appId":"a","pushkey":"k"}"#)
      #expect(more.json["code"] == "tooMany")
      try put("carol", device: "d", server, broker)
    }
  }
}
