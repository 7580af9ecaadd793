import BelfryModel
import TestKit
import Testing

@testable import BelfryInterface
@testable import BelfryServer

/// The answer to any request is a problem document that names the mistake: never a 500, no answer or a closed
/// connection.
@Suite struct BadRequestTests {
  private func expectProblem(_ answer: Answer, _ status: Int, _ code: String, _ note: String = "") {
    #expect(answer.status == status, "\(note): \(answer.body)")
    #expect(answer.code == code, "\(note): \(answer.body)")
    #expect(answer.headers["content-type"] == "application/problem+json", "\(note)")
    #expect(answer.json["status"]?.number == Int64(status))
    #expect(answer.json["title"]?.text?.isEmpty == false)
    #expect(answer.json["detail"]?.text?.isEmpty == false)
  }

  @Test func pathsAndMethods() async throws {
    try await withBroker { broker in
      let token = try broker.token("alice")
      for path in [
        "/", "/v1", "/v1/", "/v1/servers/", "/nothing", "/v1/servers/1/members/a/b", "/v1//servers",
      ] {
        expectProblem(try broker.ask("GET", path, as: token), 404, "notFound", path)
      }
      for (method, path, allowed) in [
        ("PUT", "/v1/servers", "GET, POST, HEAD, OPTIONS"), ("DELETE", "/healthz", "GET, HEAD, OPTIONS"),
        ("GET", "/v1/notifications/batch", "POST, OPTIONS"),
        ("BREW", "/v1/notifications/read", "POST, OPTIONS"),
        ("POST", "/v1/servers/1/subscription", "PUT, DELETE, OPTIONS"),
      ] {
        let answer = try broker.ask(method, path, as: token)
        // `batch` could also be a message id, for which PATCH is allowed.
        let isAllowed =
          answer.headers["allow"] == allowed || answer.headers["allow"] == "POST, PATCH, OPTIONS"
        #expect(isAllowed, "\(path): \(answer.headers)")
        expectProblem(answer, 405, "methodNotAllowed", path)
      }
    }
  }

  @Test func aBodyThatIsMissingOrCompressed() async throws {
    try await withBroker { broker in
      let token = try broker.token("alice")
      for path in ["/v1/servers/1/bans", "/v1/servers/1/members"] {
        let answer = try broker.ask("DELETE", path, as: token)
        expectProblem(answer, 400, "invalidField", path)
        #expect(answer.json["detail"]?.text == "is empty: this request needs a JSON object as its body")
      }
      for (coding, isTaken) in [("gzip", false), ("br", false), ("identity", true)] {
        let answer = try broker.ask(
          "POST", "/v1/servers", as: token, #"{"name":"x"}"#, headers: [("Content-Encoding", coding)])
        #expect((answer.status == 201) == isTaken, "\(answer.body)")
        if !isTaken { #expect(answer.status == 400 && answer.field == "Content-Encoding") }
      }
      let quoted = try broker.ask("POST", "/v1/servers", as: token, #"{"name":"x","applyMode":"1"}"#)
      expectProblem(quoted, 400, "invalidField")
      #expect(quoted.field == "applyMode")
      #expect(
        quoted.json["detail"]?.text == "must be a number: 0 (joinsAtOnce) or 1 (needsApproval), not a string",
        "\(quoted.body)")
    }
  }

  @Test func parametersOfThePathAndTheQuery() async throws {
    try await withBroker { broker in
      let (token, app) = (try broker.token("alice"), try broker.token("app", .app))
      let long = String(repeating: "9", count: 300)
      for (path, field) in [
        ("/v1/servers/x", "serverId"), ("/v1/servers/0", "serverId"), ("/v1/servers/-1", "serverId"),
        ("/v1/servers/007", "serverId"), ("/v1/servers/\(long)", "serverId"),
        ("/v1/servers/9223372036854775808", "serverId"), ("/v1/servers/1%00", "serverId"),
        ("/v1/servers/%F0%9F%94%94", "serverId"), ("/v1/servers/1/channels/x", "channelId"),
        ("/v1/servers/1/members/a%20b", "accid"), ("/v1/servers/1/members/\(long)", "accid"),
        ("/v1/servers?limit=0", "limit"), ("/v1/servers?limit=1001", "limit"),
        ("/v1/servers?limit=", "limit"),
        ("/v1/servers?limit=05", "limit"), ("/v1/servers?limit=%2B5", "limit"),
        ("/v1/servers?limit=1e2", "limit"),
        ("/v1/servers?limit=\(long)", "limit"), ("/v1/servers?cursor=x", "cursor"),
        ("/v1/servers?limit=1&limit=2", "limit"), ("/v1/servers?limt=1", "limt"),
        ("/v1/notifications?limit=501", "limit"), ("/v1/notifications?wait=61", "wait"),
        ("/v1/notifications?wait=-1", "wait"), ("/v1/notifications?after=x", "after"),
        ("/v1/notifications?after=1.zzzzzzzzzzzzzzzz", "after"), ("/v1/notifications?after=1.-1", "after"),
        ("/v1/notifications/stream?after=2.x!", "after"), ("/v1/notifications/stream?limit=1", "limit"),
        ("/healthz?x", "x"),
      ] {
        let answer = try broker.ask("GET", path, as: token)
        expectProblem(answer, 400, "invalidField", path)
        #expect(answer.field == field, "\(path)")
      }
      for (path, field) in [
        ("/v1/notifications/x/explain?account=a", "messageServerId"),
        ("/v1/notifications/1/explain?account=a%20b", "account"), ("/v1/notifications/1/explain", "account"),
      ] {
        #expect(try broker.ask("GET", path, as: app).field == field)
      }
      let cursor = try broker.ask(
        "GET", "/v1/notifications/stream", as: token, headers: [("Last-Event-ID", "nonsense")])
      #expect(cursor.field == "Last-Event-ID")
      let id = try broker.makeServer(owner: "alice")
      for path in ["members", "channels"] {
        #expect(try broker.ask("GET", "/v1/servers/\(id)/\(path)?cursor=%00", as: token).field == "cursor")
      }
    }
  }

  @Test func bodiesOfTheWrongKindOrSize() async throws {
    try await withBroker { broker in
      let token = try broker.token("alice")
      for type in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "", "json"] {
        let answer = try broker.ask(
          "POST", "/v1/notifications", as: token, "{}", headers: [("Content-Type", type)])
        expectProblem(answer, 415, "unsupportedMediaType", type)
      }
      for type in ["application/json; charset=utf-8", "Application/JSON"] {
        let answer = try broker.ask(
          "POST", "/v1/notifications", as: token, "{}", headers: [("Content-Type", type)])
        expectProblem(answer, 400, "invalidField", type)
      }
      let large = #"{"body":"\#(String(repeating: "x", count: 300_000))"}"#
      expectProblem(try broker.ask("POST", "/v1/notifications", as: token, large), 413, "tooLarge")
      let huge = String(repeating: "x", count: RouteBody.Form.lines.sizeMaxBytes + 1)
      expectProblem(
        try broker.ask(
          "POST", "/v1/notifications/batch", as: token, huge,
          headers: [("Content-Type", "application/x-ndjson")]), 413, "tooLarge")
      for body in [#"{"a":1}"#, "[]", "null", "{", "x"] {
        let answer = try broker.ask("DELETE", "/v1/servers/1", as: token, body)
        expectProblem(answer, 400, "invalidField", body)
        #expect(answer.json["field"] == "$")
      }
      let long = #"{"a":"\#(String(repeating: "x", count: 100))"}"#
      expectProblem(try broker.ask("DELETE", "/v1/servers/1", as: token, long), 413, "tooLarge")
      let deep = String(repeating: "[", count: 200_000)
      expectProblem(try broker.ask("POST", "/v1/notifications", as: token, deep), 400, "invalidField")
      let chunked = try broker.connect()
      chunked.begin(
        "POST", "/v1/notifications", as: token, nil,
        headers: [("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")])
      chunked.send(
        Array("493E0\r\n".utf8) + Array(repeating: 0x20, count: 300_000) + Array("\r\n0\r\n\r\n".utf8))
      expectProblem(try chunked.answer(), 413, "tooLarge")
    }
  }

  @Test func anEmptyObjectIsNoBody() async throws {
    try await withBroker { broker in
      let alice = try broker.token("alice")
      let server = "/v1/servers/\(try broker.makeServer(owner: "alice"))"
      for body in [nil, "", "{}", " { }\n"] {
        #expect(try broker.ask("PUT", server + "/subscription", as: alice, body).status == 204)
      }
      #expect(try broker.ask("DELETE", server, as: alice, "{}").status == 204)
    }
  }

  /// After each of these the connection still answers, so nothing was left half read.
  @Test func aConnectionSurvivesWhatIsWrong() async throws {
    try await withBroker { broker in
      let token = try broker.token("alice")
      let connection = try broker.connect()
      for body in ["", "{", "null", "\u{0}", "[]", "\"", #"{"a":1}"#, #"{"serverId":1,"body":"\ud800"}"#] {
        let answer = try connection.ask("POST", "/v1/notifications", as: token, body)
        expectProblem(answer, 400, "invalidField", body)
      }
      #expect(try connection.ask("GET", "/healthz").status == 200)
    }
  }

  /// Bodies one step away from good ones, to every route that takes one. They are seeded, so that a failure
  /// can be repeated.
  @Test func nothingAnswers500() async throws {
    try await withBroker { broker in
      let id = try broker.makeServer(owner: "alice")
      let token = try broker.token("alice")
      let bodies = [
        ("POST", "/v1/notifications", #"{"serverId":"\#(id)","toAccids":["alice"],"body":"b","status":0}"#),
        (
          "POST", "/v1/notifications/resend",
          #"{"serverId":"\#(id)","messageClientId":"m","attach":{"a":[1]}}"#
        ),
        ("POST", "/v1/notifications/read", #"{"items":[{"messageServerId":"5","type":1}]}"#),
        ("POST", "/v1/servers", #"{"name":"n","inviteMode":1}"#),
        ("PATCH", "/v1/servers/\(id)", #"{"name":"n","applyMode":0,"ext":"e"}"#),
        ("POST", "/v1/servers/\(id)/channels", #"{"name":"n","type":"private","members":["alice"]}"#),
      ]
      var generator = SeededGenerator(seed: 3)
      let connection = try broker.connect()
      for round in 0..<3_000 {
        let (method, path, text) = bodies[round % bodies.count]
        var body = Array(text.utf8)
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
          let index = Int.random(in: 0..<body.count, using: &generator)
          switch Int.random(in: 0..<3, using: &generator) {
          case 0: body[index] = .random(in: .min ... .max, using: &generator)
          case 1: body.remove(at: index)
          default: body.insert(body[Int.random(in: 0..<body.count, using: &generator)], at: index)
          }
        }
        connection.begin(method, path, as: token, body)
        let answer = try connection.answer()
        #expect(
          [200, 201, 400, 403, 404, 409, 422, 429].contains(answer.status),
          "\(path) \(String(decoding: body, as: UTF8.self)): \(answer.status) \(answer.body)")
      }
    }
  }
}
