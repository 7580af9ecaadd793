import BelfryModel
import Testing

@testable import BelfryServer

/// Operators read the log of a server: everything in it, for all receivers.
@Suite struct ServerLogTests {
  private struct Log {
    let broker: TestBroker
    let server: String
    let operatorToken: String

    init(_ broker: TestBroker) throws {
      self.broker = broker
      server = try broker.makeServer(owner: "alice", members: ["bob", "carol"])
      operatorToken = try broker.token("ops", .operation)
    }

    func page(_ query: String = "") throws -> JSONValue {
      let answer = try broker.ask("GET", "/v1/servers/\(server)/log\(query)", as: operatorToken)
      try #require(answer.status == 200, "\(answer.body)")
      return answer.json
    }

    /// Sends a notification to the server and gives its id.
    @discardableResult
    func send(_ body: String, _ fields: String = "") throws -> String {
      let request = #"{"serverId":"\#(server)","body":"\#(body)"\#(fields)}"#
      let sent = try broker.ask("POST", "/v1/notifications", as: try broker.token("alice"), request)
      return try #require(sent.json["messageServerId"]?.text, "\(sent.body)")
    }

    /// The key of the log in Redis.
    func key() throws -> String {
      try broker.redis.command("KEYS", "*:log:server:\(server)")
    }
  }

  private func bodies(_ page: JSONValue) -> [String] {
    page["entries"]?.elements.compactMap { $0["notification"]?["body"]?.text } ?? []
  }

  private func cursor(_ page: JSONValue) throws -> String { try #require(page["cursor"]?.text) }

  @Test func everyNotificationIsShownForWhomeverItIs() async throws {
    try await withBroker { broker in
      let log = try Log(broker)
      let made = try broker.ask(
        "POST", "/v1/servers/\(log.server)/channels", as: try broker.token("alice"),
        #"{"name":"backstage","type":"private","membership":"roster","members":["bob"]}"#)
      let channel = try #require(made.json["channelId"]?.text)
      try log.send("for all")
      try log.send("for the channel", #","channelId":"\#(channel)""#)
      try log.send("for bob", #","toAccids":["bob"]"#)
      let unread = try broker.ask("GET", "/v1/notifications/counts", as: try broker.token("bob")).json

      let page = try log.page()
      #expect(bodies(page) == ["for all", "for the channel", "for bob"])
      let entries = page["entries"]?.elements ?? []
      #expect(entries.contains { $0["notification"]?["type"] != 100 }, "announcements, too")
      let customs = entries.filter { $0["notification"]?["type"] == 100 }
      let audiences = customs.compactMap { $0["audience"]?.text }
      try #require(audiences.count == 3)
      #expect(audiences[0] == "all")
      #expect(audiences[1].contains(channel))
      #expect(audiences[2] == "named +bob")
      #expect(customs[2]["event"] == "notification" && customs[2]["notification"]?["toAccids"] == ["bob"])
      #expect(page["gap"] == nil)
      // Nothing was marked as read.
      #expect(try broker.ask("GET", "/v1/notifications/counts", as: try broker.token("bob")).json == unread)
    }
  }

  @Test func onlyOperatorsReadIt() async throws {
    try await withBroker { broker in
      let log = try Log(broker)
      let path = "/v1/servers/\(log.server)/log"
      #expect(try broker.ask("GET", path).status == 401)
      for token in [try broker.token("app", .app), try broker.token("alice")] {
        let refused = try broker.ask("GET", path, as: token)
        #expect(refused.status == 403 && refused.code == "forbidden")
      }
      let unknown = try broker.ask("GET", "/v1/servers/1/log", as: log.operatorToken)
      #expect(unknown.status == 404 && unknown.field == "serverId")
      let cursor = try cursor(try log.page())
      for (query, field) in [
        ("?after=\(cursor)&last=1", "last"), ("?after=x", "after"), ("?after=1.1.1.1", "after"),
        ("?last=501", "last"), ("?limit=0", "limit"), ("?limit=501", "limit"),
      ] {
        let refused = try broker.ask("GET", path + query, as: log.operatorToken)
        #expect(refused.status == 400 && refused.field == field, "\(query): \(refused.body)")
      }
    }
  }

  @Test func pagesFollowEachOther() async throws {
    try await withBroker { broker in
      let log = try Log(broker)
      for number in 1...7 { try log.send("\(number)") }
      var page = try log.page("?limit=3")
      var found = bodies(page)
      var pages = 1
      while page["entries"]?.elements.isEmpty == false, pages < 20 {
        page = try log.page("?limit=3&after=\(try cursor(page))")
        found += bodies(page)
        pages += 1
        #expect(page["gap"] == nil)
      }
      #expect(found == (1...7).map { "\($0)" })

      #expect(bodies(try log.page("?last=2")) == ["6", "7"])
      #expect(bodies(try log.page("?last=500")) == found)
      // A cursor of an entry is the place behind it.
      let latest = try log.page("?last=3")
      let behindFirst = try #require(latest["entries"]?[0]?["cursor"]?.text)
      #expect(bodies(try log.page("?after=\(behindFirst)")) == ["6", "7"])

      let none = try log.page("?last=0")
      #expect(none["entries"] == [])
      try log.send("8")
      #expect(bodies(try log.page("?after=\(try cursor(none))")) == ["8"])
    }
  }

  @Test func changesOfEarlierNotificationsAreEntries() async throws {
    try await withBroker { broker in
      let log = try Log(broker)
      let alice = try broker.token("alice")
      let (first, second) = (try log.send("at seven"), try log.send("mistake"))
      let before = try cursor(try log.page())
      let change = #"{"body":"at eight"}"#
      for id in [first, second] {
        #expect(try broker.ask("PATCH", "/v1/notifications/\(id)", as: alice, change).status == 200)
      }
      #expect(try broker.ask("DELETE", "/v1/notifications/\(second)", as: alice).status == 204)

      let changes = try log.page("?after=\(before)")["entries"]?.elements ?? []
      #expect(changes.compactMap { $0["event"]?.text } == ["updated", "retracted"])
      #expect(changes.compactMap { $0["messageServerId"]?.text } == [first, second])
      #expect(changes.first?["notification"]?["body"] == "at eight")
      #expect(changes.last?["notification"] == nil)
      // A page that has the notification shows it as it is now.
      let all = try log.page()
      #expect(bodies(all) == ["at eight"])
      #expect(all["entries"]?.elements.allSatisfy { $0["event"] == "notification" } == true)
    }
  }

  /// The sweep trims what all receivers have read, and retention trims the rest. Redis is asked here directly to do so.
  @Test func aReaderIsToldOfWhatWasTrimmed() async throws {
    try await withBroker { broker in
      let log = try Log(broker)
      let key = try log.key()
      try log.send("1")
      let start = try cursor(try log.page())

      try log.send("2")
      try broker.redis.command("XTRIM", key, "MAXLEN", "1")
      #expect(try log.page("?after=\(start)")["gap"] == nil, "what was trimmed had been shown")

      let (third, fourth) = (try log.send("3"), try log.send("4"))
      try broker.redis.command("XTRIM", key, "MAXLEN", "1")
      let page = try log.page("?after=\(start)")
      #expect(bodies(page) == ["4"])
      let gap = try #require(page["gap"])
      let from = try #require(gap["from"]?.text.flatMap { MessageID($0) })
      let to = try #require(gap["to"]?.text.flatMap { MessageID($0) })
      let (lost, kept) = (try #require(MessageID(third)), try #require(MessageID(fourth)))
      #expect(from < lost && lost <= to && to < kept)
      // It is told once.
      #expect(try log.page("?after=\(try cursor(page))")["gap"] == nil)

      // A log that was shown to its end may lose all of its entries, and then its key.
      try broker.redis.command("XTRIM", key, "MAXLEN", "0")
      let empty = try log.page("?after=\(try cursor(page))")
      #expect(empty["entries"] == [] && empty["gap"] == nil)
      try broker.redis.command("UNLINK", key)
      let dropped = try log.page("?after=\(try cursor(empty))")
      #expect(dropped["entries"] == [] && dropped["gap"] == nil)
      try log.send("5")
      let again = try log.page("?after=\(try cursor(dropped))")
      #expect(bodies(again) == ["5"] && again["gap"] == nil)
      // With the cursor from before, nobody knows what the log had in between.
      #expect(try log.page("?after=\(start)")["gap"] != nil)
      // The log is empty at the end, and so it is after another entry has come and gone. The sweep notes the loss.
      try broker.redis.command("UNLINK", key)
      let end = try cursor(try log.page("?after=\(try cursor(again))"))
      let sixth = try #require(MessageID(try log.send("6")))
      try broker.redis.command("UNLINK", key)
      let (hash, space) = (key.replacing(#/log:.*/#, with: "partition"), "server:\(log.server)")
      let last = try broker.redis.command("HGET", hash, space)
      try broker.redis.command("HSET", hash, space, "\(last) \(last)")
      let told = try log.page("?after=\(end)")["gap"]
      #expect(try #require(told?["from"]?.text.flatMap { MessageID($0) }) < sixth)
      #expect(try #require(told?["to"]?.text.flatMap { MessageID($0) }) >= sixth)
    }
  }
}
