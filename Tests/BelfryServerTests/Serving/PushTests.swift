import BelfryBytes
import BelfryHooks
import BelfryModel
import BelfryOutbound
import Foundation
import Glibc
import ModelSamples
import TestKit
import Testing

@testable import BelfryServer

/// Pushes and their receivers, at a real gateway.
@Suite struct PushTests {
  private func withPush<R: Sendable>(
    loops: Int = 2, delayMilliseconds: Int = 300, limits: Limits = .unhurried, clock: ShiftedClock? = nil,
    _ configure: @Sendable (inout Configuration) throws -> Void = { _ in },
    _ body: @Sendable (TestBroker) async throws -> R
  ) async throws -> R {
    var options = RedisServer.Options()
    options.clock = clock
    return try await withBroker(
      loops: loops, limits: limits, redis: options,
      configure: {
        $0.push.allowedNetworks = try [#require(IPNetwork("127.0.0.0/8"))]
        $0.retryDelaysSeconds = [0.3]
        $0.push.delayMilliseconds = delayMilliseconds
        try configure(&$0)
      }, body)
  }

  private func gateway(
    _ answer: @escaping @Sendable (JSONValue, Int) -> [Step] = { _, _ in
      [.kept(200, #"{"rejected":[]}"#), .next]
    }
  ) throws -> ScriptedServer {
    try ScriptedServer { request, number in
      answer((try? JSONParser.value(of: Array(request.body.utf8))) ?? .null, number)
    }
  }

  private func put(
    _ account: String, device: String = "phone", key: String? = nil, _ server: ScriptedServer,
    _ broker: TestBroker, on connection: TestConnection? = nil
  ) throws {
    let body =
      #"{"kind":"matrix","url":"http://127.0.0.1:\#(server.port)","appId":"app","pushkey":"\#(key ?? account)"}"#
    let answer = try (connection ?? broker.connect()).ask(
      "PUT", "/v1/account/pushers/\(device)", as: try broker.token(account), body)
    try #require(answer.status == 200, "\(answer)")
  }

  private func devices(_ account: String, _ broker: TestBroker) throws -> [String] {
    try broker.ask("GET", "/v1/account/pushers", as: try broker.token(account)).json["pushers"]?.elements
      .compactMap { $0["deviceId"]?.text } ?? []
  }

  @discardableResult
  private func send(
    _ broker: TestBroker, _ fields: String, setting: String = #""pushEnable":true"#
  ) throws -> String {
    let sent = try broker.ask(
      "POST", "/v1/notifications", as: try broker.token("app", .app), "{\(fields),\"setting\":{\(setting)}}")
    try #require(sent.status == 201, "\(sent)")
    return try #require(sent.json["messageServerId"]?.text)
  }

  private func read(_ id: String, by account: String, _ broker: TestBroker) throws {
    let answer = try broker.ask(
      "POST", "/v1/notifications/read", as: try broker.token(account),
      #"{"items":[{"messageServerId":"\#(id)"}]}"#)
    try #require(answer.json["read"] == 1, "\(answer)")
  }

  /// The posted requests, in words: a notification and its device, or the number of unread notifications.
  private func posts(_ server: ScriptedServer) -> [String] {
    server.requests.map { request in
      let value = (try? JSONParser.value(of: Array(request.body.utf8)))?["notification"]
      let key = value?["devices"]?[0]?["pushkey"]?.text ?? "nobody"
      return (value?["event_id"]?.text ?? "badge \(value?["counts"]?["unread"]?.number ?? -1)") + " to " + key
    }.sorted()
  }

  /// Waits until nothing is left to be pushed, and expects exactly these pushes.
  /// - Parameter passing: leaves out some of the posted requests.
  private func expect(
    _ wanted: [String], at server: ScriptedServer, on broker: TestBroker,
    passing: (String) -> Bool = { _ in false }
  ) async throws {
    try await broker.waitUntilNothingIsToBeSent()
    #expect(posts(server).filter { !passing($0) } == wanted.sorted())
  }

  // MARK: Contents

  /// The text that was pushed to a device.
  private func texts(_ server: ScriptedServer, to key: String) -> [String] {
    server.requests.compactMap { request in
      let value = (try? JSONParser.value(of: Array(request.body.utf8)))?["notification"]
      guard value?["devices"]?[0]?["pushkey"]?.text == key else { return nil }
      return value?["content"]?["body"]?.text
    }
  }

  @Test func invitationsAndApplicationsArePushedAsSentences() async throws {
    let server = try gateway()
    try await withPush { broker async throws in
      for name in ["alice", "bob"] { try put(name, server, broker) }
      let (alice, carol) = (try broker.token("alice"), try broker.token("carol"))
      let made = try broker.ask("POST", "/v1/servers", as: alice, #"{"name":"Campfire","applyMode":1}"#)
      let path = "/v1/servers/" + (try #require(made.json["serverId"]?.text))
      _ = try broker.ask(
        "POST", path + "/invitations", as: alice, #"{"accids":["bob"],"postscript":"Come!"}"#)
      _ = try broker.ask("POST", path + "/applications", as: carol)
      _ = try broker.ask(
        "POST", "/v1/groups", as: alice, #"{"name":"Ringers","style":"publicOpen","invitees":["bob"]}"#)
      // Nobody asked for pushes of this event.
      _ = try broker.ask("PATCH", path, as: alice, #"{"name":"Fire"}"#)
      try await eventually { texts(server, to: "bob").count == 2 && texts(server, to: "alice").count == 1 }
      try await broker.waitUntilNothingIsToBeSent()
      #expect(
        Set(texts(server, to: "bob")) == [
          "alice invited you to Campfire: Come!", "alice invited you to Ringers",
        ])
      #expect(texts(server, to: "alice") == ["carol asks to join server \(path.split(separator: "/")[2])"])
    }
  }

  @Test func withNoTypesOnlyWhatAskedForItIsPushed() async throws {
    let server = try gateway()
    try await withPush({ $0.push.types = [] }) { broker async throws in
      try put("bob", server, broker)
      let alice = try broker.token("alice")
      let made = try broker.ask(
        "POST", "/v1/groups", as: alice, #"{"name":"Ringers","style":"publicOpen","invitees":["bob"]}"#)
      #expect(made.status == 201)
      let sent = try send(broker, #""toAccids":["bob"],"body":"one""#)
      try await expect(["\(sent) to bob"], at: server, on: broker)
    }
  }

  // MARK: To whom

  @Test func whoeverIsToReceiveItIsPushedToOnce() async throws {
    let server = try gateway()
    try await withPush { broker async throws in
      for name in ["bob", "carol", "dave", "erin"] { try put(name, server, broker) }
      try put("bob", device: "tablet", key: "bob's tablet", server, broker)
      let place = try broker.makeServer(owner: "alice", members: ["bob", "carol", "dave"])
      let all = try send(broker, #""serverId":"\#(place)","body":"all""#)
      let two = try send(broker, #""toAccids":["carol","erin"],"body":"two""#)
      let one = try send(broker, #""toAccids":["erin"],"body":"one""#)
      try send(broker, #""serverId":"\#(place)","body":"quiet""#, setting: #""pushEnable":false"#)
      try await expect(
        [
          "\(all) to bob", "\(all) to bob's tablet", "\(all) to carol", "\(all) to dave", "\(two) to carol",
          "\(two) to erin", "\(one) to erin",
        ], at: server, on: broker,
        // Two pushes to a device may be on their way at the same time: a count corrects what either has told.
        passing: { $0.hasPrefix("badge ") })
    }
  }

  /// A broadcast is entered in pages of 1,000 members, and each waits until most of the one before is pushed.
  @Test func aBroadcastDoesNotKeepALaterPushWaiting() async throws {
    let server = try gateway()
    var limits = Limits.unhurried
    limits.subscriptionThreshold = 10_000
    try await withPush(limits: limits, { $0.partitions = try #require(Partitions(count: 1)) }) {
      broker async throws in
      let members = (0..<2_100).map { "member\($0)" }
      let place = try broker.makeServer(owner: "alice", members: Array(members[..<1_000]))
      let connection = try broker.connect()
      for more in [members[1_000..<2_000], members[2_000...]] {
        let list = more.map { "\"\($0)\"" }.joined(separator: ",")
        let added = try connection.ask(
          "POST", "/v1/servers/\(place)/members", as: try broker.token("app", .app),
          #"{"accids":[\#(list)]}"#)
        try #require(added.status == 200, "\(added)")
      }
      for name in members + ["erin"] { try put(name, server, broker, on: connection) }
      try send(
        broker, #""serverId":"\#(place)","body":"all""#, setting: #""pushEnable":true,"needBadge":false"#)
      let one = try send(broker, #""toAccids":["erin"],"body":"one""#)
      try await broker.waitUntilNothingIsToBeSent()
      let order = server.requests.map { $0.body.contains(one) }
      // A push whose answer is late on a busy machine is made again, so only its receivers are counted.
      #expect(Set(posts(server).filter { !$0.hasPrefix("badge ") }).count == 2_101)
      #expect(try #require(order.firstIndex(of: true)) < 1_400)
    }
  }

  @Test func nothingIsPushedThatIsReadRecalledOverUnwantedOrNotTheirsByThen() async throws {
    let server = try gateway()
    // Its pushes are due when the clock has stepped, so there is time for all that comes before.
    let clock = try await ShiftedClock()
    try await withPush(delayMilliseconds: 60_000, clock: clock) { broker async throws in
      for name in ["bob", "carol", "dave", "erin"] { try put(name, server, broker) }
      let place = try broker.makeServer(owner: "alice", members: ["bob", "dave"])
      let soon = Int64(Date().timeIntervalSince1970 * 1_000) + 30_000
      let read = try send(broker, #""toAccids":["bob"],"body":"read""#)
      let recalled = try send(broker, #""toAccids":["bob"],"body":"recalled""#)
      try send(broker, #""toAccids":["bob"],"body":"over","expireAt":\#(soon)"#)
      try send(broker, #""toAccids":["erin"],"body":"unwanted""#)
      let kept = try send(broker, #""serverId":"\#(place)","body":"for those who are there""#)
      try self.read(read, by: "bob", broker)
      let app = try broker.token("app", .app)
      #expect(try broker.ask("DELETE", "/v1/notifications/\(recalled)", as: app).status == 204)
      #expect(
        try broker.ask(
          "PUT", "/v1/account/preferences", as: try broker.token("erin"),
          #"{"preferences":[{"level":"none"}]}"#
        ).status == 200)
      // An account that joins afterwards was not there. A device that was given up is not pushed to.
      #expect(
        try broker.ask("POST", "/v1/servers/\(place)/members", as: app, #"{"accids":["carol"]}"#).status
          == 200)
      #expect(
        try broker.ask("DELETE", "/v1/account/pushers/phone", as: try broker.token("dave")).status == 204)
      try clock.step(bySeconds: 61)
      try await expect(["\(kept) to bob"], at: server, on: broker)
    }
  }

  @Test func aboveTheThresholdSubscribersArePushedTo() async throws {
    let server = try gateway()
    var limits = Limits.unhurried
    limits.subscriptionThreshold = 3
    try await withPush(limits: limits) { broker async throws in
      for name in ["bob", "carol", "dave"] { try put(name, server, broker) }
      let place = try broker.makeServer(owner: "alice", members: ["bob", "carol", "dave", "erin"])
      #expect(
        try broker.ask(
          "POST", "/v1/subscriptions", as: try broker.token("carol"),
          #"{"servers":["\#(place)"],"subscribe":true}"#
        ).status == 200)
      let sent = try send(broker, #""serverId":"\#(place)","body":"to subscribers""#)
      try await expect(["\(sent) to carol"], at: server, on: broker)
    }
  }

  // MARK: Badges

  @Test func theNumberIsCorrectedAfterReadingElsewhere() async throws {
    let server = try gateway()
    try await withPush { broker async throws in
      try put("bob", server, broker)
      let sent = try send(broker, #""toAccids":["bob"],"body":"counted""#)
      let other = try send(
        broker, #""toAccids":["bob"],"body":"not""#, setting: #""pushEnable":true,"needBadge":false"#)
      try await expect(["\(sent) to bob", "\(other) to bob"], at: server, on: broker)
      let counts = server.requests.compactMap {
        (try? JSONParser.value(of: Array($0.body.utf8)))?["notification"]?["counts"]
      }
      #expect(counts == [["unread": 1]])
      // On one connection, so that no pause of this machine comes between them.
      let marks = try broker.connect()
      for id in [other, sent] {
        marks.begin(
          "POST", "/v1/notifications/read", as: try broker.token("bob"),
          Array(#"{"items":[{"messageServerId":"\#(id)"}]}"#.utf8))
      }
      for _ in 0..<2 { #expect(try marks.answer().json["read"] == 1) }
      // Two marks at once cause one correction. When nothing is left, nothing needs to be corrected.
      try await expect(["\(sent) to bob", "\(other) to bob", "badge 0 to bob"], at: server, on: broker)
      let later = try send(
        broker, #""toAccids":["bob"],"body":"later""#, setting: #""pushEnable":true,"needBadge":false"#)
      try await expect(
        ["\(sent) to bob", "\(other) to bob", "badge 0 to bob", "\(later) to bob"], at: server, on: broker)
      try read(later, by: "bob", broker)
      try await expect(
        ["\(sent) to bob", "\(other) to bob", "badge 0 to bob", "\(later) to bob"], at: server, on: broker)
    }
  }

  /// A notification that a preference hides does not count.
  @Test func theNumberIsCorrectedAfterAPreference() async throws {
    let server = try gateway()
    try await withPush { broker async throws in
      try put("bob", server, broker)
      let place = try broker.makeServer(owner: "alice", members: ["bob"])
      let sent = try send(broker, #""serverId":"\#(place)","body":"counted""#)
      try await expect(["\(sent) to bob"], at: server, on: broker)
      let answer = try broker.ask(
        "PUT", "/v1/account/preferences", as: try broker.token("bob"),
        #"{"preferences":[{"space":"server:\#(place)","level":"none"}]}"#)
      try #require(answer.status == 200, "\(answer)")
      try await expect(["\(sent) to bob", "badge 0 to bob"], at: server, on: broker)
    }
  }

  @Test func theNumberIsCorrectedAfterARecallAndAnExpiry() async throws {
    let server = try gateway()
    let clock = try await ShiftedClock()
    try await withPush(clock: clock) { broker async throws in
      for name in ["bob", "carol"] { try put(name, server, broker) }
      let place = try broker.makeServer(owner: "alice", members: ["bob"])
      // bob has joined, and the server is one of his.
      let joined = 2
      let kept = try send(broker, #""serverId":"\#(place)","body":"recalled""#)
      try await expect(["\(kept) to bob"], at: server, on: broker)
      #expect(
        try broker.ask("DELETE", "/v1/notifications/\(kept)", as: try broker.token("app", .app)).status == 204
      )
      let recalled = ["\(kept) to bob", "badge \(joined) to bob"]
      try await expect(recalled, at: server, on: broker)
      let soon = Int64(Date().timeIntervalSince1970 * 1_000) + 60_000
      let over = try send(broker, #""toAccids":["bob","carol"],"body":"over","expireAt":\#(soon)"#)
      try await eventually { posts(server).count == recalled.count + 2 }
      try await broker.waitUntilNothingIsToBePushed()
      try clock.step(bySeconds: 61)
      try await expect(
        recalled + [
          "\(over) to bob", "\(over) to carol", "badge \(joined) to bob", "badge 0 to carol",
        ], at: server, on: broker)
    }
  }

  /// After a restart of Redis ids are ahead of the clock. The delay begins when the notification was sent.
  @Test func aPushDoesNotWaitForTheTimeOfItsID() async throws {
    let server = try gateway()
    try await withPush { broker async throws in
      try put("bob", server, broker)
      let ahead = Int64(Date().timeIntervalSince1970 * 1_000) + 3_600_000
      let partition = Partitions.standard.holding(.personal("bob"))
      try broker.redis.setLastID(MessageID(unixMilliseconds: ahead, partition: partition, sequence: 0))
      let sent = try send(broker, #""toAccids":["bob"],"body":"from a later hour""#)
      #expect(try #require(MessageID(sent)).unixMilliseconds >= ahead)
      try await expect(["\(sent) to bob"], at: server, on: broker)
    }
  }

  /// A slow gateway is told each number once.
  @Test func aSlowDeliveryIsCorrectedOnlyIfSomethingCameBetween() async throws {
    let gate = Latch()
    let server = try gateway { _, _ in
      gate.wait()
      return [.kept(200, #"{"rejected":[]}"#), .next]
    }
    try await withPush { broker async throws in
      for name in ["bob", "carol"] { try put(name, server, broker) }
      let sent = try send(broker, #""toAccids":["bob","carol"],"body":"slow""#)
      try await eventually { posts(server).count == 2 }
      try read(sent, by: "carol", broker)
      gate.open()
      try await broker.waitUntilNothingIsToBeSent()
      let told = posts(server)
      #expect(told.filter { $0.hasSuffix("bob") } == ["\(sent) to bob"])
      #expect(Set(told.filter { $0.hasSuffix("carol") }) == ["\(sent) to carol", "badge 0 to carol"])
    }
  }

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

  /// The number of pushes that did not arrive, counting those that are tried again.
  private func failures(_ broker: TestBroker) throws -> Int64 {
    let stats = try broker.ask("GET", "/v1/stats", as: try broker.token("ops", .operation)).json
    return stats["loops"]?.elements.reduce(0) { sum, loop in
      sum + (loop["push"]?["failed"]?.number ?? 0) + (loop["push"]?["givenUp"]?.number ?? 0)
    } ?? 0
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
      try put("bob", inside, broker)
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
