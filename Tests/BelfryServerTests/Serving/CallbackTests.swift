import BelfryHooks
import BelfryModel
import BelfryOutbound
import Foundation
import Glibc
import TestKit
import Testing

@testable import BelfryServer

@Suite struct CallbackTests: CallbackStage {
  // MARK: Decisions

  @Test func aCallbackIsAskedSignedAndAllows() async throws {
    let server = try ScriptedServer(Self.decide(#"{"decision":"allow","callbackExt":"seen"}"#))
    try await withCallback(server) { broker async throws in
      let answer = try send(broker, #""toAccids":["bob"],"body":"hello","env":"test","messageClientId":"m""#)
      #expect(answer.status == 201)
      let received = try unread(broker, "bob")
      #expect(received.map { $0["body"]?.text } == ["hello"])
      #expect(received.first?["callbackExt"]?.text == "seen")
    }
    let asked = try #require(server.requests.first)
    #expect(server.requests.count == 1)
    let body = try object(asked.body)
    #expect(body["event"] == "notification.send")
    #expect(body["env"] == "default")
    #expect(body["id"]?.text == asked.headers["webhook-id"])
    #expect(body["actor"]?["accid"] == "alice")
    #expect(body["actor"]?["ip"] == "127.0.0.1")
    #expect(body["notification"]?["body"] == "hello")
    #expect(body["notification"]?["fromAccount"] == "alice")
    #expect(body["notification"]?["toAccids"] == ["bob"])
    let headers = WebhookHeaders(
      id: asked.headers["webhook-id"] ?? "", body: Array(asked.body.utf8),
      secrets: [try #require(WebhookSecret(Self.secret))],
      nowSeconds: Int64(asked.headers["webhook-timestamp"] ?? "") ?? 0)
    #expect(asked.headers["webhook-signature"] == headers.all.last?.value)
  }

  @Test func aCallbackIsToldTheClientsAddress() async throws {
    let server = try ScriptedServer(Self.decide(#"{"decision":"allow"}"#))
    let callback = try callback(server)
    let loopback = try #require(IPNetwork("127.0.0.0/8"))
    try await withBroker(configure: {
      ($0.callbacks, $0.allowedNetworks, $0.proxies.networks) = ([callback], [loopback], [loopback])
    }) { broker async throws in
      let answer = try broker.ask(
        "POST", "/v1/notifications", as: try broker.token("alice"), #"{"toAccids":["bob"],"body":"x"}"#,
        headers: [("X-Forwarded-For", "192.0.2.7")])
      #expect(answer.status == 201)
    }
    let asked = try #require(server.requests.first)
    #expect(try object(asked.body)["actor"]?["ip"] == "192.0.2.7")
  }

  @Test func aDenialReachesTheSenderInItsOwnWords() async throws {
    let server = try ScriptedServer(Self.decide(#"{"decision":"deny","code":"words","detail":"not these"}"#))
    try await withCallback(server) { broker async throws in
      let answer = try send(broker, #""toAccids":["bob"],"body":"hello""#)
      #expect(answer.status == 403)
      #expect(answer.json["code"] == "refusedByCallback")
      #expect(answer.json["callbackCode"] == "words")
      #expect(answer.json["detail"] == "not these")
      #expect(try unread(broker, "bob") == [])
      let stats = try broker.ask("GET", "/v1/stats", as: try broker.token("ops", .operation))
      #expect(stats.json["loops"]?[0]?["callbacks"]?["denied"] == 1)
    }
  }

  /// The sender gets an id, and the same id when the send is repeated. Nobody receives the notification, and
  /// no log holds it.
  @Test(arguments: ["server", "accounts", "one", "group", "room"])
  func whatIsSilencedLooksSent(_ place: String) async throws {
    let server = try ScriptedServer { request, _ in
      let isSilent = request.body.contains("quiet")
      return [.kept(200, #"{"decision":"\#(isSilent ? "silent" : "allow")"}"#), .next]
    }
    try await withCallback(server, { $0.events = ["notification.send"] }) { broker async throws in
      let to = try await makePlace(place, broker)
      let before = server.requests.count
      let first = try send(broker, #"\#(to),"body":"quiet","messageClientId":"m""#)
      #expect(first.status == 201)
      let again = try send(broker, #"\#(to),"body":"quiet","messageClientId":"m""#)
      #expect(again.status == 200)
      #expect(again.json["messageServerId"] == first.json["messageServerId"])
      #expect(again.json["duplicate"] == true)
      #expect(server.requests.count == before + 1)
      // Another content under the same name is refused, as for any send.
      #expect(try send(broker, #"\#(to),"body":"quiet too","messageClientId":"m""#).status == 409)
      #expect(server.requests.count == before + 1)
      let loud = try send(broker, #"\#(to),"body":"loud","messageClientId":"n""#)
      #expect(loud.status == 201)
      #expect(try unread(broker, "bob").compactMap { $0["body"]?.text } == ["loud"])
    }
  }

  private func makePlace(_ place: String, _ broker: TestBroker) async throws -> String {
    switch place {
    case "one": return #""toAccids":["bob"]"#
    case "accounts": return #""toAccids":["bob","carol"]"#
    case "server":
      return #""serverId":"\#(try broker.makeServer(owner: "alice", members: ["bob"]))""#
    case "group":
      let made = try broker.ask(
        "POST", "/v1/groups", as: try broker.token("alice"), #"{"name":"g","style":"publicOpen"}"#)
      let id = try #require(made.json["groupId"]?.text)
      let joined = try broker.ask("POST", "/v1/groups/\(id)/applications", as: try broker.token("bob"))
      try #require(joined.status < 300, "\(joined)")
      try await forget(broker)
      return #""groupId":"\#(id)""#
    default:
      let made = try broker.ask("POST", "/v1/rooms", as: try broker.token("alice"), #"{"subject":"r"}"#)
      let id = try #require(made.json["roomId"]?.text)
      let joined = try broker.ask("POST", "/v1/rooms/\(id)/attendees", as: try broker.token("bob"))
      try #require(joined.status < 300, "\(joined)")
      try await forget(broker)
      return #""roomId":"\#(id)""#
    }
  }

  /// Removes the notifications that bob got for joining.
  private func forget(_ broker: TestBroker) async throws {
    for _ in 0..<20 {
      try await Task.sleep(for: .milliseconds(50))
      guard let last = try unread(broker, "bob").last?["messageServerId"]?.text else { continue }
      _ = try broker.ask(
        "POST", "/v1/notifications/read", as: try broker.token("bob"), #"{"upTo":"\#(last)"}"#)
    }
  }

  @Test func aPatchIsWhatIsSentAndARepetitionIsKnownByWhatWasGiven() async throws {
    let server = try ScriptedServer(
      Self.decide(#"{"decision":"allow","patch":{"body":"***","attach":{"a":1},"pushContent":"p"}}"#))
    try await withCallback(server) { broker async throws in
      let fields = #""toAccids":["bob"],"body":"damn","ext":"e","messageClientId":"m""#
      let first = try send(broker, fields)
      #expect(first.status == 201)
      let again = try send(broker, fields)
      #expect(again.status == 200)
      #expect(again.json["messageServerId"] == first.json["messageServerId"])
      let received = try unread(broker, "bob")
      #expect(received.count == 1)
      #expect(received.first?["body"] == "***")
      #expect(received.first?["attach"] == ["a": 1])
      #expect(received.first?["pushContent"] == "p")
      #expect(received.first?["ext"] == "e")
    }
    #expect(server.requests.count == 1)
  }

  @Test func nobodyButACallbackGivesCallbackExt() async throws {
    let server = try ScriptedServer(Self.decide(#"{"decision":"allow"}"#))
    try await withCallback(server) { broker async throws in
      for role in [TokenClaims.Role.user, .app] {
        let answer = try broker.ask(
          "POST", "/v1/notifications", as: try broker.token("alice", role),
          #"{"toAccids":["bob"],"body":"x","callbackExt":"forged"}"#)
        #expect(answer.status == 400)
        #expect(answer.json["field"] == "callbackExt")
      }
    }
    #expect(server.requests.isEmpty)
  }

  // MARK: Requests that callbacks are asked about

  @Test func trustedCallersAreAskedAboutWhereThatIsConfigured() async throws {
    for asks in [false, true] {
      let server = try ScriptedServer(Self.decide(#"{"decision":"deny"}"#))
      try await withCallback(server, { $0.asksAboutTrusted = asks }) { broker async throws in
        let answer = try broker.ask(
          "POST", "/v1/notifications", as: try broker.token("app", .app), #"{"toAccids":["bob"],"body":"x"}"#)
        #expect(answer.status == (asks ? 403 : 201))
      }
      #expect(server.requests.count == (asks ? 1 : 0))
    }
  }

  /// A send with an invented env is treated as one without an env.
  @Test func anUnknownEnvIsNoWayPast() async throws {
    let server = try ScriptedServer(Self.decide(#"{"decision":"deny"}"#))
    try await withCallback(server) { broker async throws in
      for env in ["", #","env":"other""#, #","env":"""#] {
        #expect(try send(broker, #""toAccids":["bob"],"body":"x"\#(env)"#).status == 403)
      }
    }
  }

  @Test func whatTheRulesRefuseIsNotAskedAbout() async throws {
    let server = try ScriptedServer(Self.decide(#"{"decision":"allow"}"#))
    try await withCallback(server, { $0.events = ["notification.send", "server.invite"] }) {
      broker async throws in
      let id = try broker.makeServer(owner: "alice")
      #expect(try send(broker, #""serverId":"\#(id)","body":"x""#, as: "mallory").status == 403)
      #expect(try send(broker, #""serverId":"\#(id)","body":7"#).status == 400)
      let invited = try broker.ask(
        "POST", "/v1/servers/\(id)/invitations", as: try broker.token("mallory"), #"{"accids":["eve"]}"#)
      #expect(invited.status == 403)
    }
    #expect(server.requests.isEmpty)
  }

  @Test func operationsAreEventsByTheirNames() async throws {
    let server = try ScriptedServer { request, _ in
      let isBad = request.body.contains("forbidden")
      return [.kept(200, isBad ? #"{"decision":"deny","detail":"no"}"# : #"{"decision":"allow"}"#), .next]
    }
    try await withCallback(server) { broker async throws in
      let token = try broker.token("alice")
      #expect(try broker.ask("POST", "/v1/servers", as: token, #"{"name":"forbidden"}"#).status == 403)
      let made = try broker.ask("POST", "/v1/servers", as: token, #"{"name":"fine"}"#)
      #expect(made.status == 201)
      let id = try #require(made.json["serverId"]?.text)
      let invited = try broker.ask(
        "POST", "/v1/servers/\(id)/invitations", as: token, #"{"accids":["bob"],"postscript":"forbidden"}"#)
      #expect(invited.status == 403)
      #expect(try unread(broker, "bob") == [])
      // An event that is not configured.
      #expect(try broker.ask("PATCH", "/v1/servers/\(id)", as: token, #"{"name":"forbidden"}"#).status == 200)
    }
    let events = try server.requests.map { try object($0.body) }
    #expect(events.map { $0["event"] } == ["server.create", "server.create", "server.invite"])
    #expect(events.map { $0["request"]?["name"]?.text } == ["forbidden", "fine", nil])
    #expect(events.last?["operation"]?["accids"] == ["bob"])
    #expect(events.last?["actor"]?["accid"] == "alice")
  }

  /// While its callback is asked about an application, the server opens. The application would now be a join,
  /// and nobody was asked about a join.
  @Test func whatBecomesAnotherEventMeanwhileIsAskedAbout() async throws {
    let (isAsked, gate) = (Shared(false), Latch())
    let server = try ScriptedServer { request, _ in
      if request.body.contains("server.join") { return [.kept(200, #"{"decision":"deny"}"#), .next] }
      isAsked.withLock { $0 = true }
      gate.wait()
      return [.kept(200, #"{"decision":"allow"}"#), .next]
    }
    defer { gate.open() }
    try await withCallback(
      server,
      {
        $0.events = ["server.apply", "server.join"]
        $0.timeoutMilliseconds = 5_000
      }
    ) { broker async throws in
      let owner = try broker.token("alice")
      let path = "/v1/servers/\(try broker.makeServer(owner: "alice"))"
      #expect(try broker.ask("PATCH", path, as: owner, #"{"applyMode":1}"#).status == 200)
      let bob = try broker.token("bob")
      async let applied = Task.detached { try broker.ask("POST", path + "/applications", as: bob) }.value
      try await eventually { isAsked.withLock { $0 } }
      #expect(try broker.ask("PATCH", path, as: owner, #"{"applyMode":0}"#).status == 200)
      gate.open()
      let answer = try await applied
      #expect(answer.code == "refusedByCallback")
      let members = try broker.ask("GET", path + "/members", as: owner)
      #expect(members.json["members"]?.elements.count == 1)
    }
    #expect(
      try server.requests.map { try object($0.body)["event"] } == ["server.apply", "server.join"])
  }

  /// If others change something, the callback is not asked a second time unless the question has changed.
  @Test func theSameEventIsAskedAboutOnce() async throws {
    let (isAsked, gate) = (Shared(false), Latch())
    let server = try ScriptedServer { _, _ in
      isAsked.withLock { $0 = true }
      gate.wait()
      return [.kept(200, #"{"decision":"allow"}"#), .next]
    }
    defer { gate.open() }
    try await withCallback(
      server,
      {
        $0.events = ["server.apply"]
        $0.timeoutMilliseconds = 5_000
      }
    ) { broker async throws in
      let owner = try broker.token("alice")
      let path = "/v1/servers/\(try broker.makeServer(owner: "alice"))"
      #expect(try broker.ask("PATCH", path, as: owner, #"{"applyMode":1}"#).status == 200)
      let bob = try broker.token("bob")
      async let applied = Task.detached { try broker.ask("POST", path + "/applications", as: bob) }.value
      try await eventually { isAsked.withLock { $0 } }
      #expect(try broker.ask("PATCH", path, as: owner, #"{"name":"other"}"#).status == 200)
      gate.open()
      let answer = try await applied
      #expect((200..<300).contains(answer.status), "\(answer)")
    }
    #expect(server.requests.count == 1)
  }

  /// Somebody else's update comes while the callback is asked. The callback is then asked about both
  /// together.
  @Test func anUpdateIsAskedAboutAgainWhereItIsAnotherOneMeanwhile() async throws {
    let (isAsked, gate) = (Shared(false), Latch())
    let server = try ScriptedServer { _, _ in
      isAsked.withLock { $0 = true }
      gate.wait()
      return [.kept(200, #"{"decision":"allow"}"#), .next]
    }
    defer { gate.open() }
    try await withCallback(
      server,
      {
        $0.events = ["notification.update"]
        $0.timeoutMilliseconds = 5_000
      }
    ) { broker async throws in
      let sent = try send(broker, #""toAccids":["bob"],"body":"first""#)
      let path = "/v1/notifications/\(try #require(sent.json["messageServerId"]?.text))"
      let alice = try broker.token("alice")
      async let updated = Task.detached {
        try broker.ask("PATCH", path, as: alice, #"{"body":"second"}"#)
      }.value
      try await eventually { isAsked.withLock { $0 } }
      // A back end is not asked about.
      let other = try broker.ask("PATCH", path, as: try broker.token("app", .app), #"{"ext":"theirs"}"#)
      #expect(other.status == 200)
      gate.open()
      let answer = try await updated
      #expect(answer.json["body"] == "second" && answer.json["ext"] == "theirs")
    }
    let asked = try server.requests.map { try object($0.body)["notification"] }
    #expect(asked.map { $0?["body"] } == ["second", "second"])
    #expect(asked.map { $0?["ext"] } == [nil, "theirs"])
  }

  @Test func updatesAreAskedAboutAsTheyWillBe() async throws {
    let server = try ScriptedServer { request, _ in
      if request.body.contains("denied") { return [.kept(200, #"{"decision":"deny"}"#), .next] }
      if request.body.contains("hushed") { return [.kept(200, #"{"decision":"silent"}"#), .next] }
      if request.body.contains("damn") {
        return [.kept(200, #"{"decision":"allow","patch":{"body":"***"}}"#), .next]
      }
      return [.kept(200, #"{"decision":"allow"}"#), .next]
    }
    try await withCallback(server, { $0.events = ["notification.update"] }) { broker async throws in
      let sent = try send(broker, #""toAccids":["bob"],"body":"first""#)
      let id = try #require(sent.json["messageServerId"]?.text)
      func update(_ body: String) throws -> Answer {
        try broker.ask(
          "PATCH", "/v1/notifications/\(id)", as: try broker.token("alice"), #"{"body":"\#(body)"}"#)
      }
      #expect(try update("denied").status == 403)
      #expect(try unread(broker, "bob").first?["body"] == "first")
      #expect(try update("hushed").json["body"] == "hushed")
      #expect(try unread(broker, "bob").first?["body"] == "first")
      #expect(try update("damn").json["body"] == "***")
      #expect(try unread(broker, "bob").first?["body"] == "***")
      #expect(try update("fine").status == 200)
    }
    #expect(server.requests.count == 4)
  }

  // MARK: Batches

  /// Each line is decided by itself, and the callback is asked once about a name that occurs twice. All lines
  /// are asked about at once, as long as they are no more than an account's share of the requests to one
  /// host.
  @Test func linesOfABatchAreAskedAboutOnceEach() async throws {
    let (asked, early) = (Shared(0), Shared(0))
    let server = try ScriptedServer { request, _ in
      asked.withLock { $0 += 1 }
      // No answer is given before all questions have arrived, unless the broker waits for answers before it
      // asks again.
      for _ in 0..<2_000 where asked.withLock({ $0 }) < 30 { usleep(5_000) }
      if asked.withLock({ $0 }) < 30 { early.withLock { $0 += 1 } }
      let isBad = request.body.contains("bad")
      return [.kept(200, #"{"decision":"\#(isBad ? "deny" : "allow")"}"#), .next]
    }
    try await withCallback(server, { $0.timeoutMilliseconds = 60_000 }) { broker async throws in
      var lines = (0..<30).map {
        #"{"toAccids":["bob"],"body":"\#($0 % 4 == 3 ? "bad" : "good") \#($0)","messageClientId":"m\#($0)"}"#
      }
      lines.append(lines[0])
      lines.append(#"{"toAccids":["bob"],"body":"other","messageClientId":"m0"}"#)
      let answer = try broker.ask(
        "POST", "/v1/notifications/batch", as: try broker.token("alice"), lines.joined(separator: "\n"),
        headers: [("Content-Type", "application/x-ndjson")])
      #expect(answer.status == 200)
      #expect(early.withLock { $0 } == 0)
      let statuses = try answer.body.split(separator: "\n").map { try object(String($0))["status"]?.number }
      #expect(statuses == (0..<30).map { $0 % 4 == 3 ? 403 : 201 } + [200, 409])
      #expect(try unread(broker, "bob").count == 23)
    }
    #expect(server.requests.count == 30)
  }
}
