import BelfryModel
import BelfrySystem
import TestKit
import Testing

@testable import BelfryServer

@Suite struct NotificationRouteTests {
  @Test func sendingTwiceIsSendingOnce() async throws {
    try await withBroker { broker in
      let id = try broker.makeServer(owner: "alice")
      let alice = try broker.token("alice", device: "phone")
      let body = #"{"serverId":"\#(id)","body":"hello","messageClientId":"c1"}"#
      let first = try broker.ask("POST", "/v1/notifications", as: alice, body)
      #expect(first.status == 201)
      #expect(first.json["duplicate"] == false)
      #expect(first.json["messageClientId"] == "c1")
      #expect(first.json["toType"] == 1)
      let message = try #require(first.json["messageServerId"]?.text.flatMap { MessageID($0) })
      #expect(first.json["time"]?.number == message.unixMilliseconds)

      for path in ["/v1/notifications", "/v1/notifications/resend"] {
        let again = try broker.ask("POST", path, as: alice, body)
        #expect(again.status == 200)
        #expect(again.json["messageServerId"]?.text == message.text)
        #expect(again.json["time"] == first.json["time"])
        #expect(again.json["duplicate"] == true)
      }
      let other = try broker.ask(
        "POST", "/v1/notifications", as: alice, body.replacing("hello", with: "bye"))
      #expect(other.status == 409)
      #expect(other.code == "duplicateContent")
      #expect(other.field == "messageClientId")

      let page = try broker.ask("GET", "/v1/notifications", as: alice)
      let customs = page.json["notifications"]?.elements.filter { $0["type"] == 100 } ?? []
      #expect(customs.count == 1)
      #expect(customs.first?["body"] == "hello")
      #expect(customs.first?["fromDeviceId"] == "phone")
    }
  }

  @Test func resendNeedsAnIdAndSendsWhatNeverArrived() async throws {
    try await withBroker { broker in
      let id = try broker.makeServer(owner: "alice")
      let alice = try broker.token("alice")
      let without = try broker.ask(
        "POST", "/v1/notifications/resend", as: alice, #"{"serverId":"\#(id)"}"#)
      #expect(without.status == 400)
      #expect(without.field == "messageClientId")
      let with = try broker.ask(
        "POST", "/v1/notifications/resend", as: alice, #"{"serverId":"\#(id)","messageClientId":"r"}"#)
      #expect(with.status == 201)
    }
  }

  @Test func theFormsAreToldApart() async throws {
    try await withBroker { broker in
      let id = try broker.makeServer(owner: "alice", members: ["bob"])
      let alice = try broker.token("alice")
      let channel = try #require(
        try broker.ask("GET", "/v1/servers/\(id)", as: alice).json["defaultChannelId"]?.text)
      for (fields, toType) in [
        (#""serverId":"\#(id)""#, 1), (#""serverId":\#(id)"#, 1),
        (#""serverId":"\#(id)","channelId":"\#(channel)""#, 2),
        (#""serverId":"\#(id)","toAccids":["bob"]"#, 3),
        (#""serverId":"\#(id)","channelId":"\#(channel)","toAccids":["bob"]"#, 4),
        (#""toAccids":["dave","erin"]"#, 5), (#""toAccids":["dave"],"setting":{"persistEnable":false}"#, 5),
        (#""toAccids":["dave","erin"],"setting":{"persistEnable":false}"#, 5),
      ] {
        let sent = try broker.ask("POST", "/v1/notifications", as: alice, "{\(fields)}")
        #expect(sent.status == 201, "\(fields): \(sent.body)")
        #expect(sent.json["toType"]?.number == Int64(toType))
        let wrong = toType == 1 ? 2 : 1
        let contradiction = try broker.ask(
          "POST", "/v1/notifications", as: alice, "{\(fields),\"toType\":\(wrong)}")
        #expect(contradiction.field == "toType")
      }
      let absent = try broker.ask(
        "POST", "/v1/notifications", as: alice, #"{"serverId":"\#(id)","toAccids":["bob","zoe"]}"#)
      #expect(absent.status == 404)
      #expect(absent.field == "toAccids")
      #expect(absent.json["detail"]?.text?.contains("zoe") == true)
    }
  }

  @Test func aBatchAnswersLineByLine() async throws {
    try await withBroker { broker in
      let id = try broker.makeServer(owner: "alice")
      let alice = try broker.token("alice")
      var lines = (0..<50).map { #"{"serverId":"\#(id)","messageClientId":"m\#($0)"}"# }
      lines[3] = "nonsense"
      lines[7] = #"{"serverId":"\#(id)","boddy":"x"}"#
      lines[9] = ""
      lines[11] = lines[10]
      lines[13] = #"{"serverId":"77"}"#
      let answer = try broker.ask(
        "POST", "/v1/notifications/batch", as: alice, lines.joined(separator: "\r\n") + "\r\n",
        headers: [("Content-Type", "application/x-ndjson")])
      #expect(answer.status == 200)
      #expect(answer.headers["content-type"] == "application/x-ndjson")
      let results = try answer.body.split(separator: "\n").map { try JSONParser.value(of: Array($0.utf8)) }
      try #require(results.count == lines.count)
      for (index, result) in results.enumerated() {
        switch index {
        case 3, 9: #expect(result["field"] == "$")
        case 7: #expect(result["field"] == "boddy")
        case 10, 11: #expect(result["messageClientId"] == "m10")
        case 13: #expect(result["code"] == "notFound")
        default:
          #expect(result["status"] == 201)
          #expect(result["messageClientId"]?.text == "m\(index)")
        }
      }
      #expect(results[10]["messageServerId"] == results[11]["messageServerId"])
      #expect(Set([results[10]["status"], results[11]["status"]]) == [201, 200])
    }
  }

  /// If all lines are refused, the batch is complete before anything waits.
  @Test func aBatchOfNothingGoodIsAnswered() async throws {
    try await withBroker { broker in
      let app = try broker.token("app", .app)
      for _ in 0..<200 {
        let answer = try broker.ask(
          "POST", "/v1/notifications/batch", as: app, "0", headers: [("Content-Type", "application/x-ndjson")]
        )
        #expect(answer.status == 200)
        if answer.status != 200 { return }
      }
    }
  }

  @Test func aBatchHasItsLimits() async throws {
    try await withBroker { broker in
      let app = try broker.token("app", .app)
      let ndjson = [("Content-Type", "application/x-ndjson")]
      let line = #"{"toAccids":["x"]}"# + "\n"
      let most = try broker.ask(
        "POST", "/v1/notifications/batch", as: app, String(repeating: line, count: 1_000), headers: ndjson)
      #expect(most.status == 200)
      #expect(most.body.split(separator: "\n").allSatisfy { $0.hasPrefix(#"{"status":201,"#) })
      let more = try broker.ask(
        "POST", "/v1/notifications/batch", as: app, String(repeating: line, count: 1_001), headers: ndjson)
      #expect(more.status == 422)
      #expect(more.code == "tooMany")
      let none = try broker.ask("POST", "/v1/notifications/batch", as: app, "", headers: ndjson)
      #expect(none.status == 400)
    }
  }

  @Test func updatesAreTheSendersAndShown() async throws {
    try await withBroker { broker in
      let id = try broker.makeServer(owner: "alice", members: ["bob"])
      let (alice, bob) = (try broker.token("alice"), try broker.token("bob"))
      let sent = try broker.ask("POST", "/v1/notifications", as: alice, #"{"serverId":"\#(id)","body":"a"}"#)
      let message = try #require(sent.json["messageServerId"]?.text)
      let path = "/v1/notifications/\(message)"
      let updated = try broker.ask("PATCH", path, as: alice, #"{"body":"b","status":10001}"#)
      #expect(updated.status == 200)
      #expect(updated.json["body"] == "b")
      #expect(updated.json["status"] == 10001)
      #expect((updated.json["updateTime"]?.number ?? 0) >= (sent.json["time"]?.number ?? .max))
      #expect(try broker.ask("PATCH", path, as: bob, #"{"body":"c"}"#).code == "forbidden")
      #expect(try broker.ask("PATCH", path, as: alice, "{}").field == "body")
      #expect(try broker.ask("PATCH", path, as: alice, #"{"status":1}"#).field == "status")
      #expect(try broker.ask("PATCH", path, as: alice, #"{"attach":1}"#).field == "attach")
      #expect(
        try broker.ask("PATCH", "/v1/notifications/1", as: alice, #"{"body":"c"}"#).code == "notFound")
      let page = try broker.ask("GET", "/v1/notifications?limit=500", as: bob)
      let seen = page.json["notifications"]?.elements.first { $0["messageServerId"]?.text == message }
      #expect(seen?["body"] == "b")
      #expect(seen?["updateTime"] == updated.json["updateTime"])
    }
  }

  @Test func whatIsReadIsGone() async throws {
    try await withBroker { broker in
      let bob = try broker.token("bob")
      let app = try broker.token("app", .app)
      let ids = try (0..<4).map { number in
        let sent = try broker.ask(
          "POST", "/v1/notifications", as: app, #"{"toAccids":["bob"],"body":"\#(number)"}"#)
        return try #require(sent.json["messageServerId"]?.text)
      }
      func bodies() throws -> [String] {
        try broker.ask("GET", "/v1/notifications", as: bob).json["notifications"]?.elements.compactMap {
          $0["body"]?.text
        } ?? []
      }
      func mark(_ body: String) throws -> Answer {
        try broker.ask("POST", "/v1/notifications/read", as: bob, body)
      }
      #expect(try bodies() == ["0", "1", "2", "3"])
      let items = #"{"items":[{"messageServerId":"\#(ids[1])","type":100},{"messageServerId":"5","type":1}]}"#
      #expect(try mark(items).json["read"] == 1)
      #expect(try mark(items).json["read"] == 0)
      #expect(try bodies() == ["0", "2", "3"])
      #expect(try mark(#"{"upTo":"\#(ids[2])"}"#).json["read"] == 2)
      #expect(try bodies() == ["3"])
      #expect(try mark(#"{"upTo":\#(ids[3])}"#).json["read"] == 1)
      #expect(try bodies() == [])
    }
  }

  @Test func pagesGoOnAndWait() async throws {
    try await withBroker { broker in
      let (bob, app) = (try broker.token("bob"), try broker.token("app", .app))
      for number in 0..<5 {
        _ = try broker.ask("POST", "/v1/notifications", as: app, #"{"toAccids":["bob"],"body":"\#(number)"}"#)
      }
      var seen: [String] = []
      var cursor = ""
      for count in [2, 2, 1, 0] {
        let page = try broker.ask("GET", "/v1/notifications?limit=2\(cursor)", as: bob)
        #expect(page.json["notifications"]?.elements.count == count)
        seen += page.json["notifications"]?.elements.compactMap { $0["body"]?.text } ?? []
        cursor = "&after=" + (try #require(page.json["cursor"]?.text))
      }
      #expect(seen == ["0", "1", "2", "3", "4"])

      let waiting = try broker.connect()
      waiting.begin("GET", "/v1/notifications?wait=60\(cursor)", as: bob)
      _ = try broker.ask("POST", "/v1/notifications", as: app, #"{"toAccids":["bob"],"body":"late"}"#)
      #expect(try waiting.answer().json["notifications"]?[0]?["body"] == "late")
    }
  }

  @Test func explainSaysWhy() async throws {
    try await withBroker { broker in
      let id = try broker.makeServer(owner: "alice", members: ["bob"])
      let sent = try broker.ask(
        "POST", "/v1/notifications", as: try broker.token("alice"), #"{"serverId":"\#(id)"}"#)
      let message = try #require(sent.json["messageServerId"]?.text)
      let app = try broker.token("operator", .operation)
      for (account, visible) in [("bob", true), ("zoe", false)] {
        let path = "/v1/notifications/\(message)/explain?account=\(account)"
        let explained = try broker.ask("GET", path, as: app)
        #expect(explained.json["visible"] == .bool(visible))
        #expect(explained.json["detail"]?.text?.contains(account) == true)
        #expect(try broker.ask("GET", path, as: try broker.token("bob")).code == "forbidden")
      }
      #expect(try broker.ask("GET", "/v1/notifications/\(message)/explain", as: app).field == "account")
    }
  }

  /// A notification for named accounts, when all of them have read it and no index knows it any more.
  @Test func explainKnowsTheReceiversOfADirectMessage() async throws {
    try await withBroker { broker in
      let (app, bob) = (try broker.token("app", .app), try broker.token("bob"))
      let sent = try broker.ask("POST", "/v1/notifications", as: app, #"{"toAccids":["bob","cid"]}"#)
      let message = try #require(sent.json["messageServerId"]?.text)
      func explained(_ account: String) throws -> JSONValue {
        try broker.ask("GET", "/v1/notifications/\(message)/explain?account=\(account)", as: app).json
      }
      try await eventually { try explained("bob")["visible"] == true }
      let items = #"{"items":[{"messageServerId":"\#(message)"}]}"#
      #expect(try broker.ask("POST", "/v1/notifications/read", as: bob, items).json["read"] == 1)
      #expect(try explained("bob")["reason"] == "read")
      #expect(try explained("cid")["reason"] == "named")
      #expect(try explained("zoe")["reason"] == "notNamed")
      #expect(try broker.ask("DELETE", "/v1/notifications/\(message)", as: app).status == 204)
      for account in ["bob", "cid"] { #expect(try explained(account)["reason"] == "recalled") }
    }
  }

  @Test func explainSaysThatALogHasTrimmedIt() async throws {
    var limits = Limits.unhurried
    limits.entriesPerSpace = 100
    try await withBroker(limits: limits) { broker in
      let server = try broker.makeServer(owner: "alice", members: ["bob"])
      let (app, alice) = (try broker.token("app", .app), try broker.token("alice"))
      func send() throws -> String {
        let sent = try broker.ask(
          "POST", "/v1/notifications", as: alice, #"{"serverId":"\#(server)"}"#)
        return try #require(sent.json["messageServerId"]?.text)
      }
      let first = try send()
      for _ in 0..<300 { _ = try send() }
      let path = "/v1/notifications/\(first)/explain?account="
      let explained = try broker.ask("GET", path + "bob", as: app)
      #expect(explained.json["visible"] == false && explained.json["reason"] == "trimmed")
      #expect(explained.json["facts"]?["space"] == .string("server:\(server)"))
      // A person who was never there has nothing to explain.
      #expect(try broker.ask("GET", path + "zoe", as: app).status == 404)
    }
  }

  @Test(arguments: ["group", "room"]) func explainNamesThePlace(kind: String) async throws {
    try await withBroker { broker in
      let (app, alice) = (try broker.token("app", .app), try broker.token("alice"))
      let body = kind == "room" ? #"{"subject":"Bells"}"# : #"{"name":"Ringers","style":"publicOpen"}"#
      let made = try broker.ask("POST", "/v1/\(kind)s", as: alice, body)
      let place = try #require(made.json["\(kind)Id"]?.text)
      let sent = try broker.ask("POST", "/v1/notifications", as: alice, #"{"\#(kind)Id":"\#(place)"}"#)
      let message = try #require(sent.json["messageServerId"]?.text)
      let path = "/v1/notifications/\(message)/explain?account=alice"
      try await eventually {
        let detail = try broker.ask("GET", path, as: app).json["detail"]?.text ?? ""
        return detail.contains("everybody of the \(kind)")
      }
    }
  }

  /// A client adds one preference to those that it was shown. One of those has ended in the meantime.
  @Test func preferencesThatHaveEndedAreNotListedAndNotRefused() async throws {
    try await withBroker { broker in
      let bob = try broker.token("bob")
      func put(_ preferences: String) throws -> Answer {
        try broker.ask("PUT", "/v1/account/preferences", as: bob, #"{"preferences":[\#(preferences)]}"#)
      }
      func kept() throws -> [JSONValue] {
        try #require(try broker.ask("GET", "/v1/account/preferences", as: bob).json["preferences"]).elements
      }
      let lasting = #"{"space":"server:7","level":"none"}"#
      // A machine that is held up may take longer than that before it sends the request.
      var ending = ""
      for seconds in [1, 10, 100] {
        let until = WallClock.nowMilliseconds() + Int64(seconds) * 1_000
        ending = #"{"space":"server:8","level":"none","until":\#(until)}"#
        if try put(lasting + "," + ending).status == 200 { break }
      }
      try await eventually { try kept().count == 1 }
      let added = #"{"space":"server:9","level":"parties"}"#
      let answer = try put([lasting, ending, added].joined(separator: ","))
      #expect(answer.status == 200 && answer.json["preferences"]?.elements.count == 2)
      #expect(try kept().count == 2)
      // The account does not have it any more.
      #expect(try put(ending).field == "preferences[0].until")
    }
  }

  /// A write is paid for by its effects: a send to a hundred accounts costs a hundred.
  @Test func writesArePacedByWhatTheyCause() async throws {
    var limits = Limits()
    limits.sendsPerSecondPerAccount = 10
    try await withBroker(limits: limits) { broker in
      let (alice, bob) = (try broker.token("alice"), try broker.token("bob"))
      let names = (0..<100).map { #""a\#($0)""# }.joined(separator: ",")
      let toMany = #"{"toAccids":[\#(names)],"body":"x"}"#
      let rename = #"{"name":"Ringers"}"#
      #expect(try broker.ask("POST", "/v1/notifications", as: alice, toMany).status == 201)
      let refused = try broker.ask("POST", "/v1/notifications", as: alice, #"{"toAccids":["bob"]}"#)
      #expect(refused.code == "rateLimited")
      #expect((7...10).contains(Int(refused.headers["retry-after"] ?? "") ?? 0), "\(refused.headers)")
      #expect(
        refused.json["retryAfter"]
          == refused.headers["retry-after"].flatMap { Int64($0) }.map { .integer($0) })
      let batch = try broker.ask(
        "POST", "/v1/notifications/batch", as: alice, #"{"toAccids":["bob"]}"#,
        headers: [("Content-Type", "application/x-ndjson")])
      #expect((7...10).contains { batch.json["retryAfter"] == .integer($0) })
      // Operations are paid from the same budget. Other accounts have their own.
      #expect(try broker.ask("POST", "/v1/servers", as: alice, rename).code == "rateLimited")
      var made = 0
      while made < 50, try broker.ask("POST", "/v1/servers", as: bob, rename).status == 201 { made += 1 }
      #expect((3...6).contains(made), "each costs five of twenty")
      #expect(try broker.ask("GET", "/v1/servers", as: alice).status == 200)
      #expect(
        try broker.ask("POST", "/v1/notifications", as: try broker.token("app", .app), toMany).status == 201)
    }
  }

  @Test func readsHaveAPace() async throws {
    var limits = Limits()
    limits.readsPerSecondPerAccount = 10
    try await withBroker(limits: limits) { broker in
      let alice = try broker.token("alice")
      var read = 0
      while read < 50, try broker.ask("GET", "/v1/notifications?limit=500", as: alice).status == 200 {
        read += 1
      }
      #expect((3...6).contains(read), "each costs six of twenty")
      let refused = try broker.ask("GET", "/v1/servers", as: alice)
      #expect(refused.code == "rateLimited")
      #expect(refused.headers["retry-after"] != nil)
    }
  }

  @Test func sendsHaveAPace() async throws {
    var limits = Limits()
    limits.sendsPerSecondPerAccount = 1
    try await withBroker(limits: limits) { broker in
      let id = try broker.makeServer(owner: "olga", members: ["alice"])
      let (alice, app) = (try broker.token("alice"), try broker.token("app", .app))
      let body = #"{"serverId":"\#(id)"}"#
      var refused: Answer?
      for _ in 0..<20 where refused == nil {
        let answer = try broker.ask("POST", "/v1/notifications", as: alice, body)
        if answer.status != 201 { refused = answer }
      }
      #expect(refused?.status == 429)
      #expect(refused?.code == "rateLimited")
      #expect(refused?.headers["retry-after"] == "1")
      for _ in 0..<20 {
        #expect(try broker.ask("POST", "/v1/notifications", as: app, body).status == 201)
      }
    }
  }
}
