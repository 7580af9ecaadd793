import BelfryModel
import BelfryStore
import Foundation
import Testing

@testable import BelfryServer

@Suite struct AuditTests {
  private func entries(_ broker: TestBroker, _ query: String = "") throws -> [JSONValue] {
    let answer = try broker.ask("GET", "/v1/audit\(query)", as: try broker.token("ops", .operation))
    #expect(answer.status == 200, "\(answer.body)")
    return answer.json["entries"]?.elements ?? []
  }

  @Test func whatTrustedCallersChangeIsKept() async throws {
    try await withBroker { broker in
      let (app, ops) = (try broker.token("billing", .app), try broker.token("ops", .operation))
      let made = try broker.ask(
        "POST", "/v1/servers", as: app, #"{"name":"x"}"#, headers: [("Belfry-Account", "carol")])
      let server = try #require(made.json["serverId"]?.text)
      let add = #"{"accids":["bob","dave"]}"#
      #expect(try broker.ask("POST", "/v1/servers/\(server)/members", as: app, add).status == 200)
      let put = "/v1/servers/\(server)/members/bob"
      #expect(try broker.ask("DELETE", put, as: ops, headers: [("Belfry-Account", "carol")]).status == 204)
      #expect(try broker.ask("DELETE", "/v1/servers/1", as: ops).status == 404)

      // None of these is recorded: requests of users, reads, sends, marks.
      let alice = try broker.token("alice")
      _ = try broker.ask("POST", "/v1/servers", as: alice, #"{"name":"y"}"#)
      _ = try broker.ask("GET", "/v1/servers/\(server)", as: ops)
      let send = #"{"toAccids":["bob"],"body":"hello"}"#
      #expect(try broker.ask("POST", "/v1/notifications", as: app, send).status == 201)
      _ = try broker.ask(
        "POST", "/v1/notifications/read", as: app, #"{"upTo":"9000000000000000000"}"#,
        headers: [("Belfry-Account", "bob")])

      let all = try entries(broker)
      #expect(
        all.compactMap { $0["operation"]?.text }
          == ["server delete", "member remove", "member add", "server create"])
      try #require(all.count == 4)
      #expect(all.compactMap { $0["status"]?.number } == [404, 204, 200, 201])
      #expect(all[3]["caller"] == "billing" && all[3]["role"] == "app" && all[3]["account"] == "carol")
      #expect(all[3]["target"] == .string("made=/v1/servers/\(server)"))
      #expect(all[2]["target"] == .string("serverId=\(server) accids=bob,dave"))
      #expect(all[1]["target"] == .string("serverId=\(server) accid=bob") && all[1]["caller"] == "ops")
      let now = Int64(Date().timeIntervalSince1970 * 1_000)
      #expect(all.allSatisfy { (now - 60_000...now + 60_000).contains($0["time"]?.number ?? 0) })

      #expect(try entries(broker, "?account=bob").count == 2)
      #expect(try entries(broker, "?account=carol").count == 2)
      #expect(try entries(broker, "?account=bo").isEmpty)
      #expect(try entries(broker, "?since=\(now + 3_600_000)").isEmpty)
      #expect(try entries(broker, "?since=\(now - 3_600_000)").count == 4)
    }
  }

  @Test func aWrongFieldIsNotKeptWhereverItIsNoticed() async throws {
    try await withBroker { broker in
      let app = try broker.token("billing", .app)
      // The first mistake is noticed when the body is read. The operation notices the second one: there is no
      // account to act for.
      let unread = try broker.ask("POST", "/v1/servers", as: app, #"{"name":7}"#)
      #expect(unread.json["code"] == "invalidField")
      let unheard = try broker.ask("POST", "/v1/servers", as: app, #"{"name":"x"}"#)
      #expect(unheard.json["code"] == "invalidField", "\(unheard.body)")
      #expect(try entries(broker).isEmpty)
    }
  }

  @Test func whoUsesAKeyIsNamedByIt() async throws {
    try await withBroker { broker in
      let made = try broker.ask(
        "POST", "/v1/keys", as: try broker.token("ops", .operation), #"{"name":"billing"}"#)
      let (id, key) = (try #require(made.json["keyId"]), try #require(made.json["key"]?.text))
      _ = try broker.ask("POST", "/v1/servers", as: key, #"{"name":"x"}"#, headers: [("Belfry-Account", "a")])
      let all = try entries(broker)
      try #require(all.count == 2)
      #expect(all[0]["keyId"] == id && all[0]["caller"] == "billing")
      #expect(all[1]["operation"] == "key create")
      #expect(!all.contains { "\($0)".contains(key.suffix(43)) })
    }
  }

  @Test func pagesFollowEachOther() async throws {
    try await withBroker { broker in
      let app = try broker.token("billing", .app)
      let connection = try broker.connect()
      for number in 0..<7 {
        _ = try connection.ask("DELETE", "/v1/servers/\(number + 1)", as: app)
      }
      let ops = try broker.token("ops", .operation)
      var (found, cursor, pages) = ([String](), nil as String?, 0)
      repeat {
        let query = "?limit=3" + (cursor.map { "&cursor=\($0)" } ?? "")
        let page = try broker.ask("GET", "/v1/audit\(query)", as: ops)
        found += page.json["entries"]?.elements.compactMap { $0["target"]?.text } ?? []
        cursor = page.json["cursor"]?.text
        pages += 1
      } while cursor != nil && pages < 9
      #expect(found == (1...7).reversed().map { "serverId=\($0)" })
      for cursor in ["x", "1", "-1-1", "1-2-3", "+", "(1-1", "99999999999999999999-1", "0-0", "00-1", "+1-1"]
      {
        #expect(try broker.ask("GET", "/v1/audit?cursor=\(cursor)", as: ops).status == 400)
      }
    }
  }

  /// A plain send must not pay for the audit: it sends no additional command to Redis.
  @Test func sendsAskRedisNothingMore() async throws {
    try await withBroker { broker in
      let app = try broker.token("billing", .app)
      let connection = try broker.connect()
      for number in 0..<5 {
        let body = #"{"toAccids":["bob"],"body":"\#(number)"}"#
        #expect(try connection.ask("POST", "/v1/notifications", as: app, body).status == 201)
      }
      #expect(try broker.redis.command("EXISTS", "belfry:audit") == "0")
    }
  }
}
